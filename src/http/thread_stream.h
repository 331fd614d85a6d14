// The events of one thread as a stream: what there is from a place on, and then what comes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <list>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "http/stream.h"
#include "skein/store.h"

namespace skein::http {

// The newest frames of threads that are being read, each encoded once for all its readers.
// Thread-safe. Bounded by bytes: what is no longer in it is read from the store again.
class ThreadFrames {
 public:
  explicit ThreadFrames(Store& store, std::size_t max_bytes = std::size_t{32} << 20)
      : store_(store), max_bytes_(max_bytes) {}

  struct Read {
    std::vector<Bytes> frames;
    Seq last = 0;       // of these; or what was asked for, if there are none
    bool more = false;  // there may be
  };
  // Events after `after`, up to about `max_bytes` of them.
  Result<Read> read(ThreadId thread, Seq after, std::size_t max_bytes);

 private:
  struct Tail {
    Seq first = 0;  // seq of the first frame
    std::deque<Bytes> frames;
    std::size_t bytes = 0;
    std::list<ThreadId>::iterator used;
  };

  Read find(ThreadId thread, Seq after, std::size_t max_bytes);
  void keep(ThreadId thread, Seq first, const std::vector<Bytes>& frames);

  Store& store_;
  const std::size_t max_bytes_;
  std::mutex mutex_;  // protects all below
  std::unordered_map<ThreadId, Tail> tails_;
  std::list<ThreadId> used_;  // the latest first
  std::size_t bytes_ = 0;
};

// Frames "id: <seq>", "event: <type>", "data: <the event as JSON>"; ends when the thread is
// removed. Borrows the frames and the store.
std::unique_ptr<Stream> thread_stream(Store& store, ThreadFrames& frames, ThreadId thread,
                                      Seq after);

}  // namespace skein::http
