#include "cli/thread_commands.h"

#include <fmt/format.h>
#include <string>

#include "api/recall.h"
#include "api/threads.h"
#include "cli/arguments.h"
#include "cli/context.h"
#include "cli/dialogue.h"
#include "cli/show_text.h"
#include "core/json_object.h"
#include "core/try.h"
#include "skein/context.h"
#include "skein/threads.h"

namespace skein {

void print_manifest(Context& context, const Manifest& manifest) {
  context.out().write(context.json() ? to_json(manifest) + "\n"
                                     : manifest_text(manifest, context.style()));
}

namespace {

// A new thread: its id, alone on the line, so that scripts can take it without --json too.
void print_new_thread(Context& context, ThreadId id) {
  if (context.json()) {
    context.out().write(JsonObject().add("threadId", id.str()).str() + "\n");
  } else {
    context.out().write(id.str() + "\n");
  }
}

class Create : public Command {
 public:
  CommandInfo info() const override {
    return {.name = "create",
            .summary = "make a new thread and print its id",
            .examples =
                "  skein thread create\n"
                "  skein thread create --agent support --title \"Refund\" "
                "--metadata '{\"customer\":42}'\n"
                "  skein thread create --system \"You are a helpful assistant.\" "
                "--message \"Where is my order?\" --json\n"};
  }

  std::vector<Argument> arguments() override {
    return {
        {.names = "--agent",
         .value_name = "A",
         .help =
             "whose thread it is (default: defaultAgent of the configuration, else \"default\")",
         .set = into(agent_)},
        {.names = "--title", .value_name = "TEXT", .help = "a title", .set = into(made_.title)},
        {.names = "--task-id",
         .value_name = "TASK",
         .help = "the task that the thread belongs to",
         .set = into(made_.task_id)},
        {.names = "--alias",
         .value_name = "UUID",
         .help = "a UUID of your own that names the thread from now on",
         .set = into(made_.alias)},
        {.names = "--metadata",
         .value_name = "JSON",
         .help = "an object to keep with the thread",
         .set = into_object(made_.metadata)},
        {.names = "--system",
         .value_name = "TEXT",
         .help = "a system message to begin with",
         .set = into(made_.system_message)},
        {.names = "--message",
         .value_name = "TEXT",
         .help = "a first message of the user; may be given again for more",
         .set = into(messages_),
         .repeated = true},
    };
  }

  Outcome run(Context& context) override {
    SKEIN_TRY(check_has_no_mark(made_.metadata));
    SKEIN_ASSIGN_OR_FAIL(const Settings settings, context.settings());
    SKEIN_ASSIGN_OR_FAIL(const OpenManager manager, context.open_manager(IfMissing::kCreate));
    made_.agent_id = agent_.value_or(settings.default_agent);
    for (std::string& text : messages_) {
      made_.initial_messages.emplace_back().text = std::move(text);
    }
    SKEIN_ASSIGN(const Manifest manifest, manager->create(made_));
    print_new_thread(context, manifest.id);
    return kExitDone;
  }

 private:
  std::optional<std::string> agent_;
  NewConversation made_;
  std::vector<std::string> messages_;
};

class Show : public Command {
 public:
  CommandInfo info() const override {
    return {.name = "show",
            .summary = "print all that is known of a thread besides its events",
            .examples =
                "  skein thread show a1b2c3d4e5f6\n"
                "  skein thread show 00000000-0000-4000-8000-a1b2c3d4e5f6 --json\n"};
  }

  std::vector<Argument> arguments() override { return {thread_argument(thread_)}; }

  Outcome run(Context& context) override {
    SKEIN_ASSIGN_OR_FAIL(auto store, context.open(IfMissing::kRefuse));
    SKEIN_ASSIGN(const Manifest manifest, find_thread(*store, *thread_));
    print_manifest(context, manifest);
    return kExitDone;
  }

