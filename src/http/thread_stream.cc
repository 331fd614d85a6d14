#include "http/thread_stream.h"

#include <algorithm>
#include <iterator>

#include "api/wakes.h"
#include "core/try.h"

namespace skein::http {
namespace {

constexpr std::size_t kMaxTails = 4096;

}  // namespace

void ThreadFrames::open(ThreadId thread, Version version) {
  const std::lock_guard lock(mutex_);
  if (const auto found = tails_.find(thread);
      found != tails_.end() && found->second.version != version) {
    forget(found);
  }
  tail_of(thread).version = version;
}

ThreadFrames::Tail& ThreadFrames::tail_of(ThreadId thread) {
  auto [found, is_new] = tails_.try_emplace(thread);
  if (is_new) found->second.used = used_.insert(used_.begin(), thread);
  return found->second;
}

bool ThreadFrames::find(ThreadId thread, std::uint64_t generation, std::size_t max_bytes,
                        Read& read) {
  const std::lock_guard lock(mutex_);
  const auto found = tails_.find(thread);
  if (found == tails_.end()) return false;
  Tail& tail = found->second;
  if (tail.first == 0 || read.last + 1 < tail.first) return false;
  used_.splice(used_.begin(), used_, tail.used);
  std::size_t bytes = 0;
  for (std::size_t i = read.last + 1 - tail.first; i < tail.frames.size() && !read.more; ++i) {
    bytes += tail.frames[i]->size();
    read.frames.push_back(tail.frames[i]);
    read.more = bytes >= max_bytes;
  }
  read.last += read.frames.size();
  return read.more || tail.complete >= generation;
}

void ThreadFrames::keep(ThreadId thread, Seq first, const Read& read, bool complete,
                        std::uint64_t generation) {
  const std::lock_guard lock(mutex_);
  if (read.gone) {
    if (const auto found = tails_.find(thread); found != tails_.end()) forget(found);
    return;
  }
  Tail& tail = tail_of(thread);
  if (tail.first == 0) tail.first = first;
  const Seq end = tail.first + tail.frames.size();
  const Seq read_end = first + read.frames.size();
  // Somebody who reads the past must not displace what others read now.
  if (first > end || read_end < end) return;
  for (Seq seq = end; seq < read_end; ++seq) {
    tail.frames.push_back(read.frames[seq - first]);
    bytes_ += tail.frames.back()->size();
  }
  if (complete) tail.complete = std::max(tail.complete, generation);
  while (bytes_ > max_bytes_ || tails_.size() > kMaxTails) drop_oldest();
}

void ThreadFrames::drop_oldest() {
  Tail& oldest = tails_.at(used_.back());
  if (!oldest.frames.empty()) {
    bytes_ -= oldest.frames.front()->size();
    oldest.frames.pop_front();
    ++oldest.first;
  }
  if (!oldest.frames.empty() && tails_.size() <= kMaxTails) return;
  forget(tails_.find(used_.back()));
}

void ThreadFrames::forget(Tails::iterator tail) {
  for (const Bytes& frame : tail->second.frames) bytes_ -= frame->size();
  used_.erase(tail->second.used);
  tails_.erase(tail);
}

Result<ThreadFrames::Read> ThreadFrames::read(ThreadId thread, Seq after, std::size_t max_bytes) {
  const std::uint64_t generation = Wakes::generation();
  Read kept;
  kept.last = after;
  if (find(thread, generation, max_bytes, kept)) return kept;
  Read fresh;
  std::size_t bytes = 0;
  SKEIN_TRY(store_.read(thread, ReadRange{.from = kept.last + 1}, [&](Event& event) {
    const std::string json = to_json(event);
    fresh.frames.push_back(share(sse_frame(type_name(event), json, std::to_string(event.seq))));
    bytes += json.size();
    fresh.more = bytes >= max_bytes;
    return !fresh.more;
  }));
  if (fresh.frames.empty()) {
    // Nothing new may also mean that nothing will ever come.
    SKEIN_ASSIGN(const auto manifest, store_.get(thread));
    fresh.gone = !manifest.has_value();
  }
  keep(thread, kept.last + 1, fresh, !fresh.more, generation);
  kept.last += fresh.frames.size();
  kept.more = fresh.more;
  kept.gone = fresh.gone;
  std::move(fresh.frames.begin(), fresh.frames.end(), std::back_inserter(kept.frames));
  return kept;
}

namespace {

class ThreadStream final : public Stream {
 public:
  ThreadStream(ThreadFrames& frames, ThreadId thread, Seq after)
      : frames_(frames), thread_(thread), after_(after) {}

  std::vector<Topic> topics() const override { return {Topic::of(thread_)}; }

  Result<Pulled> pull(std::size_t max_bytes) override {
    SKEIN_ASSIGN(ThreadFrames::Read read, frames_.read(thread_, after_, max_bytes));
    Pulled pulled;
    pulled.frames = std::move(read.frames);
    after_ = read.last;
    pulled.more = read.more;
    pulled.ended = read.gone;
    return pulled;
  }

 private:
  ThreadFrames& frames_;
  const ThreadId thread_;
  Seq after_;
};

}  // namespace

std::unique_ptr<Stream> thread_stream(ThreadFrames& frames, const Manifest& thread, Seq after) {
  frames.open(thread.id, thread.version);
  return std::make_unique<ThreadStream>(frames, thread.id, after);
}

}  // namespace skein::http
