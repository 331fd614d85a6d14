// Triggers: agents that run on a schedule, each time in a new thread.
//
// A trigger is a record; whoever serves the store runs what is due (Scheduler). Any number of
// servers may do that on one store: each firing is claimed by a record before anything is started,
// so that it happens once. What was due while nobody served is not made up for, except the latest
// when that was a moment ago; it is counted and reported as missed.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "skein/clock.h"
#include "skein/error.h"
#include "skein/ids.h"
#include "skein/record_signer.h"
#include "skein/runner.h"
#include "skein/store.h"

namespace skein {

namespace limits {
inline constexpr std::size_t kMaxTriggers = 1000;
inline constexpr std::size_t kMaxTriggerTextBytes = std::size_t{256} << 10;
inline constexpr std::size_t kMaxTriggerNameBytes = 100;
inline constexpr std::size_t kMaxTriggerKwargsBytes = std::size_t{64} << 10;
inline constexpr std::uint64_t kMaxKeptFirings = 1000;      // of one trigger
inline constexpr std::uint64_t kMaxCountedMissed = 10'000;  // at once; beyond it "at least"
}  // namespace limits

struct Trigger {
  std::string id;    // "trigger-" and 16 hex digits that grow with time
  std::string name;  // for people; empty: none
  std::string agent_id;
  std::string text;  // what the agent is told, as a message of the user
  std::string cron;  // docs/tasks-and-triggers.md says what may stand there
  std::string zone;  // "Europe/Berlin"
  Json kwargs;       // of each run: RunRequest::kwargs
  Multitask multitask = Multitask::kEnqueue;  // in the records of the runs; new threads are free
  bool enabled = true;                        // false: it is never due
  Timestamp created_at;
  // When its schedule was changed or it was enabled last; what was due before then does not count.
  // Unset: never.
  Timestamp since;
};

struct NewTrigger {
  std::string agent_id;
  std::string cron;
  std::string text;    // not blank
  std::string zone{};  // empty: system_zone()
  std::string name{};
  Json kwargs{};  // an object, or absent
  Multitask multitask = Multitask::kEnqueue;
  bool enabled = true;
};

// What is given replaces what is there.
struct TriggerChange {
  std::optional<std::string> cron{};
  std::optional<std::string> zone{};
  std::optional<std::string> text{};
  std::optional<std::string> name{};
  std::optional<bool> enabled{};

  bool empty() const { return !cron && !zone && !text && !name && !enabled; }
};

// The time zone of this process: TZ, else that of /etc/localtime or /etc/timezone, else "UTC".
// kInvalid: TZ is set to something that is no name of a zone, such as "CET-1CEST".
Result<std::string> system_zone();

// What became of the latest moment that was dealt with.
enum class FiringStatus {
  kClaimed,  // about to be started; long ago: whoever claimed it died before it could
  kStarted,
  kFailed,  // could not be started
  kMissed,  // nobody served
};
const char* to_string(FiringStatus status);

struct Firing {
  Timestamp at;  // when it was due
  FiringStatus status = FiringStatus::kClaimed;
  std::string run_id{};
  std::string thread_id{};
  std::string error{};
  std::uint64_t started = 0;  // firings of the trigger so far, this one included
  std::uint64_t missed = 0;   // of the trigger so far
};

struct TriggerInfo {
  Trigger trigger;
  std::optional<Timestamp> next{};  // nothing: never again, or not while it is disabled
  std::optional<Firing> last{};
  // Due and not dealt with: nobody serves the store, or was just about to.
  std::uint64_t overdue = 0;
  // Why it can never be due, such as a time zone that is gone, or a record that is not signed.
  std::string problem{};
};

// Thread-safe. Borrows its arguments.
class Triggers {
 public:
  // Without a signer every trigger counts.
  Triggers(Store& store, Clock& clock, IdSource& ids,
           std::shared_ptr<const RecordSigner> signer = nullptr)
      : store_(store), clock_(clock), ids_(ids), signer_(std::move(signer)) {}

  // kInvalid: the expression, the zone, or a limit. Whether there is such an agent is for the
  // caller to check; it may come and go.
  Result<Trigger> add(const NewTrigger& trigger);
  // Oldest first.
  Result<std::vector<TriggerInfo>> list();
  // kNotFound.
  Result<TriggerInfo> show(std::string_view id);
  // Checked as a new trigger is. What was due under the old schedule, or while it was disabled, is
  // not made up for. kNotFound. kConflict: its record is not signed; disabling works all the same.
  Result<Trigger> update(std::string_view id, const TriggerChange& change);
  // With the records of its firings; their threads and runs stay. kNotFound.
  Result<Trigger> remove(std::string_view id);

 private:
  Store& store_;
  Clock& clock_;
  IdSource& ids_;
  const std::shared_ptr<const RecordSigner> signer_;
};

struct SchedulerOptions {
  Clock* clock = nullptr;  // borrowed; none: system_clock()
  // How late a firing may be and still happen.
  std::chrono::milliseconds grace{300'000};
  // How soon a trigger that was added elsewhere is noticed.
  std::chrono::milliseconds look_up{5'000};
  std::string holder{};  // who claims, for people
  // Triggers that it does not verify never fire. None: all of them count.
  std::shared_ptr<const RecordSigner> signer{};
  std::function<void(std::string_view)> log{};
};

// Runs what is due. One thread at a time; several may serve one store, each with its own.
class Scheduler {
 public:
  // Starts a run and returns when its record is durable (Runner::start).
  using Start = std::function<Result<Run>(const RunRequest& request)>;

  Scheduler(Store& store, Start start, SchedulerOptions options = {});
  ~Scheduler();
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;

  // Deals with everything that is due, and answers when the next thing is; nothing: never. What is
  // wrong with one trigger is logged, and does not keep the others.
  Result<std::optional<Timestamp>> tick();

  // Ticks whenever something is due, until the stop.
  void run(const std::stop_token& stop);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

// One JSON object on one line.
std::string to_json(const TriggerInfo& info);

}  // namespace skein
