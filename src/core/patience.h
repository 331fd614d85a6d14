// How long it is worth waiting for somebody who may be about to come.
#pragma once

#include <algorithm>
#include <chrono>

namespace skein {

// Waiting in vain makes it shorter, and having waited for somebody longer. For one thread at a
// time.
class Patience {
 public:
  using Duration = std::chrono::steady_clock::duration;

  // The least is more than nothing, or nobody would ever come.
  constexpr Patience(Duration least, Duration most) : least_(least), most_(most), now_(most) {}

  Duration length() const { return now_; }
  void note(bool came) { now_ = came ? std::min(now_ * 2, most_) : std::max(now_ / 2, least_); }

 private:
  Duration least_;
  Duration most_;
  Duration now_;
};

}  // namespace skein
