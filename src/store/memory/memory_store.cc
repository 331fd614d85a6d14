#include "store/memory/memory_store.h"

#include <algorithm>
#include <charconv>
#include <condition_variable>
#include <map>
#include <mutex>
#include <unordered_map>

#include "core/quote.h"
#include "core/try.h"
#include "skein/limits.h"
#include "store/checks.h"
#include "store/codec.h"
#include "store/lease.h"

namespace skein {
namespace {

// Position in the change feed; also the source of versions.
using Position = std::uint64_t;

struct StoredThread {
  Manifest manifest;
  std::vector<Event> events;
  std::vector<Position> appended_at;  // one for each event
  std::vector<Branch> branches;
  std::unordered_map<std::string, Seq> keys;
  LeaseState lease;
  Position created_at = 0;
  Position updated_at = 0;  // 0: never
};

struct StoredRecord {
  std::optional<std::string> bytes;  // absent: deleted
  Position at = 0;
};

class MemoryStore final : public Store {
 public:
  explicit MemoryStore(StoreOptions options) : options_(std::move(options)) {}

  Result<Manifest> create(const NewThread& request) override;
  Result<std::optional<Manifest>> get(const ThreadRef& ref) override;
  Result<ThreadPage> list(const ListQuery& query) override;
  Result<Manifest> update(ThreadId id, const ManifestPatch& patch,
                          const UpdateOptions& options) override;
  Result<bool> remove(ThreadId id, const UpdateOptions& options) override;
  std::vector<Result<Appended>> append(std::span<const Append> appends) override;
  Result<void> together(const std::function<void(Writes&)>& work) override {
    const std::lock_guard lock(mutex_);
    work(*this);
    return {};
  }
  Result<void> read(ThreadId id, const ReadRange& range, const EventSink& sink) override;
  Result<ChangeBatch> changes(std::string_view cursor, std::size_t limit,
                              std::chrono::milliseconds wait) override;
  Result<Lease> lease(ThreadId id, std::string_view holder, std::chrono::milliseconds ttl,
                      std::optional<LeaseToken> token) override;
  Result<std::vector<Version>> write(std::span<const RecordWrite> writes) override;
  Result<std::vector<Record>> scan(const ScanRange& range) override;
  Result<CheckSummary> check(const CheckOptions& options,
                             const std::function<void(const Finding&)>& sink) override;
  CommitSizes commit_sizes() const override { return {}; }

 private:
  StoredThread* find(ThreadId id);
  Position publish(Change change);
  Result<ThreadId> pick_id(const NewThread& request);
  Result<Appended> append_one(const Append& append);
  void add_event(StoredThread& thread, Event event);
  Result<void> check_write(const RecordWrite& write);

  const StoreOptions options_;

