#include "skein/runner.h"

#include <algorithm>
#include <condition_variable>
#include <map>
#include <mutex>
#include <utility>

#include "core/pause.h"
#include "core/try.h"
#include "core/worker_threads.h"
#include "runner/accept.h"
#include "runner/begun_run.h"
#include "runner/cancel.h"
#include "runner/keeper.h"
#include "runner/opening.h"
#include "runner/parts.h"
#include "runner/process.h"
#include "runner/recovery.h"
#include "runner/run_codec.h"
#include "runner/run_ids.h"
#include "runner/run_input.h"
#include "runner/run_stream.h"
#include "runner/run_work.h"
#include "store/record_access.h"

namespace skein {
namespace {

constexpr std::chrono::seconds kLetsGo{1};

RunnerOptions with_defaults(RunnerOptions options) {
  if (options.clock == nullptr) options.clock = &system_clock();
  if (options.ids == nullptr) options.ids = &random_ids();
  options.lease = std::clamp(options.lease, std::chrono::milliseconds(10),
                             std::chrono::milliseconds(limits::kMaxLeaseMs));
  return options;
}

}  // namespace

class Runner::Impl {
 public:
  Impl(Store& store, AgentSource& agents, RunnerOptions options)
      : options_(with_defaults(std::move(options))),
        ids_(*options_.clock, *options_.ids),
        book_(store, *options_.clock, name_this_process(*options_.clock, *options_.ids),
              options_.signer),
        turns_(store, book_, options_.lease),
        effects_(store, agents, book_, options_),
        parts_{store, agents, *options_.clock, options_, book_, turns_, effects_},
        keeper_(parts_, [this] { return live_runs(); }) {}

  ~Impl();
  void close(std::chrono::milliseconds grace);

  // A run that was taken on: it has its turn, or waits for it.
  struct Accepted {
    std::shared_ptr<LiveRun> live;
    Run run;
    RunRequest request{};               // of a new run
    std::optional<RunAnswer> answer{};  // of one that is resumed
    std::vector<std::string> roll_back{};
    std::optional<Opening> opening{};
    std::optional<Turn> turn{};
  };

  Result<Accepted> accept(const RunRequest& request);
  Result<Accepted> accept_resume(std::string_view run_id, const RunAnswer& answer);
  Result<RunOutcome> work(Accepted accepted, const RunCallbacks& callbacks,
                          const std::stop_token& stop);
  // The same on a thread of its own; see Runner::start.
  Result<Run> start(Accepted accepted, RunCallbacks callbacks);
  Result<bool> cancel(std::string_view run_id, const CancelOptions& options = {});
  Result<Run> wait(std::string_view run_id, const std::stop_token& stop);

  std::shared_ptr<LiveRun> find_live(std::string_view run_id);
  const RunnerParts& parts() const { return parts_; }

 private:
  std::vector<std::shared_ptr<LiveRun>> live_runs();
  Result<std::shared_ptr<LiveRun>> take_on(const Run& run);
  void let_go(const LiveRun& run);
  void prepare_opening(Accepted& accepted, const Manifest& thread,
                       const std::vector<OpenRun>& open);
  Result<void> join_queue(Accepted& accepted, bool has_entry);
  Result<std::vector<std::string>> stop_others(const std::vector<OpenRun>& open);
  // Once others can see it: stops those that came before it and that it did not see, or itself for
  // one that came after it.
  void settle_with_others(LiveRun& live);
  Result<RunOutcome> end_waiting(Accepted& accepted, const RunCallbacks& callbacks);

  const RunnerOptions options_;
  RunIds ids_;
  RunBook book_;
  Turns turns_;
  Effects effects_;
  const RunnerParts parts_;

  std::mutex mutex_;
  std::condition_variable changed_;
  // Under mutex_:
  std::map<std::string, std::shared_ptr<LiveRun>, std::less<>> live_;
  std::size_t started_ = 0;  // by start(), and not yet over
  bool closing_ = false;

