#include "rpc/mcp_session.h"

#include <algorithm>
#include <utility>

#include "core/json.h"
#include "core/json_array.h"
#include "core/json_fields.h"
#include "core/json_object.h"
#include "core/quote.h"
#include "core/try.h"

namespace skein {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr std::size_t kShownErrorBytes = 1000;

// RFC 3986: what is not unreserved is escaped, "/" aside.
std::string file_uri(std::string_view path) {
  constexpr std::string_view kPlain = "-._~/";
  std::string uri = "file://";
  for (const char c : path) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       kPlain.find(c) != std::string_view::npos;
    if (plain) {
      uri += c;
    } else {
      uri += '%';
      uri += "0123456789ABCDEF"[byte >> 4];
      uri += "0123456789ABCDEF"[byte & 0xF];
    }
  }
  return uri;
}

bool contains(const std::vector<std::string>& all, std::string_view one) {
  return std::find(all.begin(), all.end(), one) != all.end();
}

bool is_known_legacy(std::string_view version) {
  const auto all = legacy_mcp_versions();
  return std::find(all.begin(), all.end(), version) != all.end();
}

}  // namespace

McpSession::McpSession(McpIdentity identity) : identity_(std::move(identity)) {
  inbox_.on_request("ping", [](const Json&) { return Json::trusted("{}"); });
  inbox_.on_request("roots/list", [this](const Json&) { return Json::trusted(roots_result()); });
  inbox_.on_request("sampling/createMessage", [](const Json&) -> RpcDispatcher::Answer {
    return tl::unexpected(RpcError{kRpcMethodNotFound, "models are not lent to servers"});
  });
  inbox_.on_request("elicitation/create",
                    [](const Json&) { return Json::trusted(R"({"action":"decline"})"); });
  inbox_.on_notification("notifications/progress",
                         [this](const Json& params) { on_progress(params); });
  inbox_.on_notification("notifications/tools/list_changed", [this](const Json&) {
    if (identity_.on_tools_changed) identity_.on_tools_changed();
  });
}

Result<std::unique_ptr<McpSession>> McpSession::open(McpIdentity identity, const Open& open) {
  std::unique_ptr<McpSession> session(new McpSession(std::move(identity)));
  McpSession* self = session.get();
  auto channel =
      open({[self](const RpcRequest& request) { return self->inbox_.answer(request); },
            [self](const RpcNotification& notification) { self->inbox_.tell(notification); }});
  if (!channel) return tl::unexpected(session->named("start", std::move(channel).error()));
  session->channel_ = std::move(*channel);
  return session;
}

void McpSession::log(std::string_view what) const {
  if (identity_.log) {
    identity_.log("tool server " + quote(identity_.server) + ": " + std::string(what));
  }
}

Error McpSession::named(std::string_view method, Error error) const {
  error.message = "tool server " + quote(identity_.server) + ": " + std::string(method) + ": " +
                  std::move(error.message);
  return error;
}

Error McpSession::refused(std::string_view method, const RpcError& error) const {
  std::string said = mended_utf8(error.message.substr(0, kShownErrorBytes));
  return named(method, {ErrorCode::kInvalid, said + " (" + std::to_string(error.code) + ")"});
}

std::string McpSession::roots_result() const {
  std::vector<std::string> roots;
  for (const std::string& folder : identity_.roots) {
    roots.push_back(JsonObject().add("uri", file_uri(folder)).str());
  }
  return JsonObject().add_json("roots", json_array_of(roots)).str();
}

void McpSession::on_progress(const Json& params) {
  JsonFields fields(params.text());
  const auto token = fields.take_int("progressToken");
  const auto progress = fields.take("progress", json_to_double);
  if (!token || !progress) return;
  const McpProgress told{*progress, fields.take("total", json_to_double),
                         fields.take_string("message").value_or("")};
  const std::lock_guard lock(watching_);
  const auto found = watched_.find(*token);
  if (found == watched_.end()) return;
  channel_->touch(Json::number(*token));
  const McpProgressCallback* tell = found->second->on_progress;
  if (tell != nullptr && *tell) (*tell)(told);
}

// --- Agreeing on a version ---

Result<bool> McpSession::discover(std::chrono::milliseconds time, const std::stop_token& stop) {
  modern_ = true;
  channel_->set_version(std::string(kModernMcp));
  const auto answer =
      send({.method = "server/discover", .headers = {}, .idle = time, .total = time, .stop = stop});
  modern_ = false;
  channel_->set_version("");
  if (answer) return judge_discovery(*answer);
  const ErrorCode code = answer.error().code;
  if (code == ErrorCode::kConflict || code == ErrorCode::kIo) {
    return tl::unexpected(answer.error());
  }
  return false;
}

