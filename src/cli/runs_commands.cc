#include <fmt/format.h>

#include "cli/arguments.h"
#include "cli/run_desk.h"
#include "cli/run_printer.h"
#include "cli/stop_on_signal.h"
#include "cli/table.h"
#include "core/json_object.h"
#include "core/try.h"

namespace skein {
namespace {

Argument run_argument(std::string& run) {
  return {.names = "RUN",
          .value_name = "RUN",
          .help = "the run's id",
          .set = [&run](std::string_view typed) -> Result<void> {
            SKEIN_TRY(thread_of_run(typed));
            run = typed;
            return {};
          },
          .required = true};
}

class List : public Command {
 public:
  CommandInfo info() const override {
    return {.name = "list",
            .summary = "print runs, the newest first",
            .examples =
                "  skein runs list\n"
                "  skein runs list --thread a1b2c3d4e5f6 --status interrupted --json\n"};
  }

  std::vector<Argument> arguments() override {
    return {{.names = "--thread",
             .value_name = "ID",
             .help = "runs on this thread only",
             .set = into(thread_)},
            {.names = "--agent",
             .value_name = "A",
             .help = "runs of this agent only",
             .set = into(query_.agent_id)},
            with_choices<RunStatus>(
                {.names = "--status", .value_name = "STATUS", .help = "runs of this status only"},
                {{"pending", RunStatus::kPending},
                 {"running", RunStatus::kRunning},
                 {"success", RunStatus::kSuccess},
                 {"error", RunStatus::kError},
                 {"interrupted", RunStatus::kInterrupted},
                 {"timeout", RunStatus::kTimeout}},
                query_.status),
            {.names = "--limit",
             .value_name = "N",
             .help = "how many at most (default 50)",
             .set = into(limit_)},
            {.names = "--before",
             .value_name = "RUN",
             .help = "only those older than this one",
             .set = into(query_.before)}};
  }

  Outcome run(Context& context) override {
    std::vector<Run> runs;
    SKEIN_ASSIGN_OR_FAIL(const Settings settings, context.settings());
    if (store_exists(settings.store_url)) {
      SKEIN_ASSIGN_OR_FAIL(const OpenDesk desk, open_desk(context, IfMissing::kRefuse));
      if (thread_) {
        SKEIN_ASSIGN(const auto thread, desk.store->get(*thread_));
        if (!thread) {
          return tl::unexpected<Failure>(
              Error{ErrorCode::kNotFound, "there is no thread " + thread_->str()});
        }
        query_.thread = thread->id;
      }
      query_.limit = limit_.value_or(query_.limit);
      SKEIN_ASSIGN(runs, desk.runner().list(query_));
    }
    Table table(context, {"RUN", "AGENT", "STATUS", "CREATED", "TOKENS", "WHAT"});
    for (const Run& run : runs) {
      const auto tokens = run.usage.input_tokens.value_or(0) + run.usage.output_tokens.value_or(0);
      std::string what = run.error ? run.error->message : "";
      if (run.question) what = "waits for a yes";
      if (run.rolled_back) what = "rolled back";
      table.add({run.id, run.agent_id, to_string(run.status), context.style().time(run.created_at),
                 std::to_string(tokens), what},
                to_json(run));
    }
    table.print();
    return kExitDone;
  }

 private:
  RunQuery query_;
  std::optional<ThreadRef> thread_;
  std::optional<std::uint64_t> limit_;
};

std::string run_text(const Run& run, const Style& style) {
  std::string text;
  const auto line = [&](std::string_view name, std::string_view value) {
    if (!value.empty()) text += fmt::format("{:<10}{}\n", name, style.stored_line(value));
  };
  line("run", run.id);
  line("thread", run.thread.str());
  line("agent", run.agent_id);
  line("status", to_string(run.status));
  line("multitask", to_string(run.multitask));
  line("created", style.time(run.created_at));
  line("started", run.started_at.is_set() ? style.time(run.started_at) : "");
  line("ended", run.ended_at.is_set() ? style.time(run.ended_at) : "");
  line("model", run.model);
  if (run.usage.turns) {
    line("usage", fmt::format("{} turns, {} tokens in, {} out, {:.4f} USD", *run.usage.turns,
                              run.usage.input_tokens.value_or(0),
                              run.usage.output_tokens.value_or(0), run.usage.cost_usd.value_or(0)));
  }
  if (run.first_seq > 0) line("events", fmt::format("{} to {}", run.first_seq, run.last_seq));
  if (run.error) line("error", run.error->message);
  if (run.rolled_back) line("rolled back", "yes");
  if (!run.question) return text;
  for (const ToolCall& call : run.question->calls) {
    line("asks", fmt::format("{} {} ({})", call.name, call.input.text(), call.id));
  }
  return text;
}

class Show : public Command {
 public:
  CommandInfo info() const override {
    return {.name = "show",
            .summary = "print what is known of a run",
            .examples = "  skein runs show 0199a3b0-5d1c-7000-8123-a1b2c3d4e5f6\n"};
  }
  std::vector<Argument> arguments() override { return {run_argument(run_)}; }