  std::stop_source grace_over_;
  Keeper keeper_;
  WorkerThreads workers_;  // last: they use the others
};

Runner::Impl::~Impl() { close(std::chrono::milliseconds(0)); }

void Runner::Impl::close(std::chrono::milliseconds grace) {
  std::unique_lock lock(mutex_);
  closing_ = true;
  changed_.wait_for(lock, grace, [&] { return live_.empty(); });
  const auto live = live_;
  lock.unlock();
  grace_over_.request_stop();
  // The latest first: a run that ends lets the next one of its thread begin, unless it was stopped.
  for (auto run = live.rbegin(); run != live.rend(); ++run) run->second->stop(StopReason::kUser);
  lock.lock();
  changed_.wait(lock, [&] { return live_.empty() && started_ == 0; });
}

std::vector<std::shared_ptr<LiveRun>> Runner::Impl::live_runs() {
  const std::lock_guard lock(mutex_);
  std::vector<std::shared_ptr<LiveRun>> runs;
  runs.reserve(live_.size());
  for (const auto& [id, run] : live_) runs.push_back(run);
  return runs;
}

std::shared_ptr<LiveRun> Runner::Impl::find_live(std::string_view run_id) {
  const std::lock_guard lock(mutex_);
  const auto found = live_.find(run_id);
  return found == live_.end() ? nullptr : found->second;
}

Result<std::shared_ptr<LiveRun>> Runner::Impl::take_on(const Run& run) {
  auto live = std::make_shared<LiveRun>(run, options_.on_change);
  const std::lock_guard lock(mutex_);
  if (closing_) return fail(ErrorCode::kBusy, "the runner is closing");
  if (live_.size() >= limits::kMaxLiveRuns) {
    return fail(ErrorCode::kBusy,
                "at most " + std::to_string(limits::kMaxLiveRuns) + " runs at once in one process");
  }
  std::shared_ptr<LiveRun>& place = live_[run.id];
  if (place && !place->wait_for_end({})) {
    return fail(ErrorCode::kConflict, "run " + run.id + " is under way");
  }
  place = live;
  return live;
}

void Runner::Impl::let_go(const LiveRun& run) {
  const std::lock_guard lock(mutex_);
  if (const auto found = live_.find(run.id); found != live_.end() && found->second.get() == &run) {
    live_.erase(found);
  }
  if (closing_) changed_.notify_all();
}

Result<Runner::Impl::Accepted> Runner::Impl::accept(const RunRequest& request) {
  SKEIN_TRY(check_request(request));
  SKEIN_TRY(parts_.agents.check(request.agent_id));
  if (request.thread_id.empty()) SKEIN_TRY(check_signer(options_.signer.get()));
  SKEIN_ASSIGN(const Manifest thread, thread_for(parts_.store, request));
  SKEIN_ASSIGN(const auto open, book_.open_of(thread.id));
  SKEIN_TRY(book_.check_signed(open));
  Run run;
  run.id = ids_.next(thread.id);
  run.thread = thread.id;
  run.agent_id = request.agent_id;
  run.multitask = request.multitask;
  run.created_at = parts_.clock.now();
  run.chain = request.chain;
  run.parent_run = request.parent_run;
  run.metadata = request.metadata;
  run.kwargs = request.kwargs;
  run.input = input_json(request.input);
  std::vector<std::string> stopped;
  if (stops_others(request.multitask)) {
    SKEIN_ASSIGN(stopped, stop_others(open));
  }
  if (request.multitask != Multitask::kRollback) stopped.clear();
  SKEIN_ASSIGN(auto live, take_on(run));
  Accepted accepted{.live = std::move(live),
                    .run = std::move(run),
                    .request = request,
                    .roll_back = std::move(stopped)};
  prepare_opening(accepted, thread, open);
  SKEIN_TRY(join_queue(accepted, false));
  if (stops_others(request.multitask) && !accepted.turn) settle_with_others(*accepted.live);
  return accepted;
}

Result<Runner::Impl::Accepted> Runner::Impl::accept_resume(std::string_view run_id,
                                                           const RunAnswer& answer) {
  SKEIN_ASSIGN(auto known, book_.find_known(run_id));
  if (!known) return tl::unexpected(no_such_run(run_id));
  Run* const run = &known->run;
  SKEIN_TRY(check_answer(*run, answer));
  SKEIN_ASSIGN(const auto entries, book_.open_of(run->thread));
  const auto open = std::find_if(entries.begin(), entries.end(),
                                 [&](const OpenRun& entry) { return entry.run_id == run_id; });
  if (open == entries.end() || open->state != OpenRun::State::kQuestion) {
    return tl::unexpected(no_open_question(*run));
  }
  if (!known->counts || !open->counts) return tl::unexpected(book_.inert(run_id));
  SKEIN_TRY(book_.check_signed(entries));
  SKEIN_TRY(parts_.agents.check(run->agent_id));
  // What it asked is stored a moment before it is over here.
  if (const auto before = find_live(run_id)) before->wait_for_end(kLetsGo);
  SKEIN_ASSIGN(auto live, take_on(*run));
  live->waiting_version = open->version;
  Accepted accepted{.live = std::move(live), .run = std::move(*run), .answer = answer};
  SKEIN_TRY(join_queue(accepted, true));
  return accepted;
}

void Runner::Impl::prepare_opening(Accepted& accepted, const Manifest& thread,
                                   const std::vector<OpenRun>& open) {
  if (!Opening::fits(accepted.request, thread, open)) return;
  accepted.opening.emplace(book_, thread, accepted.run, accepted.request.input.messages.front(),
                           parts_.clock.now());
}

Result<void> Runner::Impl::join_queue(Accepted& accepted, bool has_entry) {
  keeper_.wake();  // from here on there is something to watch over
  const bool may_wait = accepted.request.multitask != Multitask::kReject;
  auto turn =
      turns_.enter(accepted.live, may_wait, accepted.opening ? &*accepted.opening : nullptr);
  if (!turn) {
    let_go(*accepted.live);
    return tl::unexpected(std::move(turn).error());
  }
  accepted.turn = std::move(*turn);
  if (accepted.turn || has_entry) return {};
  auto pending = book_.put_pending(accepted.run, options_.lease);
  if (!pending) {
    accepted.live->stop(StopReason::kRefused, pending.error());
    turns_.withdraw(*accepted.live);
    let_go(*accepted.live);
    return tl::unexpected(std::move(pending).error());
  }
  accepted.live->waiting_version = *pending;
  return {};
}

// Those under way and those that wait, in every process.
Result<std::vector<std::string>> Runner::Impl::stop_others(const std::vector<OpenRun>& open) {
  std::vector<std::string> stopped;
  for (const OpenRun& entry : open) {
    if (!entry.at_work()) continue;
    SKEIN_TRY(cancel(entry.run_id));
    stopped.push_back(entry.run_id);
  }
  return stopped;
}

// Each writes its entry before it looks, so of two that come at once at least one sees the other;
// the later one goes on.
void Runner::Impl::settle_with_others(LiveRun& live) {
  const auto open = book_.open_of(live.thread);
  if (!open) return parts_.log("run " + live.id + ": " + open.error().message);
  for (const OpenRun& entry : *open) {
    if (!entry.at_work() || !entry.counts || entry.run_id == live.id) continue;
    if (entry.run_id < live.id) {
      if (const auto stopped = cancel(entry.run_id); !stopped) {
        parts_.log("run " + entry.run_id + ": " + stopped.error().message);
      }
    } else if (const auto later = book_.find(entry.run_id);
               later && *later && stops_others((*later)->multitask)) {
      live.stop(StopReason::kUser);
    }
  }
}

Result<RunOutcome> Runner::Impl::work(Accepted accepted, const RunCallbacks& given,
                                      const std::stop_token& stop) {
  LiveRun& live = *accepted.live;
  RunCallbacks callbacks = given;
  if (!accepted.answer && stops_others(accepted.request.multitask)) {
    callbacks.on_start = [&](const Run& run) {
      settle_with_others(live);
      if (given.on_start) given.on_start(run);
    };
  }
  Result<RunOutcome> outcome = [&]() -> Result<RunOutcome> {
    const std::stop_callback stop_by_caller(stop, [&] { live.stop(StopReason::kUser); });
    if (!accepted.turn) accepted.turn = live.wait_for_turn();
    if (!accepted.turn) return end_waiting(accepted, callbacks);
    RunWork work(parts_, live, callbacks, accepted.run, std::move(*accepted.turn));
    return accepted.answer ? work.resume(*accepted.answer)
                           : work.run(accepted.request, accepted.roll_back, accepted.opening);
  }();
  let_go(live);
  return outcome;
}

// Stopped before its turn came: nothing of it is in the thread. Those that were stopped for it are
// taken back all the same, when they have ended.
Result<RunOutcome> Runner::Impl::end_waiting(Accepted& accepted, const RunCallbacks& callbacks) {
  LiveRun& live = *accepted.live;
  if (live.reason() == StopReason::kUser && !accepted.roll_back.empty()) {
    if (auto turn = live.wait_for_late_turn(options_.lease, grace_over_.get_token())) {
      RunWork work(parts_, live, callbacks, accepted.run, std::move(*turn));
      return work.only_roll_back(accepted.roll_back);
    }
  }
  turns_.withdraw(live);
  Run& run = accepted.run;
  run.status = RunStatus::kInterrupted;
  run.error = live.why();
  if (!accepted.answer) {
    run.ended_at = parts_.clock.now();
    if (auto closed = book_.close_waiting(run); !closed) {
      parts_.log("run " + run.id + ": " + closed.error().message);
    }
  }
  live.tell_end(run);
  if (run.error) return tl::unexpected(*run.error);
  return RunOutcome{.run = run, .response = ""};
}

Result<Run> Runner::Impl::start(Accepted accepted, RunCallbacks callbacks) {
  const bool waits = !accepted.turn;
  const Run pending = accepted.run;
  auto start = std::make_shared<BegunRun>();
  callbacks.on_start = [start, then = std::move(callbacks.on_start)](const Run& run) {
    start->tell(run);
    if (then) then(run);
  };
  {
    const std::lock_guard lock(mutex_);
    ++started_;
  }
  auto job = std::make_shared<std::pair<Accepted, RunCallbacks>>(std::move(accepted),
                                                                 std::move(callbacks));
  workers_.start([this, start, job]() mutable {
    auto outcome = work(std::move(job->first), job->second, {});
    if (outcome) {
      start->tell(std::move(outcome->run));
    } else {
      start->tell(tl::unexpected(std::move(outcome).error()));
    }
    job.reset();  // what the callbacks hold goes before the runner does
    const std::lock_guard lock(mutex_);
    --started_;
    if (closing_) changed_.notify_all();
  });
  return waits ? pending : start->wait();
}

Result<bool> Runner::Impl::cancel(std::string_view run_id, const CancelOptions& options) {
  SKEIN_TRY(thread_of_run(run_id));
  const auto live = find_live(run_id);
  if (!live) return cancel_elsewhere(parts_, run_id, options);
  // In the store for whoever has to close it, if this process dies first, and for a run that has
  // decided how it ends.
  Result<bool> asked = true;
  if (options.roll_back) asked = book_.ask_to_roll_back(run_id);
  if (asked && !*asked) {
    SKEIN_ASSIGN(const auto run, book_.find(run_id));
    // A run that waits may have seen the request and ended, without having written anything.
    const bool stopped = run && run->status == RunStatus::kInterrupted && run->first_seq == 0;
    if (run && run->ended() && !stopped) return had_ended(*run, options);
  }
  if (options.roll_back) live->rolls_back = true;
  live->stop(StopReason::kUser);
  SKEIN_TRY(asked);
  return true;
}

Result<Run> Runner::Impl::wait(std::string_view run_id, const std::stop_token& stop) {
  const auto live = find_live(run_id);
  while (live && !stop.stop_requested()) {
    LiveRun::View view = live->view(kLastSeq, 0, 0);
    if (view.ended) return std::move(view.run);
    live->wait_for_change(view.changes, std::chrono::seconds(1), stop);
  }
  while (true) {
    SKEIN_ASSIGN(auto known, book_.find_known(run_id));
    if (!known) return tl::unexpected(no_such_run(run_id));
    if (known->run.ended() || stop.stop_requested()) return std::move(known->run);
    if (!known->counts) return tl::unexpected(book_.inert(run_id));  // nobody will end it
    pause_for(options_.look_up, stop);
  }
}

// --- What callers see ---

RunRequest run_request(std::string_view agent_id, std::string_view thread_id,
                       std::string_view text) {
  RunRequest request;
  request.agent_id = agent_id;
  request.thread_id = thread_id;
  request.input.messages.push_back({.role = Role::kUser, .text = std::string(text)});
  return request;
}

Runner::Runner(Store& store, AgentSource& agents, RunnerOptions options)
    : impl_(std::make_shared<Impl>(store, agents, std::move(options))) {}

Runner::~Runner() = default;

Result<RunOutcome> Runner::execute(const RunRequest& request, const RunCallbacks& callbacks,
                                   std::stop_token stop) {
  SKEIN_ASSIGN(auto accepted, impl_->accept(request));
  return impl_->work(std::move(accepted), callbacks, stop);
}

Result<Run> Runner::start(const RunRequest& request, RunCallbacks callbacks) {
  SKEIN_ASSIGN(auto accepted, impl_->accept(request));
  return impl_->start(std::move(accepted), std::move(callbacks));
}

Result<RunOutcome> Runner::resume(std::string_view run_id, const RunAnswer& answer,
                                  const RunCallbacks& callbacks, std::stop_token stop) {
  SKEIN_ASSIGN(auto accepted, impl_->accept_resume(run_id, answer));
  return impl_->work(std::move(accepted), callbacks, stop);
}

Result<Run> Runner::start_resume(std::string_view run_id, const RunAnswer& answer,
                                 RunCallbacks callbacks) {
  SKEIN_ASSIGN(auto accepted, impl_->accept_resume(run_id, answer));
  return impl_->start(std::move(accepted), std::move(callbacks));
}

Result<bool> Runner::cancel(std::string_view run_id, const CancelOptions& options) {
  return impl_->cancel(run_id, options);
}

Result<Run> Runner::wait(std::string_view run_id, std::stop_token stop) {
  return impl_->wait(run_id, stop);
}

Result<Run> Runner::get(std::string_view run_id) {
  SKEIN_ASSIGN(auto run, impl_->parts().book.find(run_id));
  if (!run) return tl::unexpected(no_such_run(run_id));
  return std::move(*run);
}

Result<Run> Runner::latest(std::string_view run_id) {
  if (const auto live = impl_->find_live(run_id)) {
    LiveRun::View view = live->view(kLastSeq, 0, 0);
    if (!view.ended) return std::move(view.run);
  }
  return get(run_id);
}

Result<std::vector<Run>> Runner::list(const RunQuery& query) {
  return impl_->parts().book.list(query);
}

Result<std::unique_ptr<RunStream>> Runner::join(std::string_view run_id,
                                                std::string_view position) {
  return open_run_stream(impl_->parts().store, impl_->parts().book, impl_->find_live(run_id),
                         run_id, position);
}

Result<Recovered> Runner::recover() { return recover_all(impl_->parts()); }

void Runner::close(std::chrono::milliseconds grace) { impl_->close(grace); }

void Runner::finish_effects() { impl_->parts().effects.finish(); }

}  // namespace skein
