#include "rpc/http_channel.h"

#include <algorithm>
#include <utility>

#include "core/json.h"
#include "core/pause.h"
#include "core/quote.h"
#include "core/try.h"
#include "rpc/mcp_protocol.h"

namespace skein {
namespace {

using namespace std::chrono_literals;
using SteadyClock = std::chrono::steady_clock;

constexpr auto kShortTime = 10s;  // for what needs no work of the server
constexpr auto kFarewellTime = 2s;
constexpr auto kDefaultRetry = 1s;
constexpr auto kMaxRetry = 60s;
constexpr int kMaxTakeUps = 20;  // of one stream
constexpr const char* kSessionHeader = "Mcp-Session-Id";
constexpr const char* kVersionHeader = "MCP-Protocol-Version";

bool is_stream(const HttpResponse& head) {
  const std::string* type = head.header("content-type");
  return type != nullptr && type->starts_with("text/event-stream");
}

bool is_visible_ascii(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c > 0x20 && c < 0x7F; });
}

}  // namespace

// What came for one call so far.
class HttpChannel::Answer {
 public:
  Answer(HttpChannel& channel, const RpcCall& call) : channel_(channel), call_(call) {}

  // False: the answer is here, or nothing good will come.
  bool take(const HttpResponse& head, std::string_view piece) {
    channel_.keep_session(head);
    if (!is_stream(head)) {
      body_ += piece;
      if (body_.size() <= limits::kMaxRpcBytes) return true;
      outcome_ = fail(ErrorCode::kInvalid, "its answer has more than " +
                                               std::to_string(limits::kMaxRpcBytes) + " bytes");
      return false;
    }
    const auto more = parser_->feed(piece, [this](const SseEvent& event) {
      if (!event.data.empty()) take_messages(event.data);  // an empty one only has an id
      return !outcome_.has_value();
    });
    if (!more) outcome_ = tl::unexpected(more.error());
    return !outcome_.has_value();
  }

  // Of an answer that came as a whole.
  void end_body() {
    if (!outcome_ && !body_.empty()) take_messages(body_);
    body_.clear();
  }

  std::optional<Result<RpcResponse>>& outcome() { return outcome_; }
  const SseParser& stream() const { return *parser_; }
  // A new connection begins a line anew.
  void begin_stream() { parser_.emplace(limits::kMaxRpcBytes); }

 private:
  void take_messages(std::string_view text) {
    for (auto& message : parse_rpc_batch(text)) {
      if (!message) {
        if (!outcome_) {
          outcome_ = fail(ErrorCode::kInvalid,
                          "its answer is malformed: " + message.error().error.message);
        }
      } else if (auto* response = std::get_if<RpcResponse>(&*message)) {
        if (same_rpc_id(response->id, call_.request.id)) outcome_ = std::move(*response);
      } else if (const auto* request = std::get_if<RpcRequest>(&*message)) {
        // A server that does not take an answer will say so by its own.
        static_cast<void>(
            channel_.post(rpc_line(channel_.inbox_.on_request(*request)), call_.stop));
      } else {
        channel_.inbox_.on_notification(std::get<RpcNotification>(*message));
      }
    }
  }

  HttpChannel& channel_;
  const RpcCall& call_;
  std::optional<SseParser> parser_{limits::kMaxRpcBytes};
  std::string body_;
  std::optional<Result<RpcResponse>> outcome_;
};

HttpChannel::HttpChannel(HttpClient& client, std::string url, std::vector<HttpHeader> headers,
                         RpcInbox inbox)
    : client_(client),
      url_(std::move(url)),
      headers_(std::move(headers)),
      inbox_(std::move(inbox)) {}

HttpChannel::~HttpChannel() {
  if (session().empty()) return;
  HttpRequest request = request_for("DELETE", {});
  request.connect_timeout = request.idle_timeout = request.total_timeout = kFarewellTime;
  static_cast<void>(client_.send(request));
}

HttpRequest HttpChannel::request_for(const char* method, const std::string& body) const {
  HttpRequest request;
  request.method = method;
  request.url = url_;
  request.body = body;
  request.headers = headers_;
  if (!body.empty()) request.headers.push_back({"Content-Type", "application/json"});
  request.headers.push_back({"Accept", "application/json, text/event-stream"});
  const std::lock_guard lock(mutex_);
  if (!version_.empty()) request.headers.push_back({kVersionHeader, version_});
  if (!session_.empty()) request.headers.push_back({kSessionHeader, session_});
  return request;
}

std::string HttpChannel::session() const {
  const std::lock_guard lock(mutex_);
  return session_;
}

void HttpChannel::keep_session(const HttpResponse& response) {
  const std::string* given = response.header(kSessionHeader);
  if (given == nullptr || given->empty() || !is_visible_ascii(*given)) return;
  const std::lock_guard lock(mutex_);
  if (!is_modern(version_)) session_ = *given;
}

