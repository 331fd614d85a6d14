// What handlers answer.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/http_client.h"
#include "http/stream.h"
#include "skein/error.h"

namespace skein::http {

// An answer that says what is wrong.
struct Problem {
  Problem(int with_status, std::string with_code, std::string with_message)
      : status(with_status), code(std::move(with_code)), message(std::move(with_message)) {}
  // kInvalid 400, kNotFound 404, kConflict 409, kBusy 409, kFenced 409, kDamaged 500, kIo 503.
  Problem(Error error);  // NOLINT(google-explicit-constructor): every error is a problem

  int status = 500;
  std::string code;     // a lower-case word for programs
  std::string message;  // names the rule and the value
  std::vector<HttpHeader> headers{};
};

// 503: the server stops.
Problem stopping();

struct Response;

// What a handler answers. SKEIN_TRY and SKEIN_ASSIGN work in functions that return it.
using Reply = tl::expected<Response, Problem>;

inline tl::unexpected<Problem> refuse(int status, std::string code, std::string message) {
  return tl::unexpected<Problem>(Problem(status, std::move(code), std::move(message)));
}

// Hands in an answer that was not there when the handler returned: once, from any thread, never
// waits. Copies of it are the same one. If all of them go without an answer, that is a 500.
class Answer {
 public:
  using Give = std::function<void(Reply)>;
  explicit Answer(Give give);
  void operator()(Reply reply) const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

// An answer that is looked for whenever a topic is woken, such as the end of a run.
struct Waiting {
  std::vector<Topic> topics;
  // On a thread of the pool, at first right away; never waits. Nothing: it is not there yet.
  std::function<tl::expected<std::optional<Response>, Problem>()> poll;
  // Nothing by then: `late` answers. 0: waits as long as the client does.
  std::chrono::milliseconds timeout{0};
  std::function<Reply()> late{};
  // The client went away. On a thread of the pool; may be absent.
  std::function<void()> abandoned{};
  // Nothing of the server's own work is waited for: when that stops, it is refused at once, and not
  // only after runs had their time.
  bool ends_at_once = false;
};

struct Response {
  int status = 200;
  std::vector<HttpHeader> headers{};  // Content-Type among them, where there is a body
  // One of these, or nothing:
  Bytes body{};
  std::unique_ptr<Stream> stream{};            // sent in chunks as text/event-stream
  std::function<void(Answer answer)> later{};  // called at once, by the handler's thread
  std::unique_ptr<Waiting> waiting{};

  Response& header(std::string name, std::string value) & {
    headers.push_back({std::move(name), std::move(value)});
    return *this;
  }
  Response&& header(std::string name, std::string value) && {
    headers.push_back({std::move(name), std::move(value)});
    return std::move(*this);
  }
};

// application/json
Response json_response(int status, std::string json);
Response json_response(std::string json);  // 200
Response json_response(int status, Bytes json);
Response text_response(int status, std::string_view content_type, std::string text);
Response no_content();  // 204
Response stream_response(std::unique_ptr<Stream> stream);
Response answer_later(std::function<void(Answer answer)> start);
Response wait_for(Waiting waiting);

// --- Errors ---

// application/problem+json: {"type":"about:blank","title":…,"status":…,"code":…,"detail":…,
// "instance": the request's id}
Response problem_response(const Problem& problem, std::string_view request_id);

// How a set of routes words its problems; for those whose clients know another server.
using ProblemWriter = std::function<Response(const Problem& problem, std::string_view request_id)>;

std::string_view reason_phrase(int status);

}  // namespace skein::http
