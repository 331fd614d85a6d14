#include "api/watch.h"

#include <fmt/format.h>

#include <limits>

#include "api/threads.h"
#include "cli/arguments.h"
#include "cli/context.h"
#include "cli/stop.h"
#include "core/try.h"

namespace skein {
namespace {

Tone tone_of(ThreadEventKind kind) {
  switch (kind) {
    case ThreadEventKind::kCreated:
      return Tone::kGreen;
    case ThreadEventKind::kMessage:
      return Tone::kCyan;
    case ThreadEventKind::kUpdated:
      return Tone::kFaint;
    case ThreadEventKind::kClosed:
    case ThreadEventKind::kArchived:
      return Tone::kYellow;
    case ThreadEventKind::kDeleted:
      return Tone::kMagenta;
  }
  return Tone::kPlain;
}

// What an event is about, in a few words on one line.
std::string gist(const ThreadEvent& event) {
  if (event.message) {
    const auto& message = std::get<Message>(event.message->payload);
    return fmt::format("{} {}: {}", event.message->seq, to_string(message.role), message.text);
  }
  if (!event.manifest) return "";
  std::string out = to_string(event.manifest->status);
  if (event.manifest->title) out += " " + *event.manifest->title;
  if (event.kind == ThreadEventKind::kClosed && event.manifest->summary) {
    out += ": " + *event.manifest->summary;
  }
  return out;
}

// Cut to the columns that are left, where they are counted.
std::string fitted(const std::string& text, std::size_t width, std::size_t used) {
  if (width == 0 || used + display_width(text) <= width) return text;
  const std::size_t left = width > used + 2 ? width - used - 1 : 1;
  const std::string lines = wrapped(text, "", left);
  return lines.substr(0, lines.find('\n')) + "…";
}

class WatchCommand : public Command {
 public:
  CommandInfo info() const override {
    return {.name = "watch",
            .summary = "print what happens to threads, as it happens, in every process",
            .examples =
                "  skein watch\n"
                "  skein watch --agent support --event thread:message --event thread:closed\n"
                "  skein watch --json --since \"$(tail -n 1 seen.jsonl | jq -r .cursor)\" >> "
                "seen.jsonl\n",
            .details =
                "One line an event, and on each the cursor that goes on right after it: started "
                "again with --since,\nit misses nothing and repeats nothing. A line without its "
                "line feed was cut off and does not count.\nBegins with what happens from now on; "
                "--since \"\" begins with all that there is. Ends on Ctrl-C."};
  }

  std::vector<Argument> arguments() override {
    Argument event{.names = "--event",
                   .value_name = "EVENT",
                   .help = "only events of this kind; may be given again for more",
                   .set = [this](std::string_view typed) -> Result<void> {
                     SKEIN_ASSIGN(const ThreadEventKind kind, parse_thread_event_kind(typed));
                     filter_.kinds.push_back(kind);
                     return {};
                   },
                   .repeated = true};
    for (const ThreadEventKind kind : all_thread_event_kinds()) {
      event.choices.emplace_back(to_string(kind));
    }
    return {
        {.names = "--since",
         .value_name = "CURSOR",
         .help = "go on where an earlier watch ended (default: now)",
         .set = into(since_)},
        {.names = "--agent",
         .value_name = "A",
         .help = "threads of this agent only",
         .set = into(filter_.agent_id)},
        {.names = "--thread", .value_name = "ID", .help = "this thread only", .set = into(thread_)},
        std::move(event),
        {.names = "--limit",
         .value_name = "N",
         .help = "end after so many events",
         .set = into(limit_)},
    };
  }

  Outcome run(Context& context) override {
    if (limit_ == 0u) return wrong_usage("--limit must be at least 1");
    SKEIN_ASSIGN_OR_FAIL(auto store, context.open(IfMissing::kRefuse));
    if (thread_) {
      SKEIN_ASSIGN(filter_.thread, resolve(*store));
    }
    StopRequest stop;
    std::uint64_t left = limit_.value_or(std::numeric_limits<std::uint64_t>::max());
    Result<void> written;
    const auto go_on = [&] { return stop.signal() == 0 && written.has_value(); };
    Watch watch;
    watch.since = since_;
    watch.filter = filter_;
    watch.go_on = go_on;
    watch.sink = [&](const ThreadEvent& event) {
      context.out().write(context.json() ? to_json(event) + "\n" : line_of(event, context.style()));
      return --left > 0 && go_on();
    };
    watch.pause = [&](const std::string&) { written = context.out().flush(); };
    SKEIN_TRY(watch_threads(*store, watch));
    SKEIN_TRY(written);
    return kExitDone;
  }

 private:
  // A thread that is gone may be watched by its id: its deletion is still told.
  Result<ThreadId> resolve(Store& store) const {
    if (thread_->id()) return *thread_->id();
    SKEIN_ASSIGN(const Manifest manifest, find_thread(store, *thread_));
    return manifest.id;
  }

  static std::string line_of(const ThreadEvent& event, const Style& style) {
    const std::string agent = event.agent_id.empty() ? "-" : event.agent_id;
    const std::string head = fmt::format("{}  {:<15}  {}  {}", event.cursor, to_string(event.kind),
                                         event.thread.str(), agent);
    std::string said = visible_line(gist(event));
    if (!said.empty()) said = "  " + fitted(said, style.width, display_width(head) + 2);
    if (!style.colours) return head + said + "\n";
    return fmt::format(
        "{}  {}  {}  {}{}\n", style.paint(Tone::kFaint, event.cursor),
        style.paint(tone_of(event.kind), fmt::format("{:<15}", to_string(event.kind))),
        event.thread.str(), agent, said);
  }

  std::string since_{Store::kNow};
  std::optional<ThreadRef> thread_;
  ThreadEventFilter filter_;
  std::optional<std::uint64_t> limit_;
};

}  // namespace

CommandGroup watch_commands() {
  CommandGroup group{"", "", {}};
  group.commands.push_back(std::make_unique<WatchCommand>());
  return group;
}

}  // namespace skein