 private:
  std::optional<ThreadRef> thread_;
};

class Fork : public Command {
 public:
  CommandInfo info() const override {
    return {.name = "fork",
            .summary = "make a new thread that starts with a copy of this one",
            .examples =
                "  skein thread fork a1b2c3d4e5f6\n"
                "  skein thread fork a1b2c3d4e5f6 --at 12 --json\n"};
  }

  std::vector<Argument> arguments() override {
    return {
        thread_argument(thread_),
        {.names = "--at",
         .value_name = "SEQ",
         .help = "copy up to this event (default: all)",
         .set = into(at_)},
    };
  }

  Outcome run(Context& context) override {
    SKEIN_ASSIGN_OR_FAIL(auto store, context.open(IfMissing::kRefuse));
    SKEIN_ASSIGN(const Manifest original, find_thread(*store, *thread_));
    SKEIN_ASSIGN(const Manifest fork, fork_thread(*store, original.id, at_.value_or(kLastSeq)));
    print_new_thread(context, fork.id);
    return kExitDone;
  }

 private:
  std::optional<ThreadRef> thread_;
  std::optional<std::uint64_t> at_;
};

class Delete : public Command {
 public:
  CommandInfo info() const override {
    return {.name = "delete",
            .summary = "remove a thread with all its events, for good",
            .examples =
                "  skein thread delete a1b2c3d4e5f6\n"
                "  skein thread delete a1b2c3d4e5f6 --yes --json\n",
            .details =
                "Forks of it stay, and a record that it went (skein cleanup --history). Without "
                "--yes it asks,\nand refuses where nobody can answer."};
  }

  std::vector<Argument> arguments() override {
    return {
        thread_argument(thread_),
        {.names = "-y,--yes", .help = "do not ask", .set = into(yes_)},
    };
  }

  Outcome run(Context& context) override {
    SKEIN_ASSIGN_OR_FAIL(const OpenManager manager, context.open_manager(IfMissing::kRefuse));
    SKEIN_ASSIGN(const Manifest manifest, find_thread(*manager.store, *thread_));
    if (!yes_) {
      SKEIN_ASSIGN_OR_FAIL(const bool agreed,
                           ask(fmt::format("Delete thread {} of {} with {} events?",
                                           manifest.id.str(), manifest.agent_id, manifest.last_seq),
                               "to delete " + manifest.id.str()));
      if (!agreed) return fail(ErrorCode::kInvalid, "not deleted");
    }
    SKEIN_ASSIGN(const bool removed, manager->remove(manifest.id.str()));
    if (!removed) return fail(ErrorCode::kNotFound, "there is no thread " + manifest.id.str());
    SKEIN_ASSIGN_OR_FAIL(const Settings settings, context.settings());
    if (auto forgotten = forget_in_index(settings, *manager.store, {manifest.id}); !forgotten) {
      print_notice("the index still has it until the next backfill: " + forgotten.error().message);
    }
    if (context.json()) {
      context.out().write(
          JsonObject().add("threadId", manifest.id.str()).add("deleted", true).str() + "\n");
    } else {
      context.out().write("deleted " + manifest.id.str() + "\n");
    }
    return kExitDone;
  }

 private:
  std::optional<ThreadRef> thread_;
  bool yes_ = false;
};

}  // namespace

CommandGroup thread_commands() {
  CommandGroup group{"thread", "conversations: make them, add to them, read them", {}};
  group.commands.push_back(std::make_unique<Create>());
  group.commands.push_back(thread_list_command());
  group.commands.push_back(std::make_unique<Show>());
  group.commands.push_back(thread_append_command());
  group.commands.push_back(thread_events_command());
  group.commands.push_back(thread_context_command());
  group.commands.push_back(thread_summarize_command());
  group.commands.push_back(thread_messages_command());
  for (auto& command : thread_update_commands()) group.commands.push_back(std::move(command));
  for (auto& command : thread_status_commands()) group.commands.push_back(std::move(command));
  group.commands.push_back(std::make_unique<Fork>());
  group.commands.push_back(std::make_unique<Delete>());
  return group;
}

}  // namespace skein
