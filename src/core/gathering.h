// For how many a batch waits before it starts, and how long.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>

#include "core/patience.h"

namespace skein {

// When several write at once, those that were just answered may be about to come back: as many as
// took part last time, and those that waited then. Waiting for them at most half the time that a
// batch takes keeps them from falling into groups that flush in turn. Some take their time before
// they come back: when nobody comes for as long as the patience lasts, it is enough, and waiting in
// vain makes it shorter. For one thread at a time.
class Gathering {
 public:
  using Clock = std::chrono::steady_clock;

  std::size_t expected() const { return expected_; }
  Clock::duration patience() const { return patience_.length(); }
  Clock::time_point until(Clock::time_point start) const {
    return start + std::min<Clock::duration>(typical_ / 2, kLongest);
  }

  // After each batch: how many took part, and how many came too late for it.
  void note(std::size_t took_part, std::size_t too_late, Clock::duration took) {
    expected_ = took_part + too_late;
    typical_ = (typical_ * 3 + took) / 4;
  }
  // After each waiting: whether anybody came.
  void note_waiting(bool came) { patience_.note(came); }

 private:
  static constexpr std::chrono::microseconds kMostPatience{200};
  static constexpr std::chrono::microseconds kLeastPatience{10};
  // However long batches took of late: one that was slow must not make the next wait for nobody.
  static constexpr std::chrono::milliseconds kLongest{10};

  std::size_t expected_ = 1;
  Clock::duration typical_{0};
  Patience patience_{kLeastPatience, kMostPatience};
};

}  // namespace skein