void HttpChannel::set_version(const std::string& version) {
  const std::lock_guard lock(mutex_);
  version_ = version;
}

bool HttpChannel::takes_cancellation() const {
  const std::lock_guard lock(mutex_);
  return !is_modern(version_);
}

Result<void> HttpChannel::alive() {
  const std::lock_guard lock(mutex_);
  if (session_over_) return fail(ErrorCode::kNotFound, "its session has ended");
  return {};
}

Result<void> HttpChannel::post(const std::string& line, std::stop_token stop) {
  HttpRequest request = request_for("POST", line);
  request.total_timeout = kShortTime;
  SKEIN_ASSIGN(const HttpResponse response, client_.send(request, std::move(stop)));
  if (response.ok()) return {};
  return fail(ErrorCode::kInvalid, "HTTP status " + std::to_string(response.status));
}

Result<void> HttpChannel::notify(const RpcNotification& notification) {
  return post(rpc_line(notification), {});
}

Result<HttpResponse> HttpChannel::exchange(HttpRequest request, const RpcCall& call,
                                           Answer& answer) {
  request.idle_timeout = call.idle;
  request.total_timeout = std::chrono::ceil<std::chrono::milliseconds>(
      std::max<SteadyClock::duration>(call.end - SteadyClock::now(), 1ms));
  request.on_piece = [&answer](const HttpResponse& head, std::string_view piece) {
    return answer.take(head, piece);
  };
  auto response = client_.send(request, call.stop);
  if (call.stop.stop_requested()) return fail(ErrorCode::kConflict, "stopped");
  return response;
}

Result<RpcResponse> HttpChannel::call(const RpcCall& call) {
  Answer answer(*this, call);
  HttpRequest request = request_for("POST", rpc_line(call.request));
  for (const HttpHeader& header : call.headers) request.headers.push_back(header);
  const auto response = exchange(std::move(request), call, answer);
  if (answer.outcome()) return std::move(*answer.outcome());
  if (response) return conclude(call, answer, *response);
  if (response.error().code == ErrorCode::kIo && !answer.stream().last_id().empty()) {
    return take_up(call, answer);
  }
  return tl::unexpected(response.error());
}

Result<RpcResponse> HttpChannel::conclude(const RpcCall& call, Answer& answer,
                                          const HttpResponse& response) {
  keep_session(response);
  if (!response.ok()) return refused(response);
  answer.end_body();
  if (answer.outcome()) return std::move(*answer.outcome());
  if (!is_stream(response)) {
    return fail(ErrorCode::kInvalid,
                "HTTP status " + std::to_string(response.status) + " came without an answer");
  }
  return take_up(call, answer);
}

Result<RpcResponse> HttpChannel::refused(const HttpResponse& response) {
  const std::string status = "HTTP status " + std::to_string(response.status);
  auto message = parse_rpc(response.body);
  if (auto* error = message ? std::get_if<RpcResponse>(&*message) : nullptr) {
    const bool modern = !error->outcome && is_modern_error(error->outcome.error().code);
    if (response.status != 404 || modern || session().empty()) return std::move(*error);
  }
  if (response.status == 404 && !session().empty()) {
    const std::lock_guard lock(mutex_);
    session_over_ = true;
    session_.clear();
    return fail(ErrorCode::kNotFound, "its session has ended");
  }
  const bool overloaded = response.status == 429 || response.status == 502 ||
                          response.status == 503 || response.status == 504;
  const std::string said = response.body.empty() ? "" : ": " + quote(trim_json(response.body), 200);
  return fail(overloaded ? ErrorCode::kBusy : ErrorCode::kInvalid, status + said);
}

Result<RpcResponse> HttpChannel::take_up(const RpcCall& call, Answer& answer) {
  std::string last_id = answer.stream().last_id();
  std::chrono::milliseconds pause = kDefaultRetry;
  for (int i = 0; i < kMaxTakeUps && !last_id.empty() && takes_cancellation(); ++i) {
    pause = std::min<std::chrono::milliseconds>(answer.stream().retry().value_or(pause), kMaxRetry);
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(call.end - SteadyClock::now());
    if (!pause_for(std::min(pause, left), call.stop)) {
      return fail(ErrorCode::kConflict, "stopped");
    }
    if (SteadyClock::now() >= call.end) return fail(ErrorCode::kBusy, "no answer in time");
    HttpRequest request = request_for("GET", {});
    request.headers.push_back({"Last-Event-ID", last_id});
    answer.begin_stream();
    const auto response = exchange(std::move(request), call, answer);
    if (answer.outcome()) return std::move(*answer.outcome());
    if (!response && response.error().code != ErrorCode::kIo) {
      return tl::unexpected(response.error());
    }
    if (response && !response->ok()) return refused(*response);
    if (!answer.stream().last_id().empty()) last_id = answer.stream().last_id();
  }
  return fail(ErrorCode::kIo, "its stream ended without an answer");
}

}  // namespace skein
