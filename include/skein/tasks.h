// Tasks: something that an agent is to get done, in a thread of its own.
//
// A task is a record that is bound to one thread, whose manifest names it (taskId). Runs of the
// task are runs on that thread, so that there are never two at once: a second one is refused, not
// queued. What the task is about is part of the system prompt of each of them.
#pragma once

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
}  // namespace limits

struct Task {
  std::string id;  // "task-" and 16 hex digits that grow with time
  std::string agent_id;
  ThreadId thread;
  std::string title;  // empty: none
  std::string text;   // what is to be done
  Timestamp created_at;
  Timestamp cancelled_at;  // unset: it is not
};

// Where a task stands, by its last run.
enum class TaskStatus {
  kOpen,         // there was no run yet
  kRunning,      // or about to
  kDone,         // the last run ended well
  kFailed,       // with an error, or out of time
  kWaiting,      // for a person's yes
  kInterrupted,  // was stopped
  kCancelled,
};
const char* to_string(TaskStatus status);

struct TaskInfo {
  Task task;
  TaskStatus status = TaskStatus::kOpen;
  std::optional<Run> last_run{};
  bool thread_gone = false;  // somebody removed it
  std::string problem{};     // why it cannot be worked on, and what to do; empty: nothing is wrong
};

struct NewTask {
  std::string agent_id;
  std::string text;
  std::string title{};
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

  // Makes the thread and the record, and starts nothing. kNotFound: there is no such agent.
  Result<Task> create(const NewTask& task);

  // Newest first.
  Result<std::vector<TaskInfo>> list(const std::optional<std::string>& agent_id = std::nullopt,
                                     std::size_t limit = 50);
  // kNotFound.
  Result<TaskInfo> show(std::string_view id);

  // What to ask a runner for, to work on the task: with `text`, or with what the task is about when
  // nobody worked on it yet, or else going on with what the thread has. kConflict: it was
  // cancelled, its record is not signed, or its thread is gone. The runner says kBusy while a run
  // is under way.
  Result<RunRequest> request(std::string_view id, std::string_view text = {});

  // Stops the run under way and closes the thread: nothing runs on it again. A task that was
  // cancelled stays as it is, and so does one that was not signed.
  Result<TaskInfo> cancel(std::string_view id);

 private:
  Result<TaskInfo> info_of(const Record& record, Task task);

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
