// Between the thread that does all I/O and the rest: a request as its head told it, and the
// connection that it came by.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/http_client.h"
#include "http/body_bytes.h"
#include "http/response.h"

namespace skein::http {

using SteadyTime = std::chrono::steady_clock::time_point;

struct Head {
  std::string method;
  std::string target;
  std::vector<HttpHeader> headers;
  std::optional<std::uint64_t> content_length;
  bool chunked = false;
  std::string remote;  // the client's address
};

// The connection of a request, for its answer. Used on the I/O thread only; after the client has
// gone its methods do nothing.
class Exchange {
 public:
  virtual ~Exchange() = default;
  // A whole answer. `close`: the last one of its connection.
  virtual void respond(const Response& response, bool close) = 0;
  // The head of a stream, whose frames follow.
  virtual void begin_stream(const Response& response, std::string_view heartbeat) = 0;
  // Call::taken() follows, once the client has them. `end`: the answer is complete with these.
  virtual void send_frames(std::vector<Bytes> frames, bool end) = 0;
  // The last words of a stream that is not complete: the connection is closed after them.
  virtual void cut_stream(Bytes last_words) = 0;
};

// A request under way, from its head to the end of its answer. On the I/O thread.
class Call {
 public:
  virtual ~Call() = default;
  // All of its body is there, and counts as long as the charge does.
  virtual void body(std::string body, BodyBytes::Charge charge) = 0;
  // Instead of body(): it does not come, or cannot be taken. Answers with that.
  virtual void refuse_with(const Problem& problem) = 0;
  // What send_frames() was given has been taken.
  virtual void taken() = 0;
  // The answer, all of it, went out or the client went away first.
  virtual void over(bool complete) = 0;
};

// What the connections hand requests to. On the I/O thread.
class Receiver {
 public:
  virtual ~Receiver() = default;
  // A head was read. The call goes on with its body, unless it answered already by `exchange`.
  virtual std::shared_ptr<Call> begin(Head head, std::shared_ptr<Exchange> exchange) = 0;
  // What could not be understood: an answer for it.
  virtual Response malformed(const Problem& problem) = 0;
  // Several times a second.
  virtual void tick(SteadyTime now) = 0;
};

// The thread that does all I/O.
class IoThread {
 public:
  virtual ~IoThread() = default;
  // From any thread; from its own it happens at once.
  virtual void post(std::function<void()> work) = 0;
  // Behind everything that waits there already, from whichever thread.
  virtual void post_behind(std::function<void()> work) = 0;
};

}  // namespace skein::http
