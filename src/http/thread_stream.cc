#include "http/thread_stream.h"

#include "core/try.h"

namespace skein::http {

ThreadFrames::Read ThreadFrames::find(ThreadId thread, Seq after, std::size_t max_bytes) {
  const std::lock_guard lock(mutex_);
  const auto found = tails_.find(thread);
  Read read;
  read.last = after;
  if (found == tails_.end() || after + 1 < found->second.first) return read;
  Tail& tail = found->second;
  used_.splice(used_.begin(), used_, tail.used);
  std::size_t bytes = 0;
  for (std::size_t i = after + 1 - tail.first; i < tail.frames.size() && !read.more; ++i) {
    bytes += tail.frames[i]->size();
    read.frames.push_back(tail.frames[i]);
    read.more = bytes >= max_bytes;
  }
  read.last = after + read.frames.size();
  return read;
}

void ThreadFrames::keep(ThreadId thread, Seq first, const std::vector<Bytes>& frames) {
  const std::lock_guard lock(mutex_);
  auto [found, is_new] = tails_.try_emplace(thread);
  Tail& tail = found->second;
  if (is_new) {
    used_.push_front(thread);
    tail.used = used_.begin();
    tail.first = first;
  }
  const Seq end = tail.first + tail.frames.size();
  // Somebody who reads the past must not displace what others read now.
  if (first > end || first + frames.size() <= end) return;
  for (Seq seq = end; seq < first + frames.size(); ++seq) {
    tail.frames.push_back(frames[seq - first]);
    tail.bytes += tail.frames.back()->size();
    bytes_ += tail.frames.back()->size();
  }
  while (bytes_ > max_bytes_) {
    Tail& oldest = tails_.at(used_.back());
    if (oldest.frames.empty()) {
      tails_.erase(used_.back());
      used_.pop_back();
      if (used_.empty()) return;
      continue;
    }
    bytes_ -= oldest.frames.front()->size();
    oldest.bytes -= oldest.frames.front()->size();
    oldest.frames.pop_front();
    ++oldest.first;
  }
}

Result<ThreadFrames::Read> ThreadFrames::read(ThreadId thread, Seq after, std::size_t max_bytes) {
  Read read = find(thread, after, max_bytes);
  if (!read.frames.empty()) return read;
  std::size_t bytes = 0;
  SKEIN_TRY(store_.read(thread, ReadRange{.from = after + 1}, [&](Event& event) {
    const std::string json = to_json(event);
    read.frames.push_back(share(sse_frame(type_name(event), json, std::to_string(event.seq))));
    bytes += json.size();
    read.more = bytes >= max_bytes;
    return !read.more;
  }));
  if (!read.frames.empty()) keep(thread, after + 1, read.frames);
  read.last = after + read.frames.size();
  return read;
}

namespace {

class ThreadStream final : public Stream {
 public:
  ThreadStream(Store& store, ThreadFrames& frames, ThreadId thread, Seq after)
      : store_(store), frames_(frames), thread_(thread), after_(after) {}

  std::vector<Topic> topics() const override { return {Topic::of(thread_)}; }

  Result<Pulled> pull(std::size_t max_bytes) override {
    SKEIN_ASSIGN(ThreadFrames::Read read, frames_.read(thread_, after_, max_bytes));
    Pulled pulled;
    pulled.frames = std::move(read.frames);
    after_ = read.last;
    pulled.more = read.more;
    if (pulled.frames.empty()) {
      // Nothing new may also mean that nothing will ever come.
      SKEIN_ASSIGN(const auto manifest, store_.get(thread_));
      pulled.ended = !manifest.has_value();
    }
    return pulled;
  }

 private:
  Store& store_;
  ThreadFrames& frames_;
  const ThreadId thread_;
  Seq after_;
};

}  // namespace

std::unique_ptr<Stream> thread_stream(Store& store, ThreadFrames& frames, ThreadId thread,
                                      Seq after) {
  return std::make_unique<ThreadStream>(store, frames, thread, after);
}

}  // namespace skein::http