  Outcome run(Context& context) override {
    SKEIN_ASSIGN_OR_FAIL(const OpenDesk desk, open_desk(context, IfMissing::kRefuse));
    SKEIN_ASSIGN(const Run run, desk.runner().get(run_));
    context.out().write(context.json() ? to_json(run) + "\n" : run_text(run, context.style()));
    return kExitDone;
  }

 private:
  std::string run_;
};

class Cancel : public Command {
 public:
  CommandInfo info() const override {
    return {.name = "cancel",
            .summary = "stop a run, in whatever process it is",
            .examples = "  skein runs cancel 0199a3b0-5d1c-7000-8123-a1b2c3d4e5f6\n",
            .details =
                "Returns when it has ended; what it wrote stays. A run that had ended already is "
                "exit code 4."};
  }
  std::vector<Argument> arguments() override { return {run_argument(run_)}; }

  Outcome run(Context& context) override {
    SKEIN_ASSIGN_OR_FAIL(const OpenDesk desk, open_desk(context, IfMissing::kRefuse));
    SKEIN_ASSIGN(const bool stopped, desk.runner().cancel(run_));
    Result<Run> run = fail(ErrorCode::kInvalid, "");
    {
      const StopOnSignal stop;
      run = desk.runner().wait(run_, stop.token());
    }
    SKEIN_TRY(run);
    if (!stopped) {
      return tl::unexpected<Failure>(
          Error{ErrorCode::kConflict, "run " + run_ + " had ended: " + to_string(run->status)});
    }
    context.out().write(context.json() ? to_json(*run) + "\n"
                                       : fmt::format("{} {}\n", run_, to_string(run->status)));
    return kExitDone;
  }

 private:
  std::string run_;
};

class Resume : public Command {
 public:
  CommandInfo info() const override {
    return {.name = "resume",
            .summary = "answer a run that waits for a person's yes, and go on with it",
            .examples =
                "  skein runs resume 0199a3b0-5d1c-7000-8123-a1b2c3d4e5f6 --yes\n"
                "  skein runs resume 0199a3b0-5d1c-7000-8123-a1b2c3d4e5f6 --no --note \"too "
                "expensive\"\n",
            .details =
                "Works in any process, also after a restart, as long as the conversation did not "
                "go on without it (exit code 4)."};
  }
  std::vector<Argument> arguments() override {
    return {run_argument(run_),
            {.names = "--yes", .help = "the tools may be called", .set = into(answer_.yes)},
            {.names = "--no", .help = "they may not", .set = into(no_)},
            {.names = "--note",
             .value_name = "TEXT",
             .help = "told to the agent with a no",
             .set = into(answer_.note)},
            {.names = "--call",
             .value_name = "ID",
             .help = "the yes is for this call only; may be given again for more",
             .set = into(answer_.calls),
             .repeated = true},
            {.names = "--jsonl",
             .help = "print what happens, a JSON object a line",
             .set = into(jsonl_)}};
  }

  Outcome run(Context& context) override {
    if (answer_.yes == no_) return wrong_usage("say --yes or --no");
    SKEIN_ASSIGN_OR_FAIL(const OpenDesk desk, open_desk(context, IfMissing::kRefuse));
    RunPrinter printer(context, jsonl_           ? RunOutput::kLines
                                : context.json() ? RunOutput::kJson
                                                 : RunOutput::kText);
    Result<RunOutcome> outcome = fail(ErrorCode::kInvalid, "");
    int signal = 0;
    {
      const StopOnSignal stop;
      outcome = desk.runner().resume(run_, answer_, printer.callbacks(), stop.token());
      signal = stop.signal();
    }
    desk.runner().finish_effects();
    return printer.finish(outcome, signal);
  }

 private:
  std::string run_;
  RunAnswer answer_;
  bool no_ = false;
  bool jsonl_ = false;
};

}  // namespace

CommandGroup runs_commands() {
  CommandGroup group{"runs", "look at runs, stop them, answer them", {}};
  group.commands.push_back(std::make_unique<List>());
  group.commands.push_back(std::make_unique<Show>());
  group.commands.push_back(std::make_unique<Cancel>());
  group.commands.push_back(std::make_unique<Resume>());
  return group;
}

}  // namespace skein
