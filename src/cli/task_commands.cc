#include <fmt/format.h>

#include "cli/arguments.h"
#include "cli/run_desk.h"
#include "cli/run_printer.h"
#include "cli/stop_on_signal.h"
#include "cli/table.h"
#include "core/try.h"
#include "skein/tasks.h"

namespace skein {
namespace {

Tasks tasks_of(const OpenDesk& desk) {
  return {*desk.store,    desk.runner(), desk.desk->agents(),
          system_clock(), random_ids(),  desk.signer};
}

// Runs on the task's thread, in front of whoever typed it.
Outcome work_on(Context& context, const OpenDesk& desk, const RunRequest& request) {
  RunPrinter printer(context, context.json() ? RunOutput::kJson : RunOutput::kText);
  Result<RunOutcome> outcome = fail(ErrorCode::kInvalid, "");
  int signal = 0;
  {
    const StopOnSignal stop;
    outcome = desk.runner().execute(request, printer.callbacks(), stop.token());
    signal = stop.signal();
  }
  desk.runner().finish_effects();
  return printer.finish(outcome, signal);
}

Argument task_argument(std::string& id) {
  return {.names = "ID", .value_name = "ID", .help = "the task", .set = into(id), .required = true};
}

class Create : public Command {
 public:
  CommandInfo info() const override {
    return {.name = "create",
            .summary = "give an agent something to do, in a thread of its own",
            .examples =
                "  skein task create writer \"Draft the release notes\" --title \"Release notes\"\n"
                "  skein task create writer \"Draft the release notes\" --later --json\n",
            .details =
                "Prints the task's id and works on it, unless --later: then `skein task run` "
                "does. What the task is\nabout is part of the system prompt of every run on "
                "its thread."};
  }
  std::vector<Argument> arguments() override {
    return {
        {.names = "AGENT",
         .value_name = "AGENT",
         .help = "who is to do it",
         .set = into(task_.agent_id),
         .required = true},
        {.names = "TEXT",
         .value_name = "TEXT",
         .help = "what is to be done",
         .set = into(task_.text),
         .required = true},
        {.names = "--title", .value_name = "T", .help = "a short name", .set = into(task_.title)},
        {.names = "--later", .help = "only note it down", .set = into(later_)}};
  }

  Outcome run(Context& context) override {
    SKEIN_ASSIGN_OR_FAIL(const OpenDesk desk, open_desk(context, IfMissing::kCreate));
    Tasks tasks = tasks_of(desk);
    SKEIN_ASSIGN(const Task task, tasks.create(task_));
    if (later_) {
      SKEIN_ASSIGN(const TaskInfo info, tasks.show(task.id));
      context.out().write((context.json() ? to_json(info) : task.id) + "\n");
      return kExitDone;
    }
    if (!context.json()) print_notice(task.id + ", thread " + task.thread.str());
    SKEIN_ASSIGN(const RunRequest request, tasks.request(task.id));
    return work_on(context, desk, request);
  }

 private:
  NewTask task_;
  bool later_ = false;
};

class RunTask : public Command {
 public:
  CommandInfo info() const override {
    return {.name = "run",
            .summary = "work on a task, or go on with it",
            .examples =
                "  skein task run task-19beb43dddb3c47c\n"
                "  skein task run task-19beb43dddb3c47c \"Shorter, please\"\n",
            .details = "Refused with exit code 4 while another run of the task is under way."};
  }
  std::vector<Argument> arguments() override {
    return {task_argument(id_),
            {.names = "TEXT",
             .value_name = "TEXT",
             .help = "what the agent is told (default: the task itself at first, then nothing new)",
             .set = into(text_)}};
  }

  Outcome run(Context& context) override {
    SKEIN_ASSIGN_OR_FAIL(const OpenDesk desk, open_desk(context, IfMissing::kRefuse));
    SKEIN_ASSIGN(const RunRequest request, tasks_of(desk).request(id_, text_));
    return work_on(context, desk, request);
  }

 private:
  std::string id_;
  std::string text_;
};

class List : public Command {
 public:
  CommandInfo info() const override {
    return {.name = "list",
            .summary = "print tasks, the newest first",
            .examples =
                "  skein task list\n"
                "  skein task list --agent writer --limit 10 --json\n"};
  }
  std::vector<Argument> arguments() override {
    return {{.names = "--agent",
             .value_name = "A",
             .help = "only those of this agent",
             .set = into(agent_)},
            {.names = "--limit",
             .value_name = "N",
             .help = "at most so many (default 50)",
             .set = into(limit_)}};
  }

