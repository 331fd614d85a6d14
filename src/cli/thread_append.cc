#include <fmt/format.h>
#include <unistd.h>

#include "api/append_lines.h"
#include "api/threads.h"
#include "cli/arguments.h"
#include "cli/context.h"
#include "cli/dialogue.h"
#include "cli/line_input.h"
#include "cli/stop.h"
#include "cli/thread_commands.h"
#include "core/json_object.h"
#include "core/try.h"
#include "skein/limits.h"

namespace skein {
namespace {

// All of standard input as the text of one message, without the line feed that ends its last line.
Result<std::string> read_text() {
  SKEIN_ASSIGN(std::string text, read_standard_input(limits::kMaxTextBytes + 1));
  if (text.ends_with('\n')) text.pop_back();
  return text;
}

std::string appended_json(const Appended& appended) {
  JsonObject object;
  object.add("seq", appended.seq);
  if (appended.repeated) object.add("repeated", true);
  return object.str();
}

std::string refused_json(std::uint64_t line, const Error& error) {
  std::string cause =
      JsonObject().add("code", to_string(error.code)).add("message", error.message).str();
  return JsonObject().add("line", line).add_json("error", cause).str();
}

class AppendCommand : public Command {
 public:
  CommandInfo info() const override {
    return {
        .name = "append",
        .summary = "add a message, or a stream of events; on disk when it says so",
        .examples =
            "  skein thread append a1b2c3d4e5f6 --role user --text \"Where is my order?\"\n"
            "  git log -1 | skein thread append a1b2c3d4e5f6 --role tool\n"
            "  agent | skein thread append a1b2c3d4e5f6 --jsonl\n"
            "  skein thread append a1b2c3d4e5f6 --text again --key order-7 --json\n",
        .details =
            "With --jsonl every line of standard input is an event, such as "
            "{\"type\":\"tool_use\",\"name\":\"search\",\"input\":{}};\nwithout a type it is a "
            "message. "
            "Each is answered by a line: {\"seq\":N} once it is on disk, or\n"
            "{\"line\":N,\"error\":{…}}, which does not stop the rest but makes the exit code 1. "
            "Events may carry \"key\", \"base\" and \"seq\", the position "
            "that they must get.\n"
            "Only active and paused threads take events, except from who holds the thread's lease "
            "(--fence)."};
  }

  std::vector<Argument> arguments() override {
    return {
        thread_argument(thread_),
        with_choices<Role>(
            {.names = "--role", .value_name = "ROLE", .help = "who says it (default user)"},
            {{"user", Role::kUser},
             {"assistant", Role::kAssistant},
             {"system", Role::kSystem},
             {"tool", Role::kTool}},
            role_),
        {.names = "--text",
         .value_name = "TEXT",
         .help = "what is said (default: standard input)",
         .set = into(text_)},
        {.names = "--jsonl",
         .help = "append each line of standard input as an event",
         .set = into(jsonl_)},
        {.names = "--key",
         .value_name = "KEY",
         .help = "makes repeating the command harmless: the same key is taken once",
         .set = into(key_)},
        {.names = "--expect-seq",
         .value_name = "SEQ",
         .help = "refuse unless the message gets this position",
         .set = into(expect_seq_)},
        {.names = "--base",
         .value_name = "SEQ",
         .help = "continue from this earlier event instead of the last",
         .set = into(base_)},
        {.names = "--metadata",
         .value_name = "JSON",
         .help = "an object to keep with the message",
         .set = into_object(metadata_)},
        with_choices<MemoryType>({.names = "--memory-type",
                                  .value_name = "TYPE",
                                  .help = "what the message is to an agent's memory"},
                                 {{"conversation_turn", MemoryType::kConversationTurn},
                                  {"tool_result", MemoryType::kToolResult},
                                  {"intermediate_result", MemoryType::kIntermediateResult},
                                  {"context_summary", MemoryType::kContextSummary},
                                  {"decision_point", MemoryType::kDecisionPoint}},
                                 memory_type_),
        {.names = "--fence",
         .value_name = "TOKEN",
         .help = "refuse unless this is the token of the thread's lease",
         .set = into(fence_)},
    };
  }