Result<bool> McpSession::judge_discovery(const RpcResponse& answer) {
  constexpr std::string_view kMethod = "server/discover";
  std::vector<std::string> versions;
  if (answer.outcome) {
    auto info = parse_discovered(*answer.outcome);
    if (!info) return tl::unexpected(named(kMethod, std::move(info).error()));
    info_ = std::move(*info);
    versions = info_.versions;
  } else if (answer.outcome.error().code == kMcpUnsupportedVersion) {
    versions = supported_versions(answer.outcome.error());
  } else if (is_modern_error(answer.outcome.error().code)) {
    return tl::unexpected(refused(kMethod, answer.outcome.error()));
  } else {
    return false;
  }
  if (answer.outcome && contains(versions, kModernMcp)) {
    modern_ = true;
    version_ = kModernMcp;
    channel_->set_version(version_);
    return true;
  }
  if (std::any_of(versions.begin(), versions.end(), is_known_legacy)) return false;
  std::string known;
  for (const std::string& version : versions) known += " " + quote(version);
  return tl::unexpected(named(
      kMethod, {ErrorCode::kInvalid, "it speaks only versions that are not known here:" + known}));
}

std::string McpSession::client_info() const {
  return JsonObject().add("name", "skein").add("version", identity_.version).str();
}

Result<void> McpSession::initialize(std::chrono::milliseconds time, const std::stop_token& stop) {
  constexpr std::string_view kMethod = "initialize";
  const std::string params =
      JsonObject()
          .add("protocolVersion", legacy_mcp_versions().front())
          .add_json("capabilities", identity_.roots.empty() ? "{}" : R"({"roots":{}})")
          .add_json("clientInfo", client_info())
          .str();
  const auto answer = send({.method = std::string(kMethod),
                            .fields = params.substr(1, params.size() - 2),
                            .headers = {},
                            .idle = time,
                            .total = time,
                            .stop = stop},
                           false);
  if (!answer) return tl::unexpected(answer.error());
  if (!answer->outcome) return tl::unexpected(refused(kMethod, answer->outcome.error()));
  auto info = parse_initialized(*answer->outcome);
  if (!info) return tl::unexpected(named(kMethod, std::move(info).error()));
  info_ = std::move(*info);
  version_ = info_.versions.front();
  if (!is_known_legacy(version_)) {
    return tl::unexpected(named(
        kMethod, {ErrorCode::kInvalid,
                  "it answers with version " + quote(version_) + ", which is not known here"}));
  }
  channel_->set_version(version_);
  if (auto told = channel_->notify({"notifications/initialized"}); !told) {
    return tl::unexpected(named("notifications/initialized", std::move(told).error()));
  }
  return {};
}

// --- Requests ---

std::string McpSession::meta(std::int64_t id) const {
  JsonObject object;
  object.add_json("progressToken", std::to_string(id));
  if (modern_) {
    object.add("io.modelcontextprotocol/protocolVersion", kModernMcp);
    object.add_json("io.modelcontextprotocol/clientInfo", client_info());
    object.add_json("io.modelcontextprotocol/clientCapabilities",
                    identity_.roots.empty() ? "{}" : R"({"roots":{}})");
  }
  return object.str();
}

Result<RpcResponse> McpSession::send(const McpRequest& request) { return send(request, true); }

Result<RpcResponse> McpSession::send(const McpRequest& request, bool with_meta) {
  const std::int64_t id = next_id_++;
  std::string params = "{" + request.fields;
  if (with_meta) params += (params.size() > 1 ? ",\"_meta\":" : "\"_meta\":") + meta(id);
  RpcCall call{.request = {Json::number(id), request.method, Json::trusted(params + "}")},
               .headers = request.headers,
               .idle = request.idle,
               .end = SteadyClock::now() + request.total,
               .stop = request.stop};
  if (modern_) call.headers.push_back({"Mcp-Method", request.method});
  {
    const std::lock_guard lock(watching_);
    watched_[id] = &request;
  }
  auto answer = channel_->call(call);
  {
    const std::lock_guard lock(watching_);
    watched_.erase(id);
  }
  if (answer) return answer;
  if (with_meta) give_up_on(call.request, answer.error());
  return tl::unexpected(named(request.method, std::move(answer).error()));
}

void McpSession::give_up_on(const RpcRequest& request, const Error& why) {
  if (why.code != ErrorCode::kConflict && why.code != ErrorCode::kBusy) return;
  if (!channel_->takes_cancellation()) return;
  const bool stopped = why.code == ErrorCode::kConflict;
  const std::string params =
      JsonObject()
          .add_json("requestId", request.id.text())
          .add("reason", stopped ? "stopped by the user" : "no answer in time")
          .str();
  const auto told = channel_->notify({"notifications/cancelled", Json::trusted(params)});
  if (!told) log("could not be told that a request was given up: " + told.error().message);
}

Result<Json> McpSession::input_responses(const McpInputRequired& required) const {
  JsonObject responses;
  for (const McpInputRequest& request : required.requests) {
    const auto answer = inbox_.answer({Json::number(0), request.method});
    if (!answer.outcome) {
      return tl::unexpected(Error{ErrorCode::kInvalid, "it asks for " + quote(request.method) +
                                                           ": " + answer.outcome.error().message});
    }
    responses.add_json(request.key, answer.outcome->text());
  }
  return Json::trusted(responses.str());
}

}  // namespace skein
