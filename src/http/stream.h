// Answers that go on: server-sent events, and what one waits for.
//
// Neither holds a thread. A stream is asked for what there is (pull), and asked again when one of
// its topics was woken and its reader has taken what it got before. So a slow reader delays nobody,
// and nothing is queued for it: it goes on from its own cursor. One that takes nothing for too long
// is dropped.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/wakes.h"
#include "skein/error.h"

namespace skein::http {

// Bytes that many readers share.
using Bytes = std::shared_ptr<const std::string>;

Bytes share(std::string bytes);

// One server-sent event. `id` empty: none, so that a reader that comes again goes on from the
// durable one before. `data` may have line feeds.
std::string sse_frame(std::string_view event, std::string_view data, std::string_view id = {});

class Stream {
 public:
  virtual ~Stream() = default;

  // What it is about: pulled again when one of these is woken. Asked for once.
  virtual std::vector<Topic> topics() const = 0;

  // For what no topic tells. Called once, before the first pull: `wake` has this pulled again, from
  // any thread and at any time, also when it is over.
  virtual void on_wake(std::function<void()> wake) { (void)wake; }

  struct Pulled {
    std::vector<Bytes> frames;  // in order; empty: nothing yet
    bool more = false;          // there is more already: pull again as soon as these are taken
    bool ended = false;         // nothing will follow
  };
  // What there is now, up to about `max_bytes`. On a thread of the pool, one at a time; may read
  // the store, but never waits for something to happen. An error is told to the reader as an event
  // "error" with a problem as its data, and ends the stream.
  virtual Result<Pulled> pull(std::size_t max_bytes) = 0;

  // Told to the reader when the server stops; afterwards the connection is closed without the end
  // of the answer, so that clients come again. Empty: nothing is told.
  virtual std::string farewell() const { return ": the server stops\n\n"; }

  // The reader went away before the end. On a thread of the pool.
  virtual void abandoned() {}

  // Told instead of frames when nothing was sent for a while.
  virtual std::string_view heartbeat() const { return ": \n\n"; }
};

}  // namespace skein::http
