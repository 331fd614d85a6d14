#include <algorithm>
#include <atomic>
#include <map>
#include <system_error>
#include <thread>
#include <unordered_map>

#include "core/try.h"
#include "skein/limits.h"
#include "store/checks.h"
#include "store/codec.h"
#include "store/jsonl/line.h"
#include "store/jsonl/store_impl.h"

namespace skein::jsonl {
namespace {

// Threads of one call that are written at the same time, so that their flushes overlap.
constexpr std::size_t kParallelThreads = 16;

Result<Event> read_event_at(const ThreadFile& file, Mark from, std::uint64_t size, Seq seq) {
  LineWalker walker(file, from, size);
  walker.skip_missing_before(seq);
  EventReader reader;
  Line line;
  Event event;
  while (true) {
    SKEIN_ASSIGN(const bool more, walker.next(line));
    if (!more || line.seq > seq) return fail(ErrorCode::kDamaged, "event is gone");
    if (line.seq != seq) continue;
    if (line.kind != Line::Kind::kVerified) return fail(ErrorCode::kDamaged, line.reason);
    SKEIN_TRY(reader.read_padded(line.text, EventSource::kLine, event));
    return event;
  }
}

}  // namespace

// One commit: the appends of everyone who waited for the thread.
class Committer {
 public:
  Committer(JsonlStore& store, ThreadState& state) : store_(store), state_(state) {}

  void run(std::span<AppendRequest* const> requests) {
    if (auto ready = prepare(); !ready) {
      for (AppendRequest* request : requests) {
        for (auto* result : request->results) *result = tl::unexpected(ready.error());
      }
      return;
    }
    for (AppendRequest* request : requests) {
      for (std::size_t i = 0; i < request->appends.size(); ++i) {
        *request->results[i] = accept(*request->appends[i], request->results[i]);
      }
    }
    if (auto written = write(); !written) {
      for (auto* result : accepted_) *result = tl::unexpected(written.error());
    } else if (!accepted_.empty()) {
      store_.commits_.add(requests.size());
    }
  }

 private:
  Result<void> prepare() {
    SKEIN_ASSIGN(const bool found, store_.writer_.refresh(state_));
    if (!found) return tl::unexpected(unknown_thread(state_.id));
    SKEIN_TRY(store_.folder_->flusher().check());
    first_seq_ = next_seq_ = state_.writer.tail.last_seq + 1;
    last_time_ = state_.writer.tail.last_time;
    latest_ = std::max(state_.writer.head.manifest.updated_at, last_time_);
    return {};
  }

  Result<Appended> accept(const Append& append, Result<Appended>* result) {
    if (append.fence) {
      if (!lease_) {
        SKEIN_ASSIGN(lease_, store_.read_lease(state_.id));
      }
      SKEIN_TRY(check_fence(*lease_, state_.id, append.fence));
    }
    if (!append.event.key.empty()) {
      SKEIN_ASSIGN(const auto known, find_key(append));
      if (known) {
        // Repeats what this very commit writes: stands and falls with it.
        if (new_keys_.contains(append.event.key)) accepted_.push_back(result);
        return *known;
      }
    }
    if (append.expect_version) {
      SKEIN_TRY(refresh_head());
      SKEIN_TRY(check_manifest_version(append, state_.writer.head.manifest.version));
    }
    SKEIN_TRY(check_position(append, next_seq_));
    const Seq seq = next_seq_++;
    encode(append, seq);
    if (!append.event.key.empty()) new_keys_[append.event.key] = {seq, &append.event};
    accepted_.push_back(result);
    return Appended{seq, false};
  }

  // Once for all: under the thread's lock nobody else changes line 1.
  Result<void> refresh_head() {
    if (head_is_fresh_) return {};
    SKEIN_ASSIGN(const bool found, store_.writer_.refresh_head(state_));
    if (!found) return tl::unexpected(unknown_thread(state_.id));
    head_is_fresh_ = true;
    return {};
  }

  void encode(const Append& append, Seq seq) {
    if (append.event.timestamp.is_set()) {
      append_event_line(lines_, append.event, seq);
      last_time_ = append.event.timestamp;
    } else {
      Event event = append.event;
      event.timestamp = last_time_ = store_.folder_->clock().now();
      append_event_line(lines_, event, seq);
    }
    latest_ = std::max(latest_, last_time_);
  }

  Result<std::optional<Appended>> find_key(const Append& append) {
    const auto same = [&](const Event& event, Seq seq) -> Result<std::optional<Appended>> {
      if (same_event(event, append.event)) return Appended{seq, true};
      return tl::unexpected(key_reused(state_.id, append.event.key, seq));
    };
    if (const auto fresh = new_keys_.find(append.event.key); fresh != new_keys_.end()) {
      return same(*fresh->second.event, fresh->second.seq);
    }
    SKEIN_TRY(read_keys());
    WriterView& view = state_.writer;
    const auto known = view.keys.find(append.event.key);
    if (known == view.keys.end()) return std::nullopt;
    const Mark begin{1, view.head.width};
    SKEIN_ASSIGN(const Mark mark, find_mark(*view.file, begin, known->second, view.tail.size));
    SKEIN_ASSIGN(const Event event, read_event_at(*view.file, mark, view.tail.size, known->second));
    return same(event, known->second);
  }

