#include "engine/api_stream.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "core/json_fields.h"
#include "core/pause.h"
#include "core/quote.h"
#include "core/redact.h"
#include "core/try.h"
#include "engine/ending.h"
#include "skein/engines.h"
#include "skein/ids.h"

namespace skein {
namespace {

using Milliseconds = std::chrono::milliseconds;

constexpr Milliseconds kLongestBackoff{30'000};
constexpr Milliseconds kLongestWait{120'000};  // that a provider may ask for
constexpr std::size_t kMaxErrorBytes = std::size_t{64} << 10;

bool is_transient(int status) {
  return status == 408 || status == 409 || status == 425 || status == 429 || status >= 500;
}

ErrorCode code_of(int status) {
  if (is_transient(status)) return ErrorCode::kBusy;
  return status == 404 ? ErrorCode::kNotFound : ErrorCode::kInvalid;
}

std::optional<double> to_number(const std::string* text) {
  if (text == nullptr) return std::nullopt;
  double number = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), number);
  if (error != std::errc() || end != text->data() + text->size() || !(number >= 0)) {
    return std::nullopt;
  }
  return std::min(number, 1e9);
}

// How long the provider wants us to wait, if it says so.
std::optional<Milliseconds> asked_wait(const HttpResponse& response) {
  if (const auto ms = to_number(response.header("retry-after-ms"))) {
    return Milliseconds(static_cast<std::int64_t>(*ms));
  }
  if (const auto seconds = to_number(response.header("retry-after"))) {
    return Milliseconds(static_cast<std::int64_t>(*seconds * 1000));
  }
  return std::nullopt;
}

// One try of a request.
class Attempt {
 public:
  Attempt(const ApiOptions& options, const ApiCall& call, StreamReader& reader)
      : options_(options), call_(call), reader_(reader), parser_(limits::kMaxStreamEventBytes) {}

  Result<void> run(HttpClient& client, const std::stop_token& stop) {
    HttpRequest request{.method = "POST",
                        .url = options_.base_url + call_.path,
                        .headers = call_.headers,
                        .body = call_.body,
                        .connect_timeout = options_.connect_timeout,
                        .idle_timeout = options_.idle_timeout,
                        .max_body_bytes = kMaxErrorBytes,
                        .on_piece = [this](const HttpResponse& head, std::string_view piece) {
                          return take(head, piece);
                        }};
    request.headers.push_back({"content-type", "application/json"});
    request.headers.push_back({"accept", "text/event-stream"});
    for (const HttpHeader& header : options_.headers) request.headers.push_back(header);
    auto response = client.send(request, stop);
    if (stop.stop_requested()) return turn_stopped();
    return judge(response);
  }

  // Whether the same request may fare better; and when, if the provider said so.
  bool worth_repeating() const { return transient_ && !reader_.has_told(); }
  const std::optional<Milliseconds>& asked_wait() const { return asked_; }

 private:
  bool take(const HttpResponse& head, std::string_view piece) {
    if (const std::string* type = head.header("content-type")) content_type_ = *type;
    received_ += piece.size();
    if (received_ > limits::kMaxStreamBytes) {
      result_ = fail(ErrorCode::kIo,
                     fmt::format("the response has more than {} bytes", limits::kMaxStreamBytes));
      return false;
    }
    auto fed = parser_.feed(piece, [this](const SseEvent& event) {
      result_ = reader_.take(event);
      events_ = true;
      return result_.has_value() && *result_;
    });
    if (!fed) result_ = tl::unexpected(std::move(fed).error());
    return result_.has_value() && *result_;
  }

  Result<void> judge(Result<HttpResponse>& response) {
    if (!result_) {
      transient_ = result_.error().code == ErrorCode::kBusy;
      return tl::unexpected(result_.error());
    }
    if (!*result_) return {};  // complete, whatever came of the connection
    if (!response) {
      // A timeout is not tried again: whoever waited that long need not wait that long once more.
      transient_ = response.error().code == ErrorCode::kIo;
      return fail(
          response.error().code == ErrorCode::kInvalid ? ErrorCode::kInvalid : ErrorCode::kIo,
          response.error().message);
    }
    if (!response->ok()) {
      transient_ = is_transient(response->status);
      asked_ = skein::asked_wait(*response);
      return fail(code_of(response->status),
                  fmt::format("{} answered {}: {}", options_.base_url, response->status,
                              provider_message(response->body)));
    }
    if (!events_) {
      return fail(ErrorCode::kIo, fmt::format("{} answered with {} instead of a stream of events",
                                              options_.base_url, quote(content_type_)));
    }
    transient_ = true;
    return fail(ErrorCode::kIo, options_.base_url + " cut its response off");
  }

  const ApiOptions& options_;
  const ApiCall& call_;
  StreamReader& reader_;
  SseParser parser_;
  Result<bool> result_ = true;
  std::string content_type_;
  std::size_t received_ = 0;
  bool events_ = false;
  bool transient_ = false;
  std::optional<Milliseconds> asked_;
};

// Providers like to repeat what they were sent.
void forget_key(std::string& message, const std::string& key) {
  for (auto at = message.find(key); !key.empty() && at != std::string::npos;
       at = message.find(key, at)) {
    message.replace(at, key.size(), "[key]");
  }
  redact_text(message);
}

}  // namespace

Milliseconds backoff(Milliseconds first, std::int64_t attempt, std::uint64_t random) {
  Milliseconds full = first;
  for (; attempt > 0 && full < kLongestBackoff; --attempt) full *= 2;
  full = std::min(full, kLongestBackoff);
  const auto half = full.count() / 2;
  return Milliseconds(full.count() -
                      static_cast<std::int64_t>(random % (static_cast<std::uint64_t>(half) + 1)));
}

Result<void> stream_response(HttpClient& client, const ApiOptions& options, const ApiCall& call,
                             const std::function<StreamReader&()>& begin,
                             const std::stop_token& stop) {
  for (std::int64_t tries = 0;; ++tries) {
    Attempt attempt(options, call, begin());
    auto done = attempt.run(client, stop);
    if (done) return done;
    if (stop.stop_requested()) return turn_stopped();
    forget_key(done.error().message, call.key);
    if (!attempt.worth_repeating() || tries >= options.retries) return done;
    const auto wait =
        attempt.asked_wait().value_or(backoff(options.retry_delay, tries, random_ids().next()));
    if (wait > kLongestWait) {
      done.error().message += fmt::format(" (it asks to wait {} s)",
                                          std::chrono::ceil<std::chrono::seconds>(wait).count());
      return done;
    }
    if (!pause_for(wait, stop)) return turn_stopped();
  }
}

Result<Json> event_object(const SseEvent& event) {
  auto object = Json::parse_object(event.data);
  if (object) return object;
  return fail(ErrorCode::kIo, "the stream has an event that is no JSON object: " +
                                  quote(event.data) + ": " + object.error().message);
}

std::string provider_message(std::string_view body) {
  constexpr std::size_t kMaxMessage = 500;
  const auto shown = [](std::string_view text) {
    return text.empty() ? std::string("(nothing)") : excerpt(text, kMaxMessage);
  };
  const auto object = Json::parse_object(body);
  if (!object) return shown(body);
  JsonFields fields(object->text());
  if (const auto text = fields.take_string("error")) return shown(*text);
  if (const auto error = fields.take_object("error")) {
    if (const auto text = JsonFields(*error).take_string("message")) return shown(*text);
    return shown(*error);
  }
  for (const char* name : {"message", "detail"}) {
    if (const auto text = fields.take_string(name)) return shown(*text);
  }
  return shown(object->text());
}

}  // namespace skein
