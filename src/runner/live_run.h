// A run that this process works on, or waits with: how it is stopped, and what listeners see of it.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "runner/run_book.h"
#include "skein/run.h"

namespace skein {

enum class StopReason {
  kNone,
  kUser,
  kTimeout,
  kFenced,   // the lease was taken over: nothing may be written any more
  kRefused,  // while it waited: `why` says what came between
};

// The right to work on a thread, and what was open on it at that moment.
struct Turn {
  LeaseToken token = 0;
  std::vector<OpenRun> open;
};

// Thread-safe.
class LiveRun {
 public:
  // `on_change` as in RunnerOptions.
  explicit LiveRun(Run run, std::function<void(ThreadId)> on_change = {})
      : id(run.id),
        thread(run.thread),
        multitask(run.multitask),
        resumes(run.question.has_value()),
        on_change_(std::move(on_change)),
        run_(std::move(run)) {}

  const std::string id;
  const ThreadId thread;
  const Multitask multitask;
  const bool resumes;  // it waits with its question, which stays open until its turn comes

  // --- Stopping; the first reason counts ---
  void stop(StopReason reason, std::optional<Error> why = std::nullopt);
  StopReason reason() const { return reason_.load(std::memory_order_acquire); }
  std::optional<Error> why() const;
  // Stopped by the user, it leaves behind what it wrote.
  std::atomic<bool> rolls_back{false};
  std::stop_token token() const { return stop_.get_token(); }

  // --- Its lease and its time, for whoever keeps watch; 0: none ---
  std::atomic<LeaseToken> lease{0};
  std::atomic<std::int64_t> renew_at_boot_ms{0};
  std::atomic<std::int64_t> deadline_boot_ms{0};

  // --- Waiting ---
  // What it waits with; 0: its entry is not written yet.
  std::atomic<Version> waiting_version{0};
  void grant(Turn turn);
  // Nothing: it was stopped first. A turn that came all the same is left to be given back.
  std::optional<Turn> wait_for_turn();
  // For one that was stopped, and needs it all the same. Nothing: it did not come in time, or
  // before `stop`.
  std::optional<Turn> wait_for_late_turn(std::chrono::milliseconds wait,
                                         const std::stop_token& stop);
  std::optional<Turn> take_unused_turn();

  // --- What listeners see ---
  struct View {
    Run run;
    Seq last_seq = 0;  // the last event of the run that is stored
    std::string text;  // since that event, from the offset asked for
    std::string thinking;
    std::uint64_t changes = 0;  // to wait for more
    bool ended = false;         // nothing will change any more
  };
  // Text before the offsets is left out, unless the run has stored an event after the one given.
  View view(Seq last_seq, std::size_t text_from, std::size_t thinking_from) const;
  // False: the time is over.
  bool wait_for_end(std::chrono::milliseconds wait) const;
  // Until something changed after that view, or a stop, or for so long.
  void wait_for_change(std::uint64_t changes, std::chrono::milliseconds wait,
                       const std::stop_token& stop) const;

  void tell_run(const Run& run);
  void tell_text(std::string_view piece);
  void tell_thinking(std::string_view piece);
  void tell_stored(Seq seq);
  // The last word; `run` is as stored.
  void tell_end(const Run& run);

 private:
  void changed();  // with mutex_ held

  const std::function<void(ThreadId)> on_change_;
  std::stop_source stop_;
  std::atomic<StopReason> reason_{StopReason::kNone};

  mutable std::mutex mutex_;
  mutable std::condition_variable_any changed_;
  // Under mutex_:
  std::optional<Error> why_;
  std::optional<Turn> turn_;
  Run run_;
  Seq last_seq_ = 0;
  std::string text_;
  std::string thinking_;
  std::uint64_t changes_ = 1;
  bool ended_ = false;
};

}  // namespace skein
