// Keeps SQLite from looking through its whole page cache at every commit.
#pragma once

#include <algorithm>

namespace skein {

// Up to which number there may be pages in a cache.
//
// When SQLite splits pages it sorts them by giving one of them, for a moment, a number far beyond
// the end of the file. Its own cache remembers that as the highest one that it ever had, and so
// takes every commit, which cuts it at the end of the file, for one that may have something to cut.
class HighestPage {
 public:
  void take(unsigned key) { highest_ = std::max(highest_, key); }

  void move(unsigned from, unsigned to) {
    if (from == away_) away_ = 0;
    if (to > highest_ && away_ == 0) {
      away_ = to;
    } else {
      take(to);
    }
  }

  // Whether there may be pages with this number or higher ones.
  bool reaches(unsigned limit) const { return highest_ >= limit || away_ >= limit; }

  // They are gone.
  void cut(unsigned limit) {
    const unsigned last = limit == 0 ? 0 : limit - 1;
    highest_ = std::min(highest_, last);
    if (away_ > last) away_ = 0;
  }

 private:
  unsigned highest_ = 0;
  unsigned away_ = 0;  // one that was moved beyond it, and not back yet; 0: none
};

// For all connections of the program, from the first that is opened; it has to be called before
// that, and does nothing otherwise.
void spare_page_cache();

}  // namespace skein
