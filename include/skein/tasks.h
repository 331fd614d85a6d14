// Tasks: something that an agent is to get done, in a thread of its own.
//
// A task is a record that is bound to one thread, whose manifest names it (taskId). Runs of the
// task are runs on that thread, so that there are never two at once: a second one is refused, not
// queued. What the task is about, and its steps, are part of the system prompt of each of them.
//
// A run that ends well does not end the task. It is done when somebody says so: a person, or its
// agent with the tool complete_task.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "skein/clock.h"
#include "skein/error.h"
#include "skein/ids.h"
#include "skein/limits.h"
#include "skein/record_signer.h"
#include "skein/runner.h"
#include "skein/store.h"

namespace skein {

namespace limits {
inline constexpr std::size_t kMaxTaskTextBytes = std::size_t{256} << 10;
inline constexpr std::size_t kMaxTaskTitleBytes = 200;
inline constexpr std::size_t kMaxTaskSteps = 200;
inline constexpr std::size_t kMaxTaskStepTitleBytes = 200;
inline constexpr std::size_t kMaxTaskStepDetailsBytes = std::size_t{4} << 10;
inline constexpr std::size_t kMaxTaskNoteBytes = std::size_t{4} << 10;
}  // namespace limits

// The owner of a task that a person has to do.
inline constexpr std::string_view kUserOwner = "user";

// A part of a task's plan.
struct TaskStep {
  std::string title;
  std::string details{};  // empty: none
  bool done = false;
  std::string task_id{};  // the task that it was handed to; empty: none

  friend bool operator==(const TaskStep&, const TaskStep&) = default;
};

struct Task {
  std::string id;  // "task-" and 16 hex digits that grow with time
  std::string agent_id;
  ThreadId thread;
  std::string owner;  // who drives it: its agent, or kUserOwner
  std::string title;  // empty: none
  std::string text;   // what is to be done
  std::vector<TaskStep> steps;
  std::string parent_id;  // the task that it is a part of; empty: none
  Timestamp created_at;
  Timestamp updated_at;
  Timestamp done_at;       // unset: it is not
  Timestamp cancelled_at;  // unset: it is not
  std::string note;        // said with its end; empty: nothing
  // Version 0.1 wrote it, where a good run ended a task: until it is changed, it still does.
  bool done_by_run = false;

  bool ended() const { return done_at.is_set() || cancelled_at.is_set(); }
  Timestamp ended_at() const { return done_at.is_set() ? done_at : cancelled_at; }
};

// Where a task stands: by its record when it has ended, else by its last run.
enum class TaskStatus {
  kOpen,         // nobody works on it now, and it is not done
  kRunning,      // or about to
  kDone,         // somebody said so
  kFailed,       // the last run: with an error, or out of time
  kWaiting,      // for a person's yes
  kInterrupted,  // the last run was stopped
  kCancelled,
};
const char* to_string(TaskStatus status);

struct TaskInfo {
  Task task;
  TaskStatus status = TaskStatus::kOpen;
  std::optional<Run> last_run{};
  bool thread_gone = false;  // somebody removed it
  std::string problem{};     // why it cannot be worked on, and what to do; empty: nothing is wrong

  // When it ended; for a task of version 0.1 that a good run ended, the end of that run.
  Timestamp ended_at() const {
    return task.ended() || !last_run ? task.ended_at() : last_run->ended_at;
  }
};

struct NewTask {
  std::string agent_id;
  std::string text;
  std::string title{};
  std::string owner{};  // the agent, or kUserOwner; empty: the agent
  std::vector<TaskStep> steps{};
  std::string parent_id{};                   // empty: none
  std::optional<std::size_t> parent_step{};  // from 1: the step that is handed to this task
};

// What is given replaces what is there.
struct TaskChange {
  std::optional<std::string> title{};
  std::optional<std::string> text{};
  // Another agent: the task goes on in a thread of that agent's. kUserOwner: it stays where it is,
  // and is not run until an agent owns it again.
  std::optional<std::string> owner{};
  std::optional<std::vector<TaskStep>> steps{};
  std::vector<std::size_t> done_steps{};    // from 1
  std::vector<std::size_t> undone_steps{};  // from 1
};

enum class WhichTasks { kAll, kOpen, kEnded };

struct TaskQuery {
  std::optional<std::string> agent_id{};
  std::size_t limit = 50;
  WhichTasks which = WhichTasks::kAll;
};

// Thread-safe. Borrows its arguments.
class Tasks {
 public:
  // Without a signer every task counts.
  Tasks(Store& store, Runner& runner, AgentSource& agents, Clock& clock, IdSource& ids,
        std::shared_ptr<const RecordSigner> signer = nullptr)
      : store_(store),
        runner_(runner),
        agents_(agents),
        clock_(clock),
        ids_(ids),
        signer_(std::move(signer)) {}

  // Makes the thread and the record, and starts nothing. kNotFound: there is no such agent. Makes
  // no thread where the record cannot be signed.
  Result<Task> create(const NewTask& task);

  // Newest first; with kEnded, those that ended last.
  Result<std::vector<TaskInfo>> list(const TaskQuery& query = {});
  // kNotFound.
  Result<TaskInfo> show(std::string_view id);

  // What to ask a runner for, to work on the task: with `text`, or with what the task is about when
  // nobody worked on it yet, or else going on with what the thread has. kConflict: it has ended,
  // it is a person's, its record is not signed, or its thread is gone. The runner says kBusy while
  // a run is under way.
  Result<RunRequest> request(std::string_view id, std::string_view text = {});

  // kConflict: it has ended, its record is not signed, or a run is under way and the owner is to
  // change. kInvalid: a limit, or a step that is not there.
  Result<TaskInfo> update(std::string_view id, const TaskChange& change);

  // It is done: nothing runs for it again, and its thread is closed. The run under way goes on to
  // its end. The step of another task that was handed to it is done as well. Completing again
  // changes nothing; kConflict: it was cancelled.
  Result<TaskInfo> complete(std::string_view id, std::string_view note = {});

  // Stops the run under way and closes the thread: nothing runs on it again. Tasks that are parts
  // of it are cancelled too. A task that was cancelled stays as it is, and so does one that was
  // not signed. kConflict: it is done.
  Result<TaskInfo> cancel(std::string_view id);

 private:
  Result<TaskInfo> info_of(const Record& record, Task task);
  // Writes the task as `edit` leaves it; false: as it is. Signed only if it was.
  Result<void> change(std::string_view id,
                      const std::function<Result<bool>(Task&, bool signs)>& edit);
  Result<void> check_parent(const NewTask& wanted);
  Result<ThreadId> make_thread(const Task& task, const std::string& agent_id);
  Result<TaskInfo> cancel_one(std::string_view id);
  Result<void> close_thread(const TaskInfo& info, std::string_view resolution);

  Store& store_;
  Runner& runner_;
  AgentSource& agents_;
  Clock& clock_;
  IdSource& ids_;
  const std::shared_ptr<const RecordSigner> signer_;
};

// What the system prompt of a run on the task's thread says of it; empty, when there is no such
// task any more, or its record does not count.
Result<std::string> task_context(Store& store, std::string_view task_id,
                                 const RecordSigner* signer = nullptr);

// One JSON object on one line.
std::string to_json(const TaskInfo& info);

}  // namespace skein
