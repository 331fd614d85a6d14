#include <fmt/format.h>

#include "cli/arguments.h"
#include "cli/context.h"
#include "cli/thread_commands.h"
#include "core/try.h"

namespace skein {
namespace {

// A command that changes the status of one thread and says what came of it.
class StatusCommand : public Command {
 public:
  std::vector<Argument> arguments() override { return {thread_argument(thread_)}; }

  Outcome run(Context& context) override {
    SKEIN_ASSIGN_OR_FAIL(const OpenManager manager, context.open_manager(IfMissing::kRefuse));
    SKEIN_ASSIGN(const Manifest manifest, change(*manager.manager, thread_->str()));
    if (context.json()) {
      print_manifest(context, manifest);
    } else {
      context.out().write(fmt::format("{} is {}\n", manifest.id.str(), to_string(manifest.status)));
    }
    return kExitDone;
  }

 private:
  virtual Result<Manifest> change(ThreadManager& manager, const std::string& thread) = 0;

  std::optional<ThreadRef> thread_;
};

class Pause : public StatusCommand {
 public:
  CommandInfo info() const override {
    return {.name = "pause",
            .summary = "stop runs on a thread for a while; messages still go in",
            .examples = "  skein thread pause a1b2c3d4e5f6\n"};
  }

 private:
  Result<Manifest> change(ThreadManager& manager, const std::string& thread) override {
    return manager.update_status(thread, ThreadStatus::kPaused);
  }
};

class Resume : public StatusCommand {
 public:
  CommandInfo info() const override {
    return {.name = "resume",
            .summary = "make a paused thread active again",
            .examples = "  skein thread resume a1b2c3d4e5f6\n"};
  }

 private:
  Result<Manifest> change(ThreadManager& manager, const std::string& thread) override {
    return manager.update_status(thread, ThreadStatus::kActive);
  }
};

class Close : public StatusCommand {
 public:
  CommandInfo info() const override {
    return {.name = "close",
            .summary = "end a thread: no more messages, no more runs",
            .examples =
                "  skein thread close a1b2c3d4e5f6\n"
                "  skein thread close a1b2c3d4e5f6 --summary \"Refund sent.\" "
                "--resolution completed --json\n",
            .details =
                "A closed thread never reopens: fork it to go on. Closing again adds a "
                "summary or\nresolution that is not there yet."};
  }

  std::vector<Argument> arguments() override {
    std::vector<Argument> all = StatusCommand::arguments();
    all.push_back({.names = "--summary",
                   .value_name = "TEXT",
                   .help = "what it was about, and what came of it",
                   .set = into(options_.summary)});
    all.push_back({.names = "--resolution",
                   .value_name = "WORD",
                   .help = "how it ended, such as completed",
                   .set = into(options_.resolution)});
    return all;
  }

 private:
  Result<Manifest> change(ThreadManager& manager, const std::string& thread) override {
    return manager.close(thread, options_);
  }

  CloseOptions options_;
};

class ArchiveCommand : public StatusCommand {
 public:
  CommandInfo info() const override {
    return {.name = "archive",
            .summary = "put a thread away; an open one is closed first",
            .examples =
                "  skein thread archive a1b2c3d4e5f6\n"
                "  skein thread archive a1b2c3d4e5f6 --retention-days 365 --reason compliance\n",
            .details =
                "Without --retention-days it is kept for ever. Nothing is removed by "
                "itself: `skein cleanup` does it.\nArchiving again changes the days and "
                "the reason, not the time that they count from."};
  }

  std::vector<Argument> arguments() override {
    std::vector<Argument> all = StatusCommand::arguments();
    all.push_back({.names = "--retention-days",
                   .value_name = "N",
                   .help = "how long to keep it",
                   .set = into(days_)});
    all.push_back({.names = "--reason",
                   .value_name = "TEXT",
                   .help = "why it is kept",
                   .set = into(options_.reason)});
    return all;
  }

 private:
  Result<Manifest> change(ThreadManager& manager, const std::string& thread) override {
    if (days_) options_.retention_days = static_cast<std::int64_t>(*days_);
    return manager.archive(thread, options_);
  }

  std::optional<std::uint64_t> days_;
  ArchiveOptions options_;
};

class Restore : public StatusCommand {
 public:
  CommandInfo info() const override {
    return {.name = "restore",
            .summary = "bring an archived thread back; it is closed then",
            .examples = "  skein thread restore a1b2c3d4e5f6\n"};
  }

 private:
  Result<Manifest> change(ThreadManager& manager, const std::string& thread) override {
    return manager.restore(thread);
  }
};

}  // namespace

std::vector<std::unique_ptr<Command>> thread_status_commands() {
  std::vector<std::unique_ptr<Command>> commands;
  commands.push_back(std::make_unique<Pause>());
  commands.push_back(std::make_unique<Resume>());
  commands.push_back(std::make_unique<Close>());
  commands.push_back(std::make_unique<ArchiveCommand>());
  commands.push_back(std::make_unique<Restore>());
  return commands;
}

}  // namespace skein
