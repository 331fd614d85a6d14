#include <fmt/format.h>
#include <unistd.h>

#include <csignal>
#include <iostream>

#include "cli/arguments.h"
#include "cli/ask_for_trust.h"
#include "cli/chat.h"
#include "cli/dialogue.h"
#include "cli/run_desk.h"
#include "cli/run_printer.h"
#include "cli/stop_on_signal.h"
#include "core/try.h"
#include "skein/limits.h"

namespace skein {

tl::expected<OpenDesk, Failure> open_desk(Context& context, IfMissing if_missing) {
  SKEIN_ASSIGN_OR_FAIL(const Settings settings, context.settings());
  return open_desk(context, settings, if_missing);
}

tl::expected<OpenDesk, Failure> open_desk(Context& context, const Settings& settings,
                                          IfMissing if_missing) {
  OpenDesk open;
  SKEIN_ASSIGN_OR_FAIL(open.store, context.open(if_missing));
  open.signer = settings.signer;
  RunnerOptions options;
  options.log = [](std::string_view line) { print_notice(line); };
  open.desk = std::make_unique<RunDesk>(settings, *open.store, std::move(options));
  const auto recovered = open.runner().recover();
  if (!recovered) {
    print_notice("runs that were left open: " + recovered.error().message);
  } else if (recovered->closed > 0) {
    print_notice(fmt::format("{} run(s) of a process that ended are closed as interrupted",
                             recovered->closed));
  }
  if (recovered && recovered->inert > 0) {
    print_notice(
        fmt::format("{} open run(s) are not signed and left as they are; review them with "
                    "\"skein trust\"",
                    recovered->inert));
  }
  return open;
}

namespace {

Result<std::string> text_from_input() {
  if (::isatty(STDIN_FILENO) == 1) print_notice("reading the text; end it with Ctrl-D");
  SKEIN_ASSIGN(std::string text, read_standard_input(limits::kMaxTextBytes));
  while (text.ends_with('\n') || text.ends_with('\r')) text.pop_back();
  return text;
}

Argument::Set into_seconds(std::optional<std::chrono::milliseconds>& time) {
  return [&time](std::string_view typed) -> Result<void> {
    std::optional<std::uint64_t> seconds;
    SKEIN_TRY(into(seconds)(typed));
    if (*seconds == 0 || *seconds > 24 * 3600) {
      return fail(ErrorCode::kInvalid, "must be 1 to 86400 seconds");
    }
    time = std::chrono::seconds(*seconds);
    return {};
  };
}

class RunCommand : public Command {
 public:
  CommandInfo info() const override {
    return {.name = "run",
            .summary = "let an agent answer, and print its response as it comes",
            .examples =
                "  skein run echo \"Hello\"\n"
                "  skein run support --thread a1b2c3d4e5f6 \"And the other one?\"\n"
                "  git diff | skein run reviewer --jsonl\n",
            .details =
                "Makes a new thread unless one is named. Without TEXT, or with -, it is read from "
                "standard input; an empty one\ngoes on with what the thread has. Tool calls are "
                "shown on standard error. Ctrl-C stops the run: what it\nwrote stays, and the "
                "thread says so. --json prints the run at the end, --jsonl a line for everything "
                "that happens.\nExit code 0: it answered. 1: it failed, whatever the provider "
                "said, was stopped, or waits for a person's\nyes (skein runs resume). 3: there is "
                "no such agent or thread. 4: the thread is busy, not active, or belongs\nto "
                "another agent. 130: Ctrl-C stopped it."};
  }

  std::vector<Argument> arguments() override {
    return {
        {.names = "AGENT",
         .value_name = "AGENT",
         .help = "who answers",
         .set = into(request_.agent_id),
         .required = true},
        {.names = "TEXT", .value_name = "TEXT", .help = "what it is told", .set = into(text_)},
        {.names = "--thread",
         .value_name = "ID",
         .help = "the thread to go on with (default: a new one)",
         .set = into(request_.thread_id)},
        with_choices<Multitask>({.names = "--multitask",
                                 .value_name = "POLICY",
                                 .help = "what to do when the thread is busy (default enqueue)"},
                                {{"enqueue", Multitask::kEnqueue},
                                 {"reject", Multitask::kReject},
                                 {"interrupt", Multitask::kInterrupt},
                                 {"rollback", Multitask::kRollback}},
                                multitask_),
        {.names = "--timeout",
         .value_name = "SECONDS",
         .help = "stop it after so long, as an error",
         .set = into_seconds(request_.timeout)},
        {.names = "--metadata",
         .value_name = "JSON",
         .help = "an object to keep with the run",
         .set = into_object(request_.metadata)},
        {.names = "--jsonl",
         .help = "print what happens, a JSON object a line",
         .set = into(jsonl_)}};
  }

  Outcome run(Context& context) override {
    if (!text_ || *text_ == "-") {
      SKEIN_ASSIGN(text_, text_from_input());
    }
    if (!text_->empty()) {
      request_.input.messages.push_back({.role = Role::kUser, .text = *text_});
    } else if (request_.thread_id.empty()) {
      return wrong_usage("a new thread needs a text to begin with");
    }
    request_.multitask = multitask_.value_or(Multitask::kEnqueue);
    SKEIN_ASSIGN_OR_FAIL(const Settings settings, settings_for_agent(context, request_.agent_id));
    SKEIN_ASSIGN_OR_FAIL(const OpenDesk desk, open_desk(context, settings, IfMissing::kCreate));
    RunPrinter printer(context, jsonl_           ? RunOutput::kLines
                                : context.json() ? RunOutput::kJson
                                                 : RunOutput::kText);
    Result<RunOutcome> outcome = fail(ErrorCode::kInvalid, "");
    int signal = 0;
    {
      const StopOnSignal stop;
      outcome = desk.runner().execute(request_, printer.callbacks(), stop.token());
      signal = stop.signal();
    }
    if (printer.run() && !jsonl_ && !context.json() && request_.thread_id.empty()) {
      printer.note("thread " + printer.run()->thread.str());
    }
    desk.runner().finish_effects();
    return printer.finish(outcome, signal);
  }

 private:
  RunRequest request_;
  std::optional<std::string> text_;
  std::optional<Multitask> multitask_;
  bool jsonl_ = false;
};

}  // namespace

CommandGroup run_commands() {
  CommandGroup group{"", "", {}};
  group.commands.push_back(std::make_unique<RunCommand>());
  group.commands.push_back(chat_command());
  group.commands.push_back(usage_command());
  return group;
}

}  // namespace skein
