// One request under way.
#pragma once

#include <atomic>
#include <exception>
#include <memory>
#include <string>

#include "http/front.h"

namespace skein::http {

// Lives as long as anybody works on it. What is not said to be otherwise is the I/O thread's.
class RequestCall final : public Call, public std::enable_shared_from_this<RequestCall> {
 public:
  RequestCall(Front& front, std::shared_ptr<Exchange> exchange);
  ~RequestCall() override;

  void body(std::string body, BodyBytes::Charge charge) override;
  void refuse_with(const Problem& problem) override;
  void taken() override;
  void over(bool complete) override;

  // Any thread, once: the answer, or a promise of one.
  void answer(Reply reply);
  // Right away.
  void respond(Response response);

  // The server stops: a stream is cut, and with `waiting` too what is waited for is answered.
  void end(bool waiting);
  // Its key counts no more: a stream is cut, and what is waited for is not told.
  void lock_out();
  // What is waited for may have waited long enough.
  void look_at_time(SteadyTime now);
  void tell_frames(std::vector<Bytes> frames, bool ended);
  // Any thread: whatever was thrown while it was worked on, as its answer.
  Problem failed(const std::exception& error) const;

  Request request;
  std::optional<Matched> matched;
  SteadyTime started = std::chrono::steady_clock::now();
  std::string remote;
  std::optional<std::string> origin;
  std::vector<HttpHeader> cors;
  bool counts_as_stream = false;

 private:
  bool answers_at_once() const;
  void run_on_a_thread();
  void run();                                // pool
  Reply handle();                            // pool
  tl::expected<void, Problem> find_agent();  // pool
  void begin_stream(Response response);
  void begin_waiting(std::unique_ptr<Waiting> waiting);
  void begin_lasting();
  void leave_desk();
  void tell_abandoned(std::shared_ptr<Stream> stream, std::shared_ptr<Waiting> waiting);

  Front& front_;
  const std::shared_ptr<std::atomic<std::size_t>> under_way_;
  std::shared_ptr<Exchange> exchange_;  // none: it is over
  BodyBytes::Charge charge_;            // for the request's body
  bool begun_ = false;                  // all of it came
  bool answered_ = false;
  bool late_ = false;  // the time of what is waited for is over
  std::shared_ptr<Stream> stream_;
  std::shared_ptr<Waiting> waiting_;
  std::optional<std::stop_source> gone_;  // of what lasts
  std::shared_ptr<StreamDesk::Place> place_;
};

}  // namespace skein::http
