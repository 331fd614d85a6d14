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
    bool gone = false;  // the thread: nothing will ever come
  };
  // Before a reader begins, with the manifest's version as it is now: frames of another thread that
  // had this id, or of one that was put back with other contents, are forgotten.
  void open(ThreadId thread, Version version);
  // Events after `after`, up to about `max_bytes` of them; all that was told by Wakes until now.
  Result<Read> read(ThreadId thread, Seq after, std::size_t max_bytes);

 private:
  struct Tail {
    Version version = 0;  // of the manifest when the last reader began
    Seq first = 0;        // seq of the first frame, or of the next event; 0: nothing was read yet
    std::deque<Bytes> frames;
    // Of Wakes: the store has no more than this, as far as was told then.
    std::uint64_t complete = 0;
    std::list<ThreadId>::iterator used;
  };
  using Tails = std::unordered_map<ThreadId, Tail>;

  // What is kept; true: there is no more to be read from the store.
  bool find(ThreadId thread, std::uint64_t generation, std::size_t max_bytes, Read& read);
  // `complete`: the store has no more than that, as of the generation.
  void keep(ThreadId thread, Seq first, const Read& read, bool complete, std::uint64_t generation);
  // With mutex_ held:
  Tail& tail_of(ThreadId thread);
  void forget(Tails::iterator tail);
  void drop_oldest();

  Store& store_;
  const std::size_t max_bytes_;
  std::mutex mutex_;  // protects all below
  Tails tails_;
  std::list<ThreadId> used_;  // the latest first
  std::size_t bytes_ = 0;
};

// Frames "id: <seq>", "event: <type>", "data: <the event as JSON>"; ends when the thread is
// removed. Borrows the frames.
std::unique_ptr<Stream> thread_stream(ThreadFrames& frames, const Manifest& thread, Seq after);

}  // namespace skein::http
