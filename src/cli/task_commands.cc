#include <fmt/format.h>

#include <algorithm>

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

Argument::Set into_numbers(std::vector<std::size_t>& numbers) {
  return [&numbers](std::string_view typed) -> Result<void> {
    std::optional<std::uint64_t> number;
    SKEIN_TRY(into(number)(typed));
    numbers.push_back(static_cast<std::size_t>(*number));
    return {};
  };
}

class Create : public Command {
 public:
  CommandInfo info() const override {
    return {
        .name = "create",
        .summary = "create a task, with a thread of its own",
        .examples =
            "  skein task create writer \"Draft the release notes\" --title \"Release notes\"\n"
            "  skein task create writer \"Draft the release notes\" --step \"Read the commits\" "
            "--step \"Write\" --later\n"
            "  skein task create critic \"Look for gaps\" --part-of task-19beb43dddb3c47c "
            "--of-step 2 --later --json\n",
        .details =
            "Prints the task's id and works on it, unless --later or --owner user: then "
            "`skein task run` does. What\nthe task is about is part of the system prompt of "
            "every run on its thread. The task is done when\n`skein task complete` or the "
            "agent's tool complete_task says so, not when a run ends."};
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
        {.names = "--step",
         .value_name = "S",
         .help = "a step of the plan; may be given again",
         .set = into(steps_),
         .repeated = true},
        {.names = "--owner",
         .value_name = "O",
         .help = "who drives it: user, or the agent (default)",
         .set = into(task_.owner)},
        {.names = "--part-of",
         .value_name = "ID",
         .help = "the task that this one is a part of",
         .set = into(task_.parent_id)},
        {.names = "--of-step",
         .value_name = "N",
         .help = "the step of that task that is handed to this one",
         .set = into(parent_step_)},
        {.names = "--later", .help = "only note it down", .set = into(later_)}};
  }

  Outcome run(Context& context) override {
    SKEIN_ASSIGN_OR_FAIL(const OpenDesk desk, open_desk(context, IfMissing::kCreate));
    Tasks tasks = tasks_of(desk);
    for (const std::string& title : steps_) task_.steps.push_back({.title = title});
    if (parent_step_) task_.parent_step = static_cast<std::size_t>(*parent_step_);
    SKEIN_ASSIGN(const Task task, tasks.create(task_));
    if (later_ || task.owner == kUserOwner) {
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
  std::vector<std::string> steps_;
  std::optional<std::uint64_t> parent_step_;
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

// Rows of `task list` and `task history`: none, where there is no store yet.
Outcome print_tasks(Context& context, const TaskQuery& query) {
  SKEIN_ASSIGN_OR_FAIL(const Settings settings, context.settings());
  std::vector<TaskInfo> infos;
  if (store_exists(settings.store_url)) {
    SKEIN_ASSIGN_OR_FAIL(const OpenDesk desk, open_desk(context, IfMissing::kRefuse));
    SKEIN_ASSIGN(infos, tasks_of(desk).list(query));
  }
  Table table(context, {"ID", "STATUS", "AGENT", "OWNER", "STEPS", "THREAD",
                        query.which == WhichTasks::kEnded ? "ENDED" : "CREATED", "TASK"});
  for (const TaskInfo& info : infos) {
    const Task& task = info.task;
    const auto done = std::count_if(task.steps.begin(), task.steps.end(),
                                    [](const TaskStep& step) { return step.done; });
    table.add({task.id, to_string(info.status), task.agent_id, task.owner,
               task.steps.empty() ? "-" : fmt::format("{}/{}", done, task.steps.size()),
               task.thread.str() + (info.thread_gone ? " (gone)" : ""),
               context.style().time(query.which == WhichTasks::kEnded ? info.ended_at()
                                                                      : task.created_at),
               task.title.empty() ? task.text.substr(0, task.text.find('\n')) : task.title},
              to_json(info));
  }
  table.print();
  for (const TaskInfo& info : infos) {
    if (!info.problem.empty()) print_notice(info.problem);
  }
  return kExitDone;
}

class List : public Command {
 public:
  CommandInfo info() const override {
    return {.name = "list",
            .summary = "print tasks, the newest first",
            .examples =
                "  skein task list\n"
                "  skein task list --agent writer --limit 10 --json\n"
                "  skein task list --open\n",
            .details = "Those that were completed or cancelled alone: skein task history."};
  }
  std::vector<Argument> arguments() override {
    return {{.names = "--agent",
             .value_name = "A",
             .help = "only those of this agent",
             .set = into(agent_)},
            {.names = "--open", .help = "only those that have not ended", .set = into(open_)},
            {.names = "--limit",
             .value_name = "N",
             .help = "at most so many (default 50)",
             .set = into(limit_)}};
  }

  Outcome run(Context& context) override {
    if (limit_ == 0U) return wrong_usage("--limit must be at least 1");
    return print_tasks(context, {.agent_id = agent_,
                                 .limit = static_cast<std::size_t>(limit_.value_or(50)),
                                 .which = open_ ? WhichTasks::kOpen : WhichTasks::kAll});
  }

 private:
  std::optional<std::string> agent_;
  std::optional<std::uint64_t> limit_;
  bool open_ = false;
};

class History : public Command {
 public:
  CommandInfo info() const override {
    return {.name = "history",
            .summary = "print the tasks that were completed or cancelled, the last first",
            .examples =
                "  skein task history\n"
                "  skein task history --agent writer --limit 10 --json\n"};
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
    return print_tasks(context, {.agent_id = agent_,
                                 .limit = static_cast<std::size_t>(limit_.value_or(50)),
                                 .which = WhichTasks::kEnded});
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
  line("owner", task.owner);
  line("part of", task.parent_id);
  line("thread", task.thread.str() + (info.thread_gone ? " (gone)" : ""));
  line("created", task.created_at.str());
  line("completed", task.done_at.str());
  line("cancelled", task.cancelled_at.str());
  line("note", task.note);
  line("problem", info.problem);
  if (info.last_run) {
    line("last run", fmt::format("{} {}", info.last_run->id, to_string(info.last_run->status)));
    if (info.last_run->error) line("error", info.last_run->error->message);
  }
  text += "\n" + task.text + "\n";
  for (std::size_t i = 0; i < task.steps.size(); ++i) {
    const TaskStep& step = task.steps[i];
    text += fmt::format("{}  {}. [{}] {}{}\n", i == 0 ? "\n" : "", i + 1, step.done ? "x" : " ",
                        step.title, step.task_id.empty() ? "" : "  (" + step.task_id + ")");
    if (!step.details.empty()) text += "         " + step.details + "\n";
  }
  return text;
}

void print_task(Context& context, const TaskInfo& info) {
  if (context.json()) {
    context.out().write(to_json(info) + "\n");
  } else {
    context.out().write_stored(task_text(info));
  }
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
    print_task(context, info);
    return kExitDone;
  }

 private:
  std::string id_;
};

class Update : public Command {
 public:
  CommandInfo info() const override {
    return {.name = "update",
            .summary = "change a task, its steps or its owner",
            .examples =
                "  skein task update task-19beb43dddb3c47c --step \"Read the commits\" --step "
                "\"Write\"\n"
                "  skein task update task-19beb43dddb3c47c --done 1 --done 2\n"
                "  skein task update task-19beb43dddb3c47c --owner critic --json\n",
            .details =
                "--step replaces the whole plan; --done and --undone mark steps by number. With "
                "another agent as its\nowner the task goes on in a new thread of that agent, and "
                "the old thread is closed. A task that\nhas ended is not changed."};
  }
  std::vector<Argument> arguments() override {
    return {
        task_argument(id_),
        {.names = "--title", .value_name = "T", .help = "a short name", .set = into(change_.title)},
        {.names = "--text",
         .value_name = "TEXT",
         .help = "what is to be done",
         .set = into(change_.text)},
        {.names = "--owner",
         .value_name = "O",
         .help = "an agent, or user",
         .set = into(change_.owner)},
        {.names = "--step",
         .value_name = "S",
         .help = "a step of the new plan; may be given again",
         .set = into(steps_),
         .repeated = true},
        {.names = "--done",
         .value_name = "N",
         .help = "this step is done; may be given again",
         .set = into_numbers(change_.done_steps),
         .repeated = true},
        {.names = "--undone",
         .value_name = "N",
         .help = "this step is not done; may be given again",
         .set = into_numbers(change_.undone_steps),
         .repeated = true}};
  }

  Outcome run(Context& context) override {
    if (!steps_.empty()) change_.steps.emplace();
    for (const std::string& title : steps_) change_.steps->push_back({.title = title});
    if (!change_.title && !change_.text && !change_.owner && !change_.steps &&
        change_.done_steps.empty() && change_.undone_steps.empty()) {
      return wrong_usage(
          "nothing is to be changed: give --title, --text, --owner, --step, --done "
          "or --undone");
    }
    SKEIN_ASSIGN_OR_FAIL(const OpenDesk desk, open_desk(context, IfMissing::kRefuse));
    SKEIN_ASSIGN(const TaskInfo info, tasks_of(desk).update(id_, change_));
    print_task(context, info);
    return kExitDone;
  }

 private:
  std::string id_;
  TaskChange change_;
  std::vector<std::string> steps_;
};

class Complete : public Command {
 public:
  CommandInfo info() const override {
    return {.name = "complete",
            .summary = "complete a task",
            .examples =
                "  skein task complete task-19beb43dddb3c47c\n"
                "  skein task complete task-19beb43dddb3c47c --note \"Sent to the list\" --json\n",
            .details =
                "Closes its thread; `skein task history` lists it. A step of another task that was "
                "handed to it is done as well."};
  }
  std::vector<Argument> arguments() override {
    return {
        task_argument(id_),
        {.names = "--note", .value_name = "TEXT", .help = "how it was done", .set = into(note_)}};
  }

  Outcome run(Context& context) override {
    SKEIN_ASSIGN_OR_FAIL(const OpenDesk desk, open_desk(context, IfMissing::kRefuse));
    SKEIN_ASSIGN(const TaskInfo info, tasks_of(desk).complete(id_, note_));
    context.out().write(context.json() ? to_json(info) + "\n" : "completed " + id_ + "\n");
    return kExitDone;
  }

 private:
  std::string id_;
  std::string note_;
};

class Cancel : public Command {
 public:
  CommandInfo info() const override {
    return {.name = "cancel",
            .summary = "stop a task for good",
            .examples = "  skein task cancel task-19beb43dddb3c47c\n",
            .details =
                "Stops the run under way, in whatever process it is, and closes the thread; so it "
                "does with the tasks\nthat are parts of it. What was written stays."};
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
  group.commands.push_back(std::make_unique<History>());
  group.commands.push_back(std::make_unique<Show>());
  group.commands.push_back(std::make_unique<Update>());
  group.commands.push_back(std::make_unique<Complete>());
  group.commands.push_back(std::make_unique<Cancel>());
  return group;
}

}  // namespace skein
