#include "mcp/http_session.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "core/json.h"
#include "mcp/limits.h"

namespace skein::mcp {
namespace {

std::string key_of(const Json& id) { return canonical_scalar(id.text()).value_or(id.text()); }

std::optional<std::uint64_t> number_of(std::string_view text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

}  // namespace

std::string KeptStream::next_id_under_lock() { return fmt::format("{}-{}", number_, ++last_); }

void KeptStream::put_under_lock(std::string frame) {
  if (live_ && !live_->put(frame)) live_.reset();
  bytes_ += frame.size();
  kept_.emplace_back(last_, std::move(frame));
  while (bytes_ > limits::kMaxKeptBytes && kept_.size() > 1) {
    bytes_ -= kept_.front().second.size();
    kept_.pop_front();
  }
}

void KeptStream::prime() {
  const std::lock_guard lock(mutex_);
  put_under_lock(priming_frame(next_id_under_lock()));
}

void KeptStream::send(std::string_view message) {
  const std::lock_guard lock(mutex_);
  if (finished_) return;
  put_under_lock(event_frame(message, next_id_under_lock()));
}

void KeptStream::finish() {
  const std::lock_guard lock(mutex_);
  finished_ = true;
  if (live_) live_->end();
  live_.reset();
}

bool KeptStream::finished() const {
  const std::lock_guard lock(mutex_);
  return finished_;
}

bool KeptStream::has_reader() const {
  const std::lock_guard lock(mutex_);
  return live_ != nullptr;
}

void KeptStream::attach(std::shared_ptr<Outbox> outbox, std::uint64_t after) {
  const std::lock_guard lock(mutex_);
  if (live_) live_->end();
  live_.reset();
  for (const auto& [event, frame] : kept_) {
    if (event > after) outbox->put(frame);
  }
  if (finished_) {
    outbox->end();
  } else {
    live_ = std::move(outbox);
  }
}

void KeptStream::cut() {
  const std::lock_guard lock(mutex_);
  if (live_) live_->end();
  live_.reset();
}

Session::Session(std::string id, std::string key)
    : id_(std::move(id)),
      key_(std::move(key)),
      peer_([general = general_](const std::string& line) { general->send(line); }) {}

std::shared_ptr<KeptStream> Session::new_stream() {
  const std::lock_guard lock(mutex_);
  auto stream = std::make_shared<KeptStream>(next_stream_);
  streams_[next_stream_++] = stream;
  for (auto it = streams_.begin();
       streams_.size() > limits::kMaxKeptStreams && it != streams_.end();) {
    it = it->second->finished() ? streams_.erase(it) : std::next(it);
  }
  return stream;
}

std::optional<std::pair<std::shared_ptr<KeptStream>, std::uint64_t>> Session::find(
    std::string_view event) {
  const std::size_t dash = event.find('-');
  if (dash == std::string_view::npos) return std::nullopt;
  const auto stream = number_of(event.substr(0, dash));
  const auto number = number_of(event.substr(dash + 1));
  if (!stream || !number) return std::nullopt;
  if (*stream == 0) return std::pair(general_, *number);
  const std::lock_guard lock(mutex_);
  const auto found = streams_.find(*stream);
  if (found == streams_.end()) return std::nullopt;
  return std::pair(found->second, *number);
}

std::optional<std::stop_source> Session::open(const Json& id) {
  const std::lock_guard lock(mutex_);
  if (open_.size() >= limits::kMaxOpenRequests) return std::nullopt;
  const auto [place, fresh] = open_.try_emplace(key_of(id));
  if (!fresh) return std::nullopt;
  return place->second;
}

void Session::close(const Json& id) {
  const std::lock_guard lock(mutex_);
  open_.erase(key_of(id));
  touched_ = Steady::now();
}

void Session::cancel(const Json& id) {
  std::optional<std::stop_source> stop;
  {
    const std::lock_guard lock(mutex_);
    if (const auto found = open_.find(key_of(id)); found != open_.end()) stop = found->second;
  }
  if (stop) stop->request_stop();
}

void Session::touch() {
  const std::lock_guard lock(mutex_);
  touched_ = Steady::now();
}

Session::Steady::time_point Session::touched() const {
  const bool read = general_->has_reader();
  const std::lock_guard lock(mutex_);
  return open_.empty() && !read ? touched_ : Steady::now();
}

void Session::end() {
  peer_.end();
  general_->finish();
  std::map<std::string, std::stop_source> open;
  {
    const std::lock_guard lock(mutex_);
    open = open_;
  }
  for (auto& [id, stop] : open) stop.request_stop();
}

std::shared_ptr<Session> Sessions::make(const std::string& key) {
  const std::string id = fmt::format("{:016x}{:016x}", ids_.next(), ids_.next());
  auto session = std::make_shared<Session>(id, key);
  std::vector<std::shared_ptr<Session>> gone;
  {
    const std::lock_guard lock(mutex_);
    const auto now = Session::Steady::now();
    for (auto it = sessions_.begin(); it != sessions_.end();) {
      if (now - it->second->touched() < limits::kSessionIdle) {
        ++it;
        continue;
      }
      gone.push_back(it->second);
      it = sessions_.erase(it);
    }
    if (sessions_.size() >= limits::kMaxSessions) {
      const auto oldest = std::min_element(
          sessions_.begin(), sessions_.end(),
          [](const auto& a, const auto& b) { return a.second->touched() < b.second->touched(); });
      gone.push_back(oldest->second);
      sessions_.erase(oldest);
    }
    sessions_[id] = session;
  }
  for (const auto& each : gone) each->end();
  return session;
}

std::shared_ptr<Session> Sessions::find(const std::string& id, const std::string& key) {
  const std::lock_guard lock(mutex_);
  const auto found = sessions_.find(id);
  if (found == sessions_.end() || found->second->key() != key) return nullptr;
  found->second->touch();
  return found->second;
}

bool Sessions::end(const std::string& id, const std::string& key) {
  const auto session = find(id, key);
  if (!session) return false;
  {
    const std::lock_guard lock(mutex_);
    sessions_.erase(id);
  }
  session->end();
  return true;
}

void Sessions::end_all() {
  std::map<std::string, std::shared_ptr<Session>> all;
  {
    const std::lock_guard lock(mutex_);
    all.swap(sessions_);
  }
  for (const auto& [id, session] : all) session->end();
}

}  // namespace skein::mcp
