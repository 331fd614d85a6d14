#include "mcp/outbox.h"

#include "mcp/limits.h"

namespace skein::mcp {

std::string event_frame(std::string_view message, std::string_view id) {
  std::string frame = "event: message\n";
  if (!id.empty()) frame.append("id: ").append(id).append("\n");
  return frame.append("data: ").append(message).append("\n\n");
}

std::string priming_frame(std::string_view id) {
  return std::string("id: ").append(id).append("\nretry: 500\ndata: \n\n");
}

bool Outbox::put(std::string frame) {
  std::function<void()> wake;
  {
    const std::lock_guard lock(mutex_);
    if (ended_ || abandoned_) return false;
    bytes_ += frame.size();
    frames_.push_back(std::move(frame));
    if (bytes_ > limits::kMaxOutboxBytes) ended_ = true;
    wake = wake_;
  }
  if (wake) wake();
  return true;
}

void Outbox::end() {
  std::function<void()> wake;
  {
    const std::lock_guard lock(mutex_);
    if (ended_) return;
    ended_ = true;
    wake = wake_;
  }
  if (wake) wake();
}

void Outbox::on_more(std::function<void()> wake) {
  bool now = false;
  {
    const std::lock_guard lock(mutex_);
    wake_ = wake;
    now = !frames_.empty() || ended_;
  }
  if (now && wake) wake();
}

Outbox::Taken Outbox::take(std::size_t max_bytes) {
  Taken taken;
  const std::lock_guard lock(mutex_);
  std::size_t bytes = 0;
  while (!frames_.empty() && (taken.frames.empty() || bytes < max_bytes)) {
    bytes += frames_.front().size();
    taken.frames.push_back(std::move(frames_.front()));
    frames_.pop_front();
  }
  bytes_ -= bytes;
  taken.more = !frames_.empty();
  taken.ended = ended_ && frames_.empty();
  return taken;
}

void Outbox::abandon() {
  bool tells = false;
  {
    const std::lock_guard lock(mutex_);
    tells = !abandoned_ && !(ended_ && frames_.empty());
    abandoned_ = true;
    frames_.clear();
    bytes_ = 0;
    wake_ = nullptr;
  }
  if (tells && abandoned_told_) abandoned_told_();
}

}  // namespace skein::mcp
