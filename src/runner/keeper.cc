#include "runner/keeper.h"

#include <algorithm>
#include <atomic>
#include <system_error>
#include <utility>

#include "core/json_fields.h"

namespace skein {
namespace {

using namespace std::chrono_literals;

constexpr std::chrono::milliseconds kLookAtStatus = 100ms;
constexpr std::size_t kRenewers = 8;  // helpers when many are due, so that they share flushes
constexpr std::size_t kWorthHelpers = 4;
constexpr std::int64_t kOldRequestMs = 60'000;

}  // namespace

Keeper::Keeper(RunnerParts parts, LiveRuns live)
    : parts_(parts),
      live_(std::move(live)),
      watcher_([this](const std::stop_token& stop) {
        keep(stop, parts_.options.look_up, &Keeper::watch);
      }),
      renewer_([this](const std::stop_token& stop) {
        keep(stop, std::max(5ms, parts_.options.lease / 10), &Keeper::renew);
      }) {}

Keeper::~Keeper() {
  watcher_.request_stop();
  renewer_.request_stop();
}

void Keeper::wake() {
  if (idle_ == 0) return;
  const std::lock_guard lock(mutex_);
  woken_.notify_all();
}

void Keeper::keep(const std::stop_token& stop, std::chrono::milliseconds pause, Look look) {
  std::vector<std::shared_ptr<LiveRun>> live;
  while (!stop.stop_requested()) {
    {
      std::unique_lock lock(mutex_);
      live = live_();
      if (live.empty()) {
        ++idle_;
        woken_.wait(lock, stop, [&] { return !(live = live_()).empty(); });
        --idle_;
        continue;
      }
    }
    (this->*look)(live);
    live.clear();
    std::unique_lock lock(mutex_);
    woken_.wait_for(lock, stop, pause, [] { return false; });
  }
}

void Keeper::watch(const std::vector<std::shared_ptr<LiveRun>>& live) {
  hear_stop_requests(live);
  end_late_ones(live);
  parts_.turns.look();
  care_for_waiting();
}

void Keeper::hear_stop_requests(const std::vector<std::shared_ptr<LiveRun>>& live) {
  const auto requests = parts_.book.stop_requests();
  if (!requests) return;
  for (const Record& request : *requests) {
    JsonFields fields(request.bytes);
    const std::string run_id = fields.take_string("runId").value_or("");
    const bool roll_back = fields.take_bool("rollBack").value_or(false);
    const Timestamp at = fields.take_time("at").value_or(Timestamp{0});
    const auto here =
        std::find_if(live.begin(), live.end(), [&](const auto& run) { return run->id == run_id; });
    if (here != live.end()) {
      if (roll_back) (*here)->rolls_back = true;
      (*here)->stop(StopReason::kUser);
    }
    const bool done = here != live.end() ? !roll_back : is_too_late(run_id, roll_back, at);
    if (!done) continue;
    if (auto gone = parts_.book.forget_stop_request(request); !gone) {
      parts_.log("request to stop run " + run_id + ": " + gone.error().message);
    }
  }
}

// Or nobody is there to hear it, and whoever closes the run has no use for it.
bool Keeper::is_too_late(std::string_view run_id, bool roll_back, Timestamp asked_at) const {
  if (parts_.clock.now().ms() - asked_at.ms() <= kOldRequestMs) return false;
  if (!roll_back) return true;
  const auto open = parts_.book.find_open(run_id);
  return open && !(*open && (*open)->at_work());
}

void Keeper::end_late_ones(const std::vector<std::shared_ptr<LiveRun>>& live) {
  const std::int64_t now = parts_.clock.boot_ms();
  for (const auto& run : live) {
    const std::int64_t deadline = run->deadline_boot_ms;
    if (deadline != 0 && now >= deadline) run->stop(StopReason::kTimeout);
  }
}

void Keeper::care_for_waiting() {
  const std::int64_t now = parts_.clock.boot_ms();
  if (now < waiting_due_boot_ms_) return;
  waiting_due_boot_ms_ = now + kLookAtStatus.count();
  const bool promise = now >= promise_due_boot_ms_;
  if (promise) promise_due_boot_ms_ = now + parts_.options.lease.count() / 3;
  for (const auto& [thread, runs] : parts_.turns.waiting()) {
    const auto manifest = parts_.store.get(thread);
    if (manifest && (!*manifest || (*manifest)->status != ThreadStatus::kActive)) {
      const std::string status = *manifest ? to_string((*manifest)->status) : "gone";
      for (const auto& run : runs) {
        run->stop(StopReason::kRefused,
                  Error{ErrorCode::kConflict, "thread " + thread.str() + " is " + status +
                                                  "; only an active thread takes runs"});
      }
      continue;
    }
    for (const auto& run : runs) {
      Version version = run->waiting_version;
      if (!promise || version == 0 || run->resumes) continue;
      const Run record = run->view(0, 0, 0).run;
      const auto renewed = parts_.book.renew_pending(record, version, parts_.options.lease);
      // What closed it meanwhile is noticed when its turn comes; and one that began meanwhile waits
      // with nothing any more.
      if (renewed) run->waiting_version.compare_exchange_strong(version, *renewed);
    }
  }
}

void Keeper::renew(const std::vector<std::shared_ptr<LiveRun>>& live) {
  const std::int64_t now = parts_.clock.boot_ms();
  std::vector<LiveRun*> due;
  for (const auto& run : live) {
    if (run->lease != 0 && run->renew_at_boot_ms <= now) due.push_back(run.get());
  }
  std::atomic<std::size_t> next{0};
  const auto help = [&] {
    for (std::size_t i = next++; i < due.size(); i = next++) renew_one(*due[i]);
  };
  std::vector<std::jthread> helpers;
  if (due.size() > kWorthHelpers) {
    try {
      for (std::size_t i = 1; i < std::min(kRenewers, due.size()); ++i) helpers.emplace_back(help);
    } catch (const std::system_error&) {  // fewer will do
    }
  }
  help();
}

void Keeper::renew_one(LiveRun& run) {
  const LeaseToken token = run.lease;
  if (token == 0) return;
  const auto renewed = parts_.turns.renew(run.thread, token);
  if (renewed) {
    run.renew_at_boot_ms = parts_.clock.boot_ms() + parts_.options.lease.count() / 3;
    return;
  }
  // It may have ended while this was under way; then its lease is not lost but given back.
  if (renewed.error().code == ErrorCode::kFenced && run.lease == token) {
    run.stop(StopReason::kFenced, renewed.error());
  } else if (renewed.error().code != ErrorCode::kFenced) {
    parts_.log("lease of thread " + run.thread.str() + ": " + renewed.error().message);
  }
}

}  // namespace skein
