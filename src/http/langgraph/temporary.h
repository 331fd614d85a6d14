// Threads of runs that were asked for without a thread: they go when the run is over.
#pragma once

#include <chrono>
#include <deque>
#include <mutex>
#include <string>

#include "api/service.h"
#include "api/threads.h"

namespace skein::http {

// Thread-safe. Borrows the service.
class TemporaryThreads {
 public:
  explicit TemporaryThreads(Service& service) : service_(service) {}

  // The metadata that such a thread has, by which it is known after a restart.
  static constexpr std::string_view kMark = kTemporaryMark;

  void add(const Run& run);
  // Its answer was given: it goes at the next sweep. Others stay a while after the end of their
  // run, for clients that come again.
  void delivered(ThreadId thread);
  // Removes what is due; the first time also what an earlier process left.
  void sweep();
  static constexpr std::chrono::seconds kSweepEvery{5};

 private:
  struct Entry {
    ThreadId thread;
    std::string run_id;
    bool delivered = false;
  };
  bool is_due(const Entry& entry);
  void find_left();

  static constexpr std::chrono::seconds kStays{60};
  static constexpr std::size_t kMaxAtOnce = 64;

  Service& service_;
  std::mutex mutex_;  // protects all below
  std::deque<Entry> entries_;
  bool looked_ = false;
};

}  // namespace skein::http
