#include "runner/live_run.h"

#include <algorithm>
#include <utility>

namespace skein {
namespace {

// What nobody stores is kept within a bound; listeners that came too late miss the rest of it.
constexpr std::size_t kMaxPartialBytes = std::size_t{8} << 20;

std::string rest_of(const std::string& text, std::size_t from) {
  return text.substr(std::min(from, text.size()));
}

void append_within_bound(std::string& text, std::string_view piece) {
  if (text.size() + piece.size() <= kMaxPartialBytes) text += piece;
}

}  // namespace

void LiveRun::stop(StopReason reason, std::optional<Error> why) {
  StopReason none = StopReason::kNone;
  {
    const std::lock_guard lock(mutex_);
    if (!reason_.compare_exchange_strong(none, reason)) return;
    why_ = std::move(why);
    changed();
  }
  stop_.request_stop();
}

std::optional<Error> LiveRun::why() const {
  const std::lock_guard lock(mutex_);
  return why_;
}

void LiveRun::grant(Turn turn) {
  const std::lock_guard lock(mutex_);
  turn_ = std::move(turn);
  changed();
}

std::optional<Turn> LiveRun::wait_for_turn() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return turn_ || reason() != StopReason::kNone; });
  if (reason() != StopReason::kNone) return std::nullopt;
  return std::exchange(turn_, std::nullopt);
}

std::optional<Turn> LiveRun::wait_for_late_turn(std::chrono::milliseconds wait,
                                                const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, stop, wait, [&] { return turn_.has_value(); });
  return std::exchange(turn_, std::nullopt);
}

std::optional<Turn> LiveRun::take_unused_turn() {
  const std::lock_guard lock(mutex_);
  return std::exchange(turn_, std::nullopt);
}

LiveRun::View LiveRun::view(Seq last_seq, std::size_t text_from, std::size_t thinking_from) const {
  const std::lock_guard lock(mutex_);
  const bool same = last_seq >= last_seq_;
  return {.run = run_,
          .last_seq = last_seq_,
          .text = rest_of(text_, same ? text_from : 0),
          .thinking = rest_of(thinking_, same ? thinking_from : 0),
          .changes = changes_,
          .ended = ended_};
}

bool LiveRun::wait_for_end(std::chrono::milliseconds wait) const {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, wait, [&] { return ended_; });
}

void LiveRun::wait_for_change(std::uint64_t changes, std::chrono::milliseconds wait,
                              const std::stop_token& stop) const {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, stop, wait, [&] { return changes_ != changes; });
}

void LiveRun::tell_run(const Run& run) {
  const std::lock_guard lock(mutex_);
  run_ = run;
  changed();
}

void LiveRun::tell_text(std::string_view piece) {
  const std::lock_guard lock(mutex_);
  append_within_bound(text_, piece);
  changed();
}

void LiveRun::tell_thinking(std::string_view piece) {
  const std::lock_guard lock(mutex_);
  append_within_bound(thinking_, piece);
  changed();
}

void LiveRun::tell_stored(Seq seq) {
  const std::lock_guard lock(mutex_);
  last_seq_ = std::max(last_seq_, seq);
  text_.clear();
  thinking_.clear();
  changed();
}

void LiveRun::tell_end(const Run& run) {
  const std::lock_guard lock(mutex_);
  run_ = run;
  ended_ = true;
  changed();
}

void LiveRun::changed() {
  ++changes_;
  changed_.notify_all();
  if (on_change_) on_change_(thread);
}

}  // namespace skein