  // Reads on to the end of the file whatever keys there are.
  Result<void> read_keys() {
    WriterView& view = state_.writer;
    if (view.keys_to.offset >= view.tail.end.lines_end) return {};
    LineWalker walker(*view.file, view.keys_to, view.tail.end.lines_end);
    walker.skip_missing_before(kLastSeq);
    EventReader reader;
    Event event;
    Line line;
    while (true) {
      SKEIN_ASSIGN(const bool more, walker.next(line));
      if (!more) break;
      if (line.kind != Line::Kind::kVerified) continue;
      if (line.text.find(R"(,"key":")") == std::string_view::npos) continue;
      SKEIN_TRY(reader.read_padded(line.text, EventSource::kLine, event));
      if (!event.key.empty()) view.keys.emplace(event.key, line.seq);
    }
    view.keys_to = {walker.next_seq(), view.tail.end.lines_end};
    return {};
  }

  // What one reads as updatedAt is the later of line 1 and the last event: if another event is
  // later than both, line 1 has to say so.
  Result<void> keep_latest_time() {
    if (latest_ <= last_time_ || latest_ <= state_.writer.head.manifest.updated_at) return {};
    SKEIN_TRY(refresh_head());
    Manifest manifest = state_.writer.head.manifest;
    if (manifest.updated_at >= latest_) return {};
    manifest.updated_at = latest_;
    return store_.writer_.write_head(state_, manifest);
  }

  Result<void> write() {
    if (accepted_.empty()) return {};
    SKEIN_TRY(keep_latest_time());
    SKEIN_TRY(store_.writer_.append(state_, std::move(lines_)));
    WriterView& view = state_.writer;
    const bool keys_known = view.keys_to.seq == first_seq_ && view.keys_to.offset != 0;
    view.tail.last_seq = next_seq_ - 1;
    view.tail.last_time = last_time_;
    if (keys_known) {
      for (auto& [key, fresh] : new_keys_) view.keys.emplace(key, fresh.seq);
      view.keys_to = {next_seq_, view.tail.end.lines_end};
    }
    store_.feed_.appended(state_.id, first_seq_, next_seq_ - 1);
    return {};
  }

  struct NewKey {
    Seq seq = 0;
    const Event* event = nullptr;
  };

  JsonlStore& store_;
  ThreadState& state_;
  std::optional<LeaseState> lease_;
  bool head_is_fresh_ = false;
  Seq first_seq_ = 1;
  Seq next_seq_ = 1;
  Timestamp last_time_;
  Timestamp latest_;
  std::string lines_;
  std::unordered_map<std::string, NewKey> new_keys_;
  std::vector<Result<Appended>*> accepted_;
};

void JsonlStore::append_to_thread(ThreadId id, AppendRequest& request) {
  const std::shared_ptr<ThreadState> state = threads_.get(id);
  std::unique_lock guard(state->mutex);
  state->waiting.push_back(&request);
  state->turn.wait(guard, [&] { return request.done || !state->writing; });
  if (request.done) return;
  state->writing = true;
  guard.unlock();

  {
    auto lock = ThreadLock::adopt(*folder_, *state);
    guard.lock();
    const std::vector<AppendRequest*> batch(state->waiting.begin(), state->waiting.end());
    state->waiting.clear();
    guard.unlock();
    if (lock) {
      Committer(*this, *state).run(batch);
    } else {
      for (const AppendRequest* other : batch) {
        for (auto* result : other->results) *result = tl::unexpected(lock.error());
      }
    }
    guard.lock();
    for (AppendRequest* other : batch) other->done = true;
    guard.unlock();
  }
  // Without the lock, another writer may have taken up the request in between.
  state->turn.notify_all();
  guard.lock();
  state->turn.wait(guard, [&] { return request.done; });
}

std::vector<Result<Appended>> JsonlStore::append(std::span<const Append> appends) {
  if (appends.size() > limits::kMaxBatch) {
    const Error error = too_many("appends", appends.size(), limits::kMaxBatch);
    return std::vector<Result<Appended>>(appends.size(), tl::unexpected(error));
  }
  std::vector<Result<Appended>> results(appends.size());
  std::map<ThreadId, AppendRequest> requests;
  for (std::size_t i = 0; i < appends.size(); ++i) {
    if (auto valid = check_append(appends[i]); !valid) {
      results[i] = tl::unexpected(valid.error());
      continue;
    }
    AppendRequest& request = requests[appends[i].thread];
    request.appends.push_back(&appends[i]);
    request.results.push_back(&results[i]);
  }
  if (requests.size() == 1) {
    append_to_thread(requests.begin()->first, requests.begin()->second);
    return results;
  }
  std::vector<std::pair<const ThreadId, AppendRequest>*> work;
  for (auto& request : requests) work.push_back(&request);
  std::atomic<std::size_t> next{0};
  const auto run = [&] {
    for (std::size_t i = next++; i < work.size(); i = next++) {
      append_to_thread(work[i]->first, work[i]->second);
    }
  };
  std::vector<std::jthread> helpers;
  try {
    for (std::size_t i = 1; i < std::min(work.size(), kParallelThreads); ++i) {
      helpers.emplace_back(run);
    }
  } catch (const std::system_error&) {
    // Fewer threads than wished for only take longer.
  }
  run();
  helpers.clear();
  return results;
}

}  // namespace skein::jsonl
