#include "http/response.h"

#include <atomic>

#include "core/json_object.h"

namespace skein::http {
namespace {

int status_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalid:
      return 400;
    case ErrorCode::kNotFound:
      return 404;
    case ErrorCode::kConflict:
    case ErrorCode::kBusy:
    case ErrorCode::kFenced:
      return 409;
    case ErrorCode::kDamaged:
      return 500;
    case ErrorCode::kIo:
      return 503;
  }
  return 500;
}

struct Phrase {
  int status;
  std::string_view words;
};

constexpr Phrase kPhrases[] = {{100, "Continue"},
                               {200, "OK"},
                               {201, "Created"},
                               {202, "Accepted"},
                               {204, "No Content"},
                               {304, "Not Modified"},
                               {400, "Bad Request"},
                               {401, "Unauthorized"},
                               {403, "Forbidden"},
                               {404, "Not Found"},
                               {405, "Method Not Allowed"},
                               {406, "Not Acceptable"},
                               {408, "Request Timeout"},
                               {409, "Conflict"},
                               {411, "Length Required"},
                               {412, "Precondition Failed"},
                               {413, "Content Too Large"},
                               {414, "URI Too Long"},
                               {415, "Unsupported Media Type"},
                               {421, "Misdirected Request"},
                               {422, "Unprocessable Content"},
                               {428, "Precondition Required"},
                               {429, "Too Many Requests"},
                               {431, "Request Header Fields Too Large"},
                               {500, "Internal Server Error"},
                               {501, "Not Implemented"},
                               {503, "Service Unavailable"},
                               {504, "Gateway Timeout"},
                               {505, "HTTP Version Not Supported"}};

}  // namespace

Problem::Problem(Error error)
    : status(status_of(error.code)),
      code(to_string(error.code)),
      message(std::move(error.message)) {
  if (error.code == ErrorCode::kIo) headers.push_back({"Retry-After", "1"});
}

Problem stopping() {
  Problem problem(503, "stopping", "the server stops");
  problem.headers.push_back({"Retry-After", "1"});
  return problem;
}

struct Answer::State {
  explicit State(Give with) : give(std::move(with)) {}
  ~State() {
    if (!given.exchange(true)) {
      give(refuse(500, "internal", "the request was dropped without an answer"));
    }
  }

  const Give give;
  std::atomic<bool> given{false};
};

Answer::Answer(Give give) : state_(std::make_shared<State>(std::move(give))) {}

void Answer::operator()(Reply reply) const {
  if (!state_->given.exchange(true)) state_->give(std::move(reply));
}

Response text_response(int status, std::string_view content_type, std::string text) {
  Response response;
  response.status = status;
  response.header("Content-Type", std::string(content_type));
  response.body = share(std::move(text));
  return response;
}

Response json_response(int status, Bytes json) {
  Response response;
  response.status = status;
  response.header("Content-Type", "application/json");
  response.body = std::move(json);
  return response;
}

Response json_response(int status, std::string json) {
  return json_response(status, share(std::move(json)));
}

Response json_response(std::string json) { return json_response(200, std::move(json)); }

Response no_content() {
  Response response;
  response.status = 204;
  return response;
}

Response stream_response(std::unique_ptr<Stream> stream) {
  Response response;
  response.header("Content-Type", "text/event-stream").header("Cache-Control", "no-cache");
  // For proxies that would collect it first.
  response.header("X-Accel-Buffering", "no");
  response.stream = std::move(stream);
  return response;
}

Response answer_later(std::function<void(Answer answer)> start) {
  Response response;
  response.later = std::move(start);
  return response;
}

Response wait_for(Waiting waiting) {
  Response response;
  response.waiting = std::make_unique<Waiting>(std::move(waiting));
  return response;
}

std::string_view reason_phrase(int status) {
  for (const Phrase& phrase : kPhrases) {
    if (phrase.status == status) return phrase.words;
  }
  return "Status";
}

Response problem_response(const Problem& problem, std::string_view request_id) {
  Response response = text_response(problem.status, "application/problem+json",
                                    JsonObject()
                                        .add("type", "about:blank")
                                        .add("title", reason_phrase(problem.status))
                                        .add("status", static_cast<std::uint64_t>(problem.status))
                                        .add("code", problem.code)
                                        .add("detail", problem.message)
                                        .add("instance", request_id)
                                        .str());
  response.headers.insert(response.headers.end(), problem.headers.begin(), problem.headers.end());
  return response;
}

}  // namespace skein::http