  std::recursive_mutex mutex_;  // protects all below; held by together() around its writes
  std::map<ThreadId, StoredThread> threads_;
  std::map<std::string, ThreadId> aliases_;
  std::map<std::string, std::map<std::string, StoredRecord>> records_;
  std::map<Position, Change> feed_;
  Position last_position_ = 0;
  std::condition_variable_any published_;
};

StoredThread* MemoryStore::find(ThreadId id) {
  const auto at = threads_.find(id);
  return at == threads_.end() ? nullptr : &at->second;
}

Position MemoryStore::publish(Change change) {
  feed_.emplace(++last_position_, std::move(change));
  published_.notify_all();
  return last_position_;
}

Result<ThreadId> MemoryStore::pick_id(const NewThread& request) {
  if (request.id) {
    if (find(*request.id) == nullptr) return *request.id;
    return fail(ErrorCode::kConflict, "thread " + request.id->str() + " exists already");
  }
  for (;;) {
    const ThreadId id = ThreadId::from_bits(options_.ids->next());
    if (find(id) == nullptr) return id;
  }
}

Result<Manifest> MemoryStore::create(const NewThread& request) {
  const std::lock_guard lock(mutex_);
  SKEIN_TRY(check_new_thread(request));
  SKEIN_ASSIGN(const ThreadId id, pick_id(request));
  StoredThread thread;
  SKEIN_ASSIGN(thread.manifest, make_manifest(request, id, options_.clock->now()));
  if (thread.manifest.alias && aliases_.contains(*thread.manifest.alias)) {
    return tl::unexpected(alias_taken(*thread.manifest.alias));
  }
  std::vector<Event> events;
  if (request.from) {
    const StoredThread* parent = find(request.from->thread);
    if (parent == nullptr) return tl::unexpected(unknown_thread(request.from->thread));
    SKEIN_TRY(check_fork(request, parent->manifest));
    events.assign(parent->events.begin(),
                  parent->events.begin() + static_cast<std::ptrdiff_t>(request.from->seq));
  }
  SKEIN_TRY(check_initial_events(request, id, events.size(), [&](const std::string& key) {
    return std::any_of(events.begin(), events.end(),
                       [&key](const Event& event) { return event.key == key; });
  }));
  events.insert(events.end(), request.events.begin(), request.events.end());
  thread.created_at = publish({.kind = ChangeKind::kCreated, .thread = id});
  thread.manifest.version = thread.created_at;
  for (Event& event : events) add_event(thread, std::move(event));
  if (thread.manifest.alias) aliases_[*thread.manifest.alias] = id;
  return threads_.emplace(id, std::move(thread)).first->second.manifest;
}

Result<std::optional<Manifest>> MemoryStore::get(const ThreadRef& ref) {
  const std::lock_guard lock(mutex_);
  std::optional<ThreadId> id = ref.id();
  if (!id) {
    const auto alias = aliases_.find(ref.alias());
    if (alias == aliases_.end()) return std::nullopt;
    id = alias->second;
  }
  const StoredThread* thread = find(*id);
  return thread == nullptr ? std::nullopt : std::optional(thread->manifest);
}

Result<ThreadPage> MemoryStore::list(const ListQuery& query) {
  SKEIN_ASSIGN(const ListPlan plan, plan_list(query));
  const std::lock_guard lock(mutex_);
  std::vector<const Manifest*> found;
  for (const auto& [id, thread] : threads_) {
    if (list_matches(query, plan, thread.manifest)) found.push_back(&thread.manifest);
  }
  ThreadPage page;
  if (query.with_total) page.total = found.size();
  std::sort(found.begin(), found.end(), [&query](const Manifest* a, const Manifest* b) {
    return list_before(query.order, *a, *b);
  });
  for (const Manifest* manifest : found) {
    if (plan.after && !list_after(query.order, *plan.after, *manifest)) continue;
    if (page.threads.size() == query.limit) {
      page.next = list_cursor(query, page.threads.back());
      break;
    }
    page.threads.push_back(*manifest);
  }
  return page;
}

Result<Manifest> MemoryStore::update(ThreadId id, const ManifestPatch& patch,
                                     const UpdateOptions& options) {
  const std::lock_guard lock(mutex_);
  StoredThread* thread = find(id);
  if (thread == nullptr) return tl::unexpected(unknown_thread(id));
  SKEIN_TRY(check_fence(thread->lease, id, options.fence));
  Manifest& manifest = thread->manifest;
  SKEIN_ASSIGN(const bool changed, apply_update(manifest, patch, options));
  if (!changed) return manifest;
  manifest.updated_at = std::max(manifest.updated_at, options_.clock->now());
  feed_.erase(thread->updated_at);
  thread->updated_at = publish({.kind = ChangeKind::kUpdated, .thread = id});
  manifest.version = thread->updated_at;
  return manifest;
}

Result<bool> MemoryStore::remove(ThreadId id, const UpdateOptions& options) {
  const std::lock_guard lock(mutex_);
  const StoredThread* thread = find(id);
  if (thread == nullptr) return false;
  SKEIN_TRY(check_fence(thread->lease, id, options.fence));
  SKEIN_TRY(check_version("manifest of thread " + id.str(), options.expect_version,
                          thread->manifest.version));
  feed_.erase(thread->created_at);
  feed_.erase(thread->updated_at);
  for (const Position at : thread->appended_at) feed_.erase(at);
  if (thread->manifest.alias) aliases_.erase(*thread->manifest.alias);
  threads_.erase(id);
  publish({.kind = ChangeKind::kRemoved, .thread = id});
  return true;
}

std::vector<Result<Appended>> MemoryStore::append(std::span<const Append> appends) {
  if (appends.size() > limits::kMaxBatch) {
    const Error error = too_many("appends", appends.size(), limits::kMaxBatch);
    return std::vector<Result<Appended>>(appends.size(), tl::unexpected(error));
  }
  const std::lock_guard lock(mutex_);
  std::vector<Result<Appended>> results;
  results.reserve(appends.size());
  for (const Append& append : appends) results.push_back(append_one(append));
  return results;
}

Result<Appended> MemoryStore::append_one(const Append& append) {
  SKEIN_TRY(check_append(append));
  StoredThread* thread = find(append.thread);
  if (thread == nullptr) return tl::unexpected(unknown_thread(append.thread));
  SKEIN_TRY(check_fence(thread->lease, append.thread, append.fence));
  if (!append.event.key.empty()) {
    if (const auto known = thread->keys.find(append.event.key); known != thread->keys.end()) {
      if (same_event(thread->events[known->second - 1], append.event)) {
        return Appended{known->second, true};
      }
      return tl::unexpected(key_reused(append.thread, append.event.key, known->second));
    }
  }
  SKEIN_TRY(check_manifest_version(append, thread->manifest.version));
  SKEIN_TRY(check_position(append, thread->manifest.last_seq + 1));
  add_event(*thread, append.event);
  return Appended{thread->manifest.last_seq, false};
}

void MemoryStore::add_event(StoredThread& thread, Event event) {
  Manifest& manifest = thread.manifest;
  event.seq = ++manifest.last_seq;
  if (!event.timestamp.is_set()) event.timestamp = options_.clock->now();
  manifest.updated_at = std::max(manifest.updated_at, event.timestamp);
  if (event.base && *event.base + 1 != event.seq) {
    thread.branches.push_back({event.seq, *event.base});
  }
  if (!event.key.empty()) thread.keys.emplace(event.key, event.seq);
  thread.events.push_back(std::move(event));
  thread.appended_at.push_back(
      publish({.kind = ChangeKind::kAppended, .thread = manifest.id, .seq = manifest.last_seq}));
}

Result<void> MemoryStore::read(ThreadId id, const ReadRange& range, const EventSink& sink) {
  std::vector<Event> events;
  {
    const std::lock_guard lock(mutex_);
    const StoredThread* thread = find(id);
    if (thread == nullptr) return {};
    const bool forward = range.direction == Direction::kForward;
    for (const SeqSpan& span : plan_read(range, thread->manifest.last_seq, thread->branches)) {
      for (Seq i = 0; i <= span.last - span.first && events.size() < range.limit; ++i) {
        events.push_back(thread->events[(forward ? span.first + i : span.last - i) - 1]);
      }
    }
  }
  for (Event& event : events) {
    if (!sink(event)) break;
  }
  return {};
}

Result<ChangeBatch> MemoryStore::changes(std::string_view cursor, std::size_t limit,
                                         std::chrono::milliseconds wait) {
  SKEIN_TRY(check_changes(limit, wait));
  Position after = 0;
  std::unique_lock lock(mutex_);
  if (cursor == kNow) {
    after = last_position_;
  } else if (!cursor.empty()) {
    const auto end = cursor.data() + cursor.size();
    const auto parsed = std::from_chars(cursor.data(), end, after);
    if (parsed.ec != std::errc() || parsed.ptr != end || after > last_position_) {
      return tl::unexpected(bad_cursor(cursor));
    }
  }
  if (wait.count() > 0) {
    published_.wait_for(lock, wait, [&] { return feed_.upper_bound(after) != feed_.end(); });
  }
  ChangeBatch batch;
  for (auto at = feed_.upper_bound(after); at != feed_.end() && batch.changes.size() < limit;
       ++at) {
    batch.changes.push_back(at->second);
    after = at->first;
    batch.changes.back().cursor = std::to_string(after);
  }
  batch.cursor = std::to_string(after);
  return batch;
}

Result<Lease> MemoryStore::lease(ThreadId id, std::string_view holder,
                                 std::chrono::milliseconds ttl, std::optional<LeaseToken> token) {
  SKEIN_TRY(check_lease(holder, ttl, token));
  const std::lock_guard lock(mutex_);
  StoredThread* thread = find(id);
  if (thread == nullptr) return tl::unexpected(unknown_thread(id));
  return change_lease(thread->lease, id, holder, ttl, token, *options_.clock, *options_.ids);
}

Result<void> MemoryStore::check_write(const RecordWrite& write) {
  if (write.fence) {
    const StoredThread* thread = find(write.fence->thread);
    if (thread == nullptr) return tl::unexpected(unknown_thread(write.fence->thread));
    SKEIN_TRY(check_fence(thread->lease, write.fence->thread, write.fence->token));
  }
  Version found = 0;
  if (const auto records = records_.find(write.collection); records != records_.end()) {
    const auto record = records->second.find(write.key);
    if (record != records->second.end() && record->second.bytes) found = record->second.at;
  }
  return check_version("record " + quote(write.key) + " of " + write.collection,
                       write.expect_version, found);
}

Result<std::vector<Version>> MemoryStore::write(std::span<const RecordWrite> writes) {
  SKEIN_TRY(check_writes(writes));
  const std::lock_guard lock(mutex_);
  for (const RecordWrite& write : writes) SKEIN_TRY(check_write(write));
  std::vector<Version> versions;
  for (const RecordWrite& write : writes) {
    auto& records = records_[write.collection];
    const auto known = records.find(write.key);
    const bool exists = known != records.end() && known->second.bytes;
    if (!write.bytes && !exists) {
      versions.push_back(0);
      continue;
    }
    if (known != records.end()) feed_.erase(known->second.at);
    const auto kind = write.bytes ? ChangeKind::kRecordWritten : ChangeKind::kRecordDeleted;
    const Position at = publish({.kind = kind, .collection = write.collection, .key = write.key});
    records[write.key] = {write.bytes, at};
    versions.push_back(write.bytes ? at : 0);
  }
  return versions;
}

Result<std::vector<Record>> MemoryStore::scan(const ScanRange& range) {
  SKEIN_TRY(check_scan(range));
  const std::lock_guard lock(mutex_);
  std::vector<Record> out;
  const auto records = records_.find(range.collection);
  if (records == records_.end()) return out;
  const auto& map = records->second;
  const auto first = map.lower_bound(range.from);
  const auto last = range.to.empty() ? map.end() : map.lower_bound(range.to);
  if (!range.to.empty() && range.to <= range.from) return out;
  const auto take = [&out](const auto& entry) {
    if (entry.second.bytes) out.push_back({entry.first, *entry.second.bytes, entry.second.at});
  };
  if (range.direction == Direction::kForward) {
    for (auto at = first; at != last && out.size() < range.limit; ++at) take(*at);
  } else {
    for (auto at = last; at != first && out.size() < range.limit;) take(*--at);
  }
  return out;
}

Result<CheckSummary> MemoryStore::check(const CheckOptions& options,
                                        const std::function<void(const Finding&)>&) {
  CheckSummary summary;
  {
    const std::lock_guard lock(mutex_);
    summary.threads = threads_.size();
    for (const auto& [id, thread] : threads_) summary.events += thread.events.size();
    for (const auto& [name, records] : records_) {
      summary.records += static_cast<std::uint64_t>(
          std::count_if(records.begin(), records.end(),
                        [](const auto& entry) { return entry.second.bytes.has_value(); }));
    }
  }
  if (options.progress) options.progress(summary.threads, summary.threads);
  return summary;
}

}  // namespace

std::unique_ptr<Store> make_memory_store(StoreOptions options) {
  return std::make_unique<MemoryStore>(std::move(options));
}

}  // namespace skein