  Outcome run(Context& context) override {
    if (limit_ == 0U) return wrong_usage("--limit must be at least 1");
    SKEIN_ASSIGN_OR_FAIL(const OpenDesk desk, open_desk(context, IfMissing::kRefuse));
    SKEIN_ASSIGN(const std::vector<TaskInfo> infos,
                 tasks_of(desk).list(agent_, static_cast<std::size_t>(limit_.value_or(50))));
    Table table(context, {"ID", "STATUS", "AGENT", "THREAD", "CREATED", "TASK"});
    for (const TaskInfo& info : infos) {
      const Task& task = info.task;
      table.add({task.id, to_string(info.status), task.agent_id,
                 task.thread.str() + (info.thread_gone ? " (gone)" : ""),
                 context.style().time(task.created_at),
                 task.title.empty() ? task.text.substr(0, task.text.find('\n')) : task.title},
                to_json(info));
    }
    table.print();
    for (const TaskInfo& info : infos) {
      if (!info.problem.empty()) print_notice(info.problem);
    }
    return kExitDone;
  }

 private:
  std::optional<std::string> agent_;
  std::optional<std::uint64_t> limit_;
};

std::string task_text(const TaskInfo& info) {
  const Task& task = info.task;
  std::string text = fmt::format("{}  {}\n", task.id, to_string(info.status));
  const auto line = [&](std::string_view name, std::string_view value) {
    if (!value.empty()) text += fmt::format("  {:<10}{}\n", name, value);
  };
  line("title", task.title);
  line("agent", task.agent_id);
  line("thread", task.thread.str() + (info.thread_gone ? " (gone)" : ""));
  line("created", task.created_at.str());
  line("cancelled", task.cancelled_at.str());
  line("problem", info.problem);
  if (info.last_run) {
    line("last run", fmt::format("{} {}", info.last_run->id, to_string(info.last_run->status)));
    if (info.last_run->error) line("error", info.last_run->error->message);
  }
  return text + "\n" + task.text + "\n";
}

class Show : public Command {
 public:
  CommandInfo info() const override {
    return {.name = "show",
            .summary = "print a task and how its last run ended",
            .examples =
                "  skein task show task-19beb43dddb3c47c\n"
                "  skein task show task-19beb43dddb3c47c --json\n"};
  }
  std::vector<Argument> arguments() override { return {task_argument(id_)}; }

  Outcome run(Context& context) override {
    SKEIN_ASSIGN_OR_FAIL(const OpenDesk desk, open_desk(context, IfMissing::kRefuse));
    SKEIN_ASSIGN(const TaskInfo info, tasks_of(desk).show(id_));
    if (context.json()) {
      context.out().write(to_json(info) + "\n");
    } else {
      context.out().write_stored(task_text(info));
    }
    return kExitDone;
  }

 private:
  std::string id_;
};

class Cancel : public Command {
 public:
  CommandInfo info() const override {
    return {.name = "cancel",
            .summary = "stop a task for good",
            .examples = "  skein task cancel task-19beb43dddb3c47c\n",
            .details =
                "Stops the run under way, in whatever process it is, and closes the thread. What "
                "was written stays."};
  }
  std::vector<Argument> arguments() override { return {task_argument(id_)}; }

  Outcome run(Context& context) override {
    SKEIN_ASSIGN_OR_FAIL(const OpenDesk desk, open_desk(context, IfMissing::kRefuse));
    SKEIN_ASSIGN(const TaskInfo info, tasks_of(desk).cancel(id_));
    context.out().write(context.json() ? to_json(info) + "\n" : "cancelled " + id_ + "\n");
    return kExitDone;
  }

 private:
  std::string id_;
};

}  // namespace

CommandGroup task_commands() {
  CommandGroup group{"task", "what agents are to get done, each in a thread of its own", {}};
  group.commands.push_back(std::make_unique<Create>());
  group.commands.push_back(std::make_unique<RunTask>());
  group.commands.push_back(std::make_unique<List>());
  group.commands.push_back(std::make_unique<Show>());
  group.commands.push_back(std::make_unique<Cancel>());
  return group;
}

}  // namespace skein
