#include "mcp/peer.h"

#include "core/json_object.h"
#include "core/quote.h"
#include "mcp/limits.h"

namespace skein::mcp {

bool Peer::begin(std::string version, ClientCapabilities client) {
  const std::lock_guard lock(mutex_);
  if (!version_.empty()) return false;
  version_ = std::move(version);
  client_ = client;
  return true;
}

std::string Peer::version() const {
  const std::lock_guard lock(mutex_);
  return version_;
}

ClientCapabilities Peer::client() const {
  const std::lock_guard lock(mutex_);
  return client_;
}

std::optional<LogLevel> Peer::log_level() const {
  const std::lock_guard lock(mutex_);
  return log_level_;
}

void Peer::set_log_level(LogLevel level) {
  const std::lock_guard lock(mutex_);
  log_level_ = level;
}

void Peer::tell(const std::string& method, const std::string& uri) {
  {
    const std::lock_guard lock(mutex_);
    if (ended_ || (!uri.empty() && !uris_.contains(uri))) return;
  }
  RpcNotification notification{method};
  if (!uri.empty()) notification.params = Json::trusted(JsonObject().add("uri", uri).str());
  send_(rpc_line(notification));
}

void Peer::listen(Watch& watch) {
  const std::lock_guard lock(mutex_);
  if (ended_ || listening_) return;
  // It is told of all resources, and passes on those that were asked for.
  listening_ = watch.listen(
      {.tools = true, .prompts = true, .resources = true, .all_uris = true},
      [this](const std::string& method, const std::string& uri) { tell(method, uri); });
}

bool Peer::subscribe(Watch& watch, const std::string& uri) {
  listen(watch);
  const std::lock_guard lock(mutex_);
  if (uris_.size() >= limits::kMaxSubscribedUris && !uris_.contains(uri)) return false;
  uris_.insert(uri);
  return true;
}

void Peer::unsubscribe(const std::string& uri) {
  const std::lock_guard lock(mutex_);
  uris_.erase(uri);
}

Result<Json> Peer::ask(std::string_view method, const std::string& params,
                       const std::function<void(std::string message)>& send,
                       const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  const std::string id = "\"skein-" + std::to_string(next_ask_++) + "\"";
  answers_[id] = std::nullopt;
  lock.unlock();
  send(rpc_line(RpcRequest{Json::trusted(id), std::string(method), Json::trusted(params)}));
  lock.lock();
  std::optional<RpcResponse>& answer = answers_[id];
  changed_.wait_for(lock, stop, limits::kAskTime, [&] { return answer.has_value() || ended_; });
  std::optional<RpcResponse> got = std::move(answer);
  answers_.erase(id);
  const bool gone = ended_ || stop.stop_requested();
  lock.unlock();
  const std::string what = std::string(method);
  if (!got && gone) return fail(ErrorCode::kConflict, what + ": the client gave up");
  if (!got) return fail(ErrorCode::kBusy, what + ": the client did not answer in time");
  if (got->outcome) return std::move(*got->outcome);
  return fail(ErrorCode::kInvalid,
              what + ": the client refused: " + quote(got->outcome.error().message));
}

bool Peer::settle(const RpcResponse& response) {
  const std::lock_guard lock(mutex_);
  const auto found = answers_.find(response.id.text());
  if (found == answers_.end() || found->second) return false;
  found->second = response;
  changed_.notify_all();
  return true;
}

void Peer::end() {
  std::unique_ptr<Watch::Listening> listening;
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
    changed_.notify_all();
    listening = std::move(listening_);
  }
  // Waits for a callback under way, which wants the lock.
}

}  // namespace skein::mcp