  Outcome run(Context& context) override {
    const bool describes_one =
        role_ || text_ || key_ || expect_seq_ || base_ || memory_type_ || !metadata_.empty();
    if (jsonl_ && describes_one) {
      return wrong_usage(
          "with --jsonl the lines themselves say role, text, key, base, memoryType and metadata");
    }
    SKEIN_ASSIGN_OR_FAIL(const OpenManager manager, context.open_manager(IfMissing::kRefuse));
    SKEIN_ASSIGN(const Manifest manifest, find_thread(*manager.store, *thread_));
    return jsonl_ ? append_stream(context, *manager.manager, manifest.id)
                  : append_one(context, *manager.manager, manifest.id);
  }

 private:
  Outcome append_one(Context& context, ThreadManager& manager, ThreadId thread) {
    if (!text_) {
      if (::isatty(STDIN_FILENO) == 1) print_notice("reading the text; end it with Ctrl-D");
      SKEIN_ASSIGN(text_, read_text());
    }
    Append append{.thread = thread, .event = {}, .fence = fence_, .expect_seq = expect_seq_};
    append.event.payload = Message{role_.value_or(Role::kUser), std::move(*text_)};
    append.event.base = base_;
    append.event.metadata = std::move(metadata_);
    append.event.key = key_.value_or("");
    append.event.memory_type = memory_type_;
    auto results = manager.append(thread, {std::move(append)});
    SKEIN_ASSIGN(const Appended appended, std::move(results.front()));
    if (context.json()) {
      context.out().write(appended_json(appended) + "\n");
    } else {
      context.out().write(fmt::format("{} {}{}\n", thread.str(), appended.seq,
                                      appended.repeated ? " (was there already)" : ""));
    }
    return kExitDone;
  }

  Outcome append_stream(Context& context, ThreadManager& manager, ThreadId thread) {
    StopRequest stop;
    LineInput input(STDIN_FILENO, stop.fd());
    bool refused = false;
    while (true) {
      SKEIN_ASSIGN(const LineInput::Batch batch, input.next());
      bool storage_failed = false;
      for (const LineResult& line : append_lines(manager, thread, batch.lines, fence_)) {
        if (line.result) {
          context.out().write(appended_json(*line.result) + "\n");
          continue;
        }
        refused = true;
        storage_failed = storage_failed || line.result.error().code == ErrorCode::kIo;
        context.out().write(refused_json(line.number, line.result.error()) + "\n");
      }
      for (const std::uint64_t line : batch.too_long) {
        refused = true;
        context.out().write(refused_json(line, too_long()) + "\n");
      }
      SKEIN_TRY(context.out().flush());
      if (storage_failed)
        return fail(ErrorCode::kIo, "the store takes no more: see the last answers");
      if (batch.ended) return refused ? kExitRefused : kExitDone;
      if (stop.signal() != 0) end_by_signal(stop.signal());
    }
  }

  static Error too_long() {
    return {ErrorCode::kInvalid,
            fmt::format("an event is longer than the limit of {} bytes", limits::kMaxEventBytes)};
  }

  std::optional<ThreadRef> thread_;
  std::optional<Role> role_;
  std::optional<std::string> text_;
  bool jsonl_ = false;
  std::optional<std::string> key_;
  std::optional<std::uint64_t> expect_seq_;
  std::optional<std::uint64_t> base_;
  Json metadata_;
  std::optional<MemoryType> memory_type_;
  std::optional<std::uint64_t> fence_;
};

}  // namespace

std::unique_ptr<Command> thread_append_command() { return std::make_unique<AppendCommand>(); }

}  // namespace skein
