#include "thread/thread_index.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/try.h"
#include "skein/limits.h"
#include "store/checks.h"
#include "store/codec.h"
#include "store/find_record.h"

namespace skein {
namespace {

constexpr Seq kUnwrittenEvents = 128;         // so many are read each time before they are written
constexpr std::uint64_t kFeedEntries = 2000;  // likewise, entries of the change feed
constexpr std::size_t kMaxKeptBytes = std::size_t{256} << 10;

std::string head_key(ThreadId thread) { return thread.str(); }

std::string generation_prefix(ThreadId thread, Version generation) {
  return fmt::format("{}/{:020}/", thread.str(), generation);
}

std::string chunk_key(ThreadId thread, Version generation, std::size_t number) {
  return fmt::format("{}{:08}", generation_prefix(thread, generation), number);
}

Result<std::vector<Record>> scan_prefix(Store& store, const std::string& prefix,
                                        std::size_t limit) {
  ScanRange range;
  range.collection = kIndexCollection;
  range.from = prefix;
  range.to = prefix;
  ++range.to.back();  // prefixes here end in ASCII
  range.limit = limit;
  return store.scan(range);
}

Result<Manifest> get_manifest(Store& store, ThreadId thread) {
  SKEIN_ASSIGN(auto manifest, store.get(thread));
  if (manifest) return std::move(*manifest);
  return fail(ErrorCode::kNotFound, "there is no thread " + thread.str());
}

}  // namespace

Result<ThreadIndex> ThreadIndex::load(Store& store, ThreadId thread, Stored stored) {
  SKEIN_ASSIGN(Manifest manifest, get_manifest(store, thread));
  ThreadIndex index(store, std::move(manifest));
  index.keeps_ = index.manifest_.last_seq <= kUnwrittenEvents;
  if (stored == Stored::kUse && !index.keeps_) SKEIN_TRY(index.find_stored());
  if (index.manifest_.last_seq - index.stored_ > kUnwrittenEvents) index.refresh_ = true;
  if (index.refresh_) SKEIN_TRY(index.take_cursor());
  SKEIN_TRY(index.catch_up());
  if (index.refresh_) SKEIN_TRY(index.write());
  return index;
}

Result<void> ThreadIndex::find_stored() {
  const auto record = find_record(store_, kIndexCollection, head_key(manifest_.id));
  if (!record && record.error().code == ErrorCode::kDamaged) return {};
  if (!record) return tl::unexpected(record.error());
  stored_version_ = *record ? (*record)->version : 0;
  std::optional<IndexHead> head = *record ? parse_head((*record)->bytes) : std::nullopt;
  if (!head) return {};
  SKEIN_ASSIGN(const bool usable, is_of_this_thread(*head));
  if (!usable) return {};
  head_ = std::move(*head);
  stored_ = head_.events;
  return {};
}

// The place in the feed must be from before all that is read from now on.
Result<void> ThreadIndex::take_cursor() {
  SKEIN_ASSIGN(const ChangeBatch now, store_.changes(Store::kNow, 1, std::chrono::milliseconds(0)));
  SKEIN_ASSIGN(manifest_, get_manifest(store_, manifest_.id));
  head_.cursor = now.cursor;
  return {};
}

Result<bool> ThreadIndex::is_of_this_thread(const IndexHead& head) {
  if (head.events > manifest_.last_seq) return false;
  if (head.thread_version == manifest_.version) return true;
  // Looking through more of the feed than this costs more than making the index anew.
  const std::uint64_t most = std::max<std::uint64_t>(limits::kMaxChanges, head.events);
  std::string cursor = head.cursor;
  for (std::uint64_t seen = 0; seen < most;) {
    const auto batch = store_.changes(cursor, limits::kMaxChanges, std::chrono::milliseconds(0));
    if (!batch) return false;
    for (const Change& change : batch->changes) {
      const bool begins_or_ends =
          change.kind == ChangeKind::kCreated || change.kind == ChangeKind::kRemoved;
      if (begins_or_ends && change.thread == manifest_.id) return false;
    }
    seen += batch->changes.size();
    refresh_ = seen > kFeedEntries;
    if (batch->changes.empty()) return true;
    cursor = batch->cursor;
  }
  return false;
}

Result<void> ThreadIndex::catch_up() {
  if (head_.events >= manifest_.last_seq) return {};
  ReadRange range;
  range.from = head_.events + 1;
  range.head = manifest_.last_seq;
  Result<void> added;
  SKEIN_TRY(store_.read(manifest_.id, range, [&](Event& event) {
    added = add(event);
    if (keeps_) keep(event);
    return added.has_value();
  }));
  return added;
}

void ThreadIndex::keep(Event& event) {
  kept_bytes_ += bytes_of(event) + event.metadata.text().size();
  kept_.push_back(std::move(event));
  if (kept_bytes_ <= kMaxKeptBytes) return;
  keeps_ = false;
  kept_.clear();
}

Result<void> ThreadIndex::read(const ReadRange& range, const EventSink& sink) const {
  if (!keeps_) return store_.read(manifest_.id, range, sink);
  std::uint64_t left = range.limit;
  const bool forward = range.direction == Direction::kForward;
  for (const SeqSpan& span : plan_read(range, kept_.size(), head_.branches)) {
    for (Seq i = 0; i <= span.last - span.first && left > 0; ++i, --left) {
      Event event = kept_[(forward ? span.first + i : span.last - i) - 1];
      if (!sink(event)) return {};
    }
  }
  return {};
}

Result<void> ThreadIndex::add(const Event& event) {
  const EventKind kind = kind_of(event);
  const EventCost cost = cost_as_given(event);
  head_.events = event.seq;
  tail_.push_back({kind, cost.estimated,
                   static_cast<std::uint32_t>(std::min<std::uint64_t>(cost.tokens, UINT32_MAX))});
  if ((event.seq - 1) / kChunkEvents == head_.chunks.size()) head_.chunks.emplace_back();
  ChunkTotals& totals = head_.chunks.back();
  totals.tokens += tail_.back().tokens;
  totals.estimated = totals.estimated || cost.estimated;
  if (kind == EventKind::kUser) totals.newest_user = event.seq;
  if (event.memory_type == MemoryType::kDecisionPoint) head_.decisions.push_back(event.seq);
  if (kind == EventKind::kSystem) head_.system.push_back(event.seq);
  if (kind == EventKind::kSummary) head_.summaries.push_back({event.seq, *covers_of(event)});
  if (kind == EventKind::kUndo) head_.undos.push_back({event.seq, *undoes_of(event)});
  Seq base = event.base.value_or(event.seq - 1);
  if (kind == EventKind::kUnreadable) {
    head_.unreadable.push_back(event.seq);
    SKEIN_ASSIGN(base, base_of_unreadable(event.seq));
  }
  if (base + 1 != event.seq) head_.branches.push_back({event.seq, base});
  return {};
}

// The store may know what the damaged bytes do not say any more.
Result<Seq> ThreadIndex::base_of_unreadable(Seq seq) {
  ReadRange range;
  range.direction = Direction::kBackward;
  range.view = View::kPath;
  range.head = seq;
  range.limit = 2;
  Seq base = 0;
  SKEIN_TRY(store_.read(manifest_.id, range, [&](Event& event) {
    if (event.seq != seq) base = event.seq;
    return true;
  }));
  return base;
}

Result<void> ThreadIndex::write() {
  std::vector<RecordWrite> writes;
  if (stored_ == 0) {
    head_.generation = manifest_.version;
    SKEIN_TRY(add_leftovers(writes));
  }
  head_.thread_version = manifest_.version;
  for (std::size_t n = stored_ / kChunkEvents; n < head_.chunks.size(); ++n) {
    SKEIN_ASSIGN(const Chunk* events, chunk(n));
    writes.push_back({std::string(kIndexCollection), chunk_key(manifest_.id, head_.generation, n),
                      format_chunk(*events), std::nullopt, std::nullopt});
  }
  writes.push_back({std::string(kIndexCollection), head_key(manifest_.id), format_head(head_),
                    stored_version_, std::nullopt});
  // Where this cannot be written, or somebody else was faster, the same is found out again.
  (void)store_.write(writes);
  return {};
}

// Deletes chunks of an index that is replaced, where they do not have the same keys.
Result<void> ThreadIndex::add_leftovers(std::vector<RecordWrite>& writes) {
  const auto old = scan_prefix(store_, manifest_.id.str() + '/', limits::kMaxPageSize);
  if (!old) return {};
  for (const Record& record : *old) {
    if (record.key.starts_with(generation_prefix(manifest_.id, head_.generation))) continue;
    writes.push_back(
        {std::string(kIndexCollection), record.key, std::nullopt, std::nullopt, std::nullopt});
  }
  return {};
}

Result<const ThreadIndex::Chunk*> ThreadIndex::chunk(std::size_t number) {
  if (const auto known = loaded_.find(number); known != loaded_.end()) return &known->second;
  const Seq first = number * kChunkEvents + 1;
  const Seq last = std::min<Seq>(first + kChunkEvents - 1, head_.events);
  Chunk events;
  if (first <= stored_) {
    SKEIN_ASSIGN(const auto record, find_record(store_, kIndexCollection,
                                                chunk_key(manifest_.id, head_.generation, number)));
    auto parsed = record ? parse_chunk(record->bytes) : std::nullopt;
    const Seq here = std::min(last, stored_) - first + 1;
    // Another process may have written more meanwhile.
    if (!parsed || parsed->size() < here) {
      return fail(ErrorCode::kDamaged, fmt::format("the index of thread {} lacks events {} to {}",
                                                   manifest_.id.str(), first, last));
    }
    parsed->resize(here);
    events = std::move(*parsed);
  }
  const Seq from = std::max(first, stored_ + 1);
  if (from <= last) {
    const auto begin = tail_.begin() + static_cast<std::ptrdiff_t>(from - stored_ - 1);
    events.insert(events.end(), begin, begin + static_cast<std::ptrdiff_t>(last - from + 1));
  }
  return &loaded_.emplace(number, std::move(events)).first->second;
}

Result<EventCost> ThreadIndex::cost(const SeqRange& range) {
  EventCost sum;
  for (Seq at = range.first; at <= range.last;) {
    const std::size_t number = (at - 1) / kChunkEvents;
    const Seq first = number * kChunkEvents + 1;
    const Seq last = std::min<Seq>(first + kChunkEvents - 1, head_.events);
    const Seq until = std::min(last, range.last);
    if (at == first && until == last) {
      sum += {head_.chunks[number].tokens, head_.chunks[number].estimated};
    } else {
      SKEIN_ASSIGN(const Chunk* events, chunk(number));
      for (Seq seq = at; seq <= until; ++seq) {
        const IndexedEvent& event = (*events)[seq - first];
        sum += {event.tokens, event.estimated};
      }
    }
    at = until + 1;
  }
  return sum;
}

Result<Seq> ThreadIndex::newest_user(const SeqSet& set) {
  for (auto range = set.ranges().rbegin(); range != set.ranges().rend(); ++range) {
    for (Seq at = range->last; at >= range->first;) {
      const std::size_t number = (at - 1) / kChunkEvents;
      const Seq first = number * kChunkEvents + 1;
      const Seq newest = head_.chunks[number].newest_user;
      if (newest >= range->first && newest <= at) return newest;
      if (newest > at) {
        SKEIN_ASSIGN(const Chunk* events, chunk(number));
        for (Seq seq = at; seq >= std::max(first, range->first); --seq) {
          if ((*events)[seq - first].kind == EventKind::kUser) return seq;
        }
      }
      if (first == 1) break;
      at = first - 1;
    }
  }
  return 0;
}

Result<void> forget_index(Store& store, ThreadId thread) {
  std::string first;  // of the last round
  while (true) {
    SKEIN_ASSIGN(const auto records, scan_prefix(store, thread.str(), limits::kMaxPageSize));
    if (records.empty()) return {};
    if (records.front().key == first) {
      return fail(ErrorCode::kDamaged, fmt::format("record {} of {} cannot be deleted",
                                                   records.front().key, kIndexCollection));
    }
    first = records.front().key;
    std::vector<RecordWrite> writes;
    for (const Record& record : records) {
      writes.push_back(
          {std::string(kIndexCollection), record.key, std::nullopt, std::nullopt, std::nullopt});
    }
    SKEIN_TRY(store.write(writes));
  }
}

}  // namespace skein
