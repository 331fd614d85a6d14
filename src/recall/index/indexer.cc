#include "recall/index/indexer.h"

#include <unordered_map>

#include "core/try.h"
#include "recall/index/message_writer.h"
#include "skein/limits.h"

namespace skein {

Result<void> Indexer::commit(IndexWriting& writing) {
  SKEIN_TRY(writing.commit());
  names_.committed();
  return {};
}

Result<void> Indexer::follow_feed(std::chrono::milliseconds wait, IndexCounts& counts) {
  for (;;) {
    std::string cursor;
    {
      SKEIN_ASSIGN(IndexReading reading, file_.read());
      SKEIN_ASSIGN(cursor, index_text(reading.db(), kCursor));
    }
    if (cursor.empty()) return look_through({}, counts, {});
    auto batch = store_.changes(cursor, limits::kMaxChanges, wait);
    if (!batch && batch.error().code == ErrorCode::kInvalid) {
      // A cursor of another store, which lay here before.
      return look_through({}, counts, {});
    }
    SKEIN_TRY(batch);
    if (batch->changes.empty()) return {};
    counts.changes += batch->changes.size();
    SKEIN_ASSIGN(IndexWriting writing, file_.write());
    SKEIN_TRY(names_.begin(writing.db()));
    SKEIN_ASSIGN(const std::string now, index_text(writing.db(), kCursor));
    if (now != cursor) continue;  // another process did it
    SKEIN_TRY(note_changes(writing, batch->changes, counts));
    SKEIN_TRY(set_index_value(writing.db(), kCursor, batch->cursor));
    SKEIN_TRY(commit(writing));
    // What came meanwhile is for the next time: while others write, there would be no end.
    if (batch->changes.size() < limits::kMaxChanges) return {};
    wait = std::chrono::milliseconds(0);
  }
}

Result<bool> Indexer::note_changes(IndexWriting& writing, const std::vector<Change>& changes,
                                   IndexCounts& counts) {
  bool noted = false;
  // Of many events of a thread the last one tells all.
  std::unordered_map<ThreadId, Seq> appended;
  for (const Change& change : changes) {
    if (change.kind == ChangeKind::kAppended) {
      Seq& last = appended[change.thread];
      last = std::max(last, change.seq);
    } else if (change.kind == ChangeKind::kCreated) {
      appended.try_emplace(change.thread, 0);
    } else if (change.kind == ChangeKind::kRemoved) {
      appended.erase(change.thread);
      SKEIN_ASSIGN(const bool removed, note_removal(writing, change.thread, counts));
      noted = noted || removed;
    }
  }
  for (const auto& [thread, seq] : appended) {
    SKEIN_ASSIGN(const bool grown, note_append(writing, thread, seq, counts));
    noted = noted || grown;
  }
  return noted;
}

Result<bool> Indexer::note_append(IndexWriting& writing, ThreadId thread, Seq seq,
                                  IndexCounts& counts) {
  SKEIN_ASSIGN(auto row, find_thread_row(writing.db(), thread));
  if (!row || row->state == ThreadState::kGone || seq == 0) {
    auto manifest = store_.get(thread);
    if (!manifest && manifest.error().code == ErrorCode::kDamaged) return false;
    SKEIN_TRY(manifest);
    return *manifest ? note_thread(writing, **manifest, counts) : Result<bool>(false);
  }
  if (row->target >= seq) return false;
  row->target = seq;
  SKEIN_TRY(put_thread_row(writing.db(), *row));
  return true;
}

Result<bool> Indexer::note_thread(IndexWriting& writing, const Manifest& manifest,
                                  IndexCounts& counts) {
  SKEIN_ASSIGN(auto row, find_thread_row(writing.db(), manifest.id));
  if (!row && manifest.last_seq == 0) return false;  // there is nothing to be found in it yet
  if (row && row->created != manifest.created_at && row->state != ThreadState::kGone) {
    // Another thread had this id.
    SKEIN_ASSIGN(const auto removed, remove_messages(writing, *row));
    counts.removed += removed;
    row->state = ThreadState::kGone;
  }
  if (!row || row->state == ThreadState::kGone) {
    ThreadRow fresh;
    fresh.thread = manifest.id;
    SKEIN_ASSIGN(fresh.agent, names_.agent(writing.db(), manifest.agent_id));
    fresh.created = manifest.created_at;
    fresh.parent = manifest.parent;
    fresh.target = manifest.last_seq;
    fresh.changed = row ? row->changed : 0;
    SKEIN_TRY(put_thread_row(writing.db(), fresh));
    return true;
  }
  if (row->target == manifest.last_seq) return false;
  // With fewer events than it had, the store was replaced by an older one.
  if (manifest.last_seq < row->covered) row->state = ThreadState::kAnew;
  row->target = manifest.last_seq;
  SKEIN_TRY(put_thread_row(writing.db(), *row));
  return true;
}

Result<bool> Indexer::note_removal(IndexWriting& writing, ThreadId thread, IndexCounts& counts) {
  SKEIN_ASSIGN(auto row, find_thread_row(writing.db(), thread));
  if (!row || row->state == ThreadState::kGone) return false;
  SKEIN_ASSIGN(const auto removed, remove_messages(writing, *row));
  counts.removed += removed;
  counts.gone.insert(thread);
  row->state = ThreadState::kGone;
  row->target = row->covered = 0;
  row->changed = writing.generation();
  SKEIN_TRY(put_thread_row(writing.db(), *row));
  SKEIN_TRY(mark_forks(writing.db(), thread));
  return true;
}

Result<void> Indexer::look_through(const std::optional<std::string>& agent, IndexCounts& counts,
                                   std::stop_token stop) {
  // From here on the feed tells what happens; what happened before is found in the list.
  SKEIN_ASSIGN(const ChangeBatch present, store_.changes(Store::kNow, 1, {}));
  std::unordered_map<std::uint64_t, bool> seen;
  ListQuery query;
  query.agent_id = agent;
  query.order = ListOrder::kCreatedOldestFirst;
  query.limit = limits::kMaxPageSize;
  do {
    if (stop.stop_requested()) return {};
    SKEIN_ASSIGN(const ThreadPage page, store_.list(query));
    SKEIN_ASSIGN(IndexWriting writing, file_.write());
    SKEIN_TRY(names_.begin(writing.db()));
    bool noted = false;
    for (const Manifest& manifest : page.threads) {
      seen.emplace(manifest.id.bits(), true);
      SKEIN_ASSIGN(const bool is_new, note_thread(writing, manifest, counts));
      noted = noted || is_new;
    }
    if (noted) SKEIN_TRY(commit(writing));
    query.after = page.next;
  } while (!query.after.empty());
  SKEIN_TRY(remove_unseen(agent, seen, counts));
  if (agent) return {};
  SKEIN_ASSIGN(IndexWriting writing, file_.write());
  SKEIN_ASSIGN(const std::string cursor, index_text(writing.db(), kCursor));
  if (!cursor.empty() && store_.changes(cursor, 1, {})) return {};
  SKEIN_TRY(set_index_value(writing.db(), kCursor, present.cursor));
  return commit(writing);
}

Result<void> Indexer::remove_unseen(const std::optional<std::string>& agent,
                                    const std::unordered_map<std::uint64_t, bool>& seen,
                                    IndexCounts& counts) {
  std::vector<ThreadId> unseen;
  {
    SKEIN_ASSIGN(IndexReading reading, file_.read());
    SKEIN_ASSIGN(Query query,
                 reading.db().query("SELECT thread FROM threads JOIN agents USING (agent) "
                                    "WHERE state <> 2 AND (?1 IS NULL OR name = ?1)"));
    query.bind(agent);
    for (;;) {
      SKEIN_ASSIGN(const bool row, query.step());
      if (!row) break;
      const auto bits = static_cast<std::uint64_t>(query.integer(0));
      if (!seen.contains(bits)) unseen.push_back(ThreadId::from_bits(bits));
    }
  }
  if (unseen.empty()) return {};
  SKEIN_ASSIGN(IndexWriting writing, file_.write());
  SKEIN_TRY(names_.begin(writing.db()));
  for (const ThreadId thread : unseen) {
    // Made since the list was read; or damaged, and not gone.
    const auto manifest = store_.get(thread);
    if (!manifest || *manifest) continue;
    SKEIN_TRY(note_removal(writing, thread, counts));
  }
  return commit(writing);
}

Result<void> Indexer::forget_threads(const std::vector<ThreadId>& threads, IndexCounts& counts) {
  std::vector<ThreadId> gone;
  for (const ThreadId thread : threads) {
    SKEIN_ASSIGN(const auto manifest, store_.get(thread));
    if (!manifest) gone.push_back(thread);
  }
  if (gone.empty()) return {};
  SKEIN_ASSIGN(IndexWriting writing, file_.write());
  SKEIN_TRY(names_.begin(writing.db()));
  for (const ThreadId thread : gone) SKEIN_TRY(note_removal(writing, thread, counts));
  return commit(writing);
}

Result<void> Indexer::index_batch(IndexWriting& writing, const std::vector<ThreadId>& threads,
                                  IndexCounts& counts) {
  IndexCounts batch;
  MessageWriter writer(store_, writing, names_, analyzer_, batch);
  for (const ThreadId thread : threads) {
    SKEIN_ASSIGN(const auto row, find_thread_row(writing.db(), thread));
    if (row && row->is_behind()) SKEIN_TRY(writer.index(*row));
    if (writer.is_full()) break;
  }
  SKEIN_TRY(commit(writing));
  counts.added += batch.added;
  counts.removed += batch.removed;
  counts.events += batch.events;
  return {};
}

Result<bool> Indexer::index_some(const std::optional<std::string>& agent, IndexCounts& counts) {
  constexpr std::size_t kThreads = 256;
  SKEIN_ASSIGN(IndexWriting writing, file_.write());
  SKEIN_TRY(names_.begin(writing.db()));
  std::optional<std::int64_t> number;
  if (agent) {
    SKEIN_ASSIGN(number, find_name(writing.db(), kAgentNames, *agent));
    if (!number) return false;
  }
  SKEIN_ASSIGN(const auto threads, threads_behind(writing.db(), number, kThreads));
  if (threads.empty()) return false;
  SKEIN_TRY(index_batch(writing, threads, counts));
  return true;
}

Result<bool> Indexer::index_thread(ThreadId thread, IndexCounts& counts) {
  SKEIN_ASSIGN(const auto manifest, store_.get(thread));
  if (!manifest) return false;
  SKEIN_ASSIGN(IndexWriting writing, file_.write());
  SKEIN_TRY(names_.begin(writing.db()));
  SKEIN_TRY(note_thread(writing, *manifest, counts));
  SKEIN_ASSIGN(const auto row, find_thread_row(writing.db(), thread));
  if (!row || !row->is_behind()) return false;
  SKEIN_TRY(index_batch(writing, {thread}, counts));
  return true;
}

}  // namespace skein
