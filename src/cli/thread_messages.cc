#include "api/threads.h"
#include "cli/arguments.h"
#include "cli/context.h"
#include "cli/show_text.h"
#include "cli/thread_commands.h"
#include "core/try.h"

namespace skein {
namespace {

class Messages : public Command {
 public:
  CommandInfo info() const override {
    return {.name = "messages",
            .summary = "print what was said in a thread, as it stands now",
            .examples =
                "  skein thread messages a1b2c3d4e5f6\n"
                "  skein thread messages a1b2c3d4e5f6 --order newest --limit 10\n"
                "  skein thread messages a1b2c3d4e5f6 --role user --json\n",
            .details =
                "Messages only, and of those the ones on the current path: what was rolled "
                "back or edited away\nis not shown. `skein thread events` shows everything."};
  }

  std::vector<Argument> arguments() override {
    return {
        thread_argument(thread_),
        with_choices<Role>({.names = "--role", .value_name = "ROLE", .help = "of this role only"},
                           {{"user", Role::kUser},
                            {"assistant", Role::kAssistant},
                            {"system", Role::kSystem},
                            {"tool", Role::kTool}},
                           which_.role),
        {.names = "--limit",
         .value_name = "N",
         .help = "at most so many",
         .set = into(which_.limit)},
        {.names = "--offset",
         .value_name = "N",
         .help = "pass over so many first",
         .set = into(offset_)},
        with_choices<MessageOrder>(
            {.names = "--order",
             .value_name = "ORDER",
             .help = "oldest or newest first (default oldest)"},
            {{"oldest", MessageOrder::kOldestFirst}, {"newest", MessageOrder::kNewestFirst}},
            order_),
    };
  }

  Outcome run(Context& context) override {
    which_.offset = offset_.value_or(0);
    which_.order = order_.value_or(MessageOrder::kOldestFirst);
    SKEIN_ASSIGN_OR_FAIL(const OpenManager manager, context.open_manager(IfMissing::kRefuse));
    SKEIN_ASSIGN(const auto messages, manager->messages(thread_->str(), which_));
    std::string_view separator = "[";
    for (const ThreadMessage& message : messages) {
      if (context.json()) {
        context.out().write(separator);
        context.out().write(to_json(message));
        separator = ",\n ";
      } else {
        context.out().write(message_text(message, context.style()));
      }
    }
    if (context.json()) context.out().write(messages.empty() ? "[]\n" : "]\n");
    return kExitDone;
  }

 private:
  std::optional<ThreadRef> thread_;
  MessageSelection which_;
  std::optional<std::uint64_t> offset_;
  std::optional<MessageOrder> order_;
};

}  // namespace

std::unique_ptr<Command> thread_messages_command() { return std::make_unique<Messages>(); }

}  // namespace skein
