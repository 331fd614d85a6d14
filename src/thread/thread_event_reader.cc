#include "thread/thread_event_reader.h"

#include "core/try.h"
#include "thread/announcements.h"
#include "thread/removals.h"

namespace skein {
namespace {

constexpr std::size_t kMostChanges = 512;
constexpr std::size_t kMostBytes = std::size_t{4} << 20;
constexpr std::size_t kMostTold = 1 << 16;

std::size_t bytes_of(const ThreadEvent& event) {
  std::size_t bytes = sizeof event;
  if (event.manifest) bytes += event.manifest->metadata.text().size();
  if (event.message) {
    bytes += std::get<Message>(event.message->payload).text.size() +
             event.message->metadata.text().size() + event.message->extra.text().size();
  }
  return bytes;
}

void add(ThreadEventBatch& batch, ThreadEvent event) {
  batch.bytes += bytes_of(event);
  batch.events.push_back(std::move(event));
}

}  // namespace

Result<ThreadEventBatch> ThreadEventReader::next(std::chrono::milliseconds wait) {
  SKEIN_ASSIGN(const ChangeBatch read, store_.changes(cursor_, kMostChanges, wait));
  ThreadEventBatch batch;
  batch.begin = cursor_;
  std::size_t at = 0;
  while (at < read.changes.size() && batch.bytes < kMostBytes) {
    const auto taken = tell(read.changes, at, batch);
    // What was told before the error is told; the next call meets the error at once.
    if (!taken && at > 0) break;
    if (!taken) return tl::unexpected(taken.error());
    at += *taken;
    batch.places.push_back({read.changes[at - 1].cursor, batch.events.size()});
  }
  batch.end = at == read.changes.size() ? read.cursor : read.changes[at - 1].cursor;
  batch.places.push_back({batch.end, batch.events.size()});
  cursor_ = batch.end;
  return batch;
}

Result<std::size_t> ThreadEventReader::tell(const std::vector<Change>& changes, std::size_t at,
                                            ThreadEventBatch& batch) {
  const Change& change = changes[at];
  switch (change.kind) {
    case ChangeKind::kAppended:
      return tell_messages(changes, at, batch);
    case ChangeKind::kCreated:
      if (told(change.thread).created) break;
      SKEIN_TRY(tell_manifest(ThreadEventKind::kCreated, change.thread, change.cursor, batch));
      told(change.thread).created = true;
      break;
    case ChangeKind::kUpdated:
      SKEIN_TRY(tell_manifest(ThreadEventKind::kUpdated, change.thread, change.cursor, batch));
      break;
    case ChangeKind::kRemoved:
      SKEIN_TRY(tell_deletion(change.thread, change.cursor, batch));
      break;
    case ChangeKind::kRecordWritten:
      if (const auto said = announcement_of(change)) {
        SKEIN_TRY(tell_manifest(said->kind, said->thread, change.cursor, batch));
      }
      break;
    case ChangeKind::kRecordDeleted:
      break;
  }
  return 1;
}

// Appends to one thread that follow each other are read together.
Result<std::size_t> ThreadEventReader::tell_messages(const std::vector<Change>& changes,
                                                     std::size_t at, ThreadEventBatch& batch) {
  const ThreadId thread = changes[at].thread;
  const Seq first = changes[at].seq;
  std::size_t count = 1;
  while (at + count < changes.size() && changes[at + count].kind == ChangeKind::kAppended &&
         changes[at + count].thread == thread && changes[at + count].seq == first + count) {
    ++count;
  }
  SKEIN_ASSIGN(const std::string* agent, agent_of(thread));
  if (agent == nullptr) return count;
  Told& known = told(thread);
  std::size_t taken = 0;
  const auto read = store_.read(thread, {.from = first, .limit = count}, [&](Event& event) {
    const Change& change = changes[at + taken++];
    const bool repeated = event.seq <= known.last_seq;
    if (!repeated) known.last_seq = event.seq;
    if (!repeated && std::holds_alternative<Message>(event.payload)) {
      add(batch, {.kind = ThreadEventKind::kMessage,
                  .thread = thread,
                  .agent_id = *agent,
                  .manifest = {},
                  .message = std::move(event),
                  .cursor = change.cursor});
    }
    batch.places.push_back({change.cursor, batch.events.size()});
    return batch.bytes < kMostBytes;
  });
  if (taken > 0) return taken;
  if (!read) return tl::unexpected(read.error());
  return count;  // removed in between, which will be told
}

Result<void> ThreadEventReader::tell_manifest(ThreadEventKind kind, ThreadId thread,
                                              const std::string& cursor, ThreadEventBatch& batch) {
  auto manifest = store_.get(thread);
  // A damaged manifest is the doctor's affair; it must not end the telling of others.
  if (!manifest && manifest.error().code == ErrorCode::kDamaged) return {};
  if (!manifest) return tl::unexpected(std::move(manifest).error());
  if (!*manifest) return {};
  if (kind == ThreadEventKind::kCreated || kind == ThreadEventKind::kUpdated) {
    SKEIN_TRY(announce_status(store_, **manifest));
  }
  const std::string agent = (*manifest)->agent_id;
  told(thread).agent_id = agent;
  add(batch, {.kind = kind,
              .thread = thread,
              .agent_id = agent,
              .manifest = std::move(**manifest),
              .message = {},
              .cursor = cursor});
  return {};
}

Result<void> ThreadEventReader::tell_deletion(ThreadId thread, const std::string& cursor,
                                              ThreadEventBatch& batch) {
  std::string agent = told(thread).agent_id;
  if (agent.empty()) {
    SKEIN_ASSIGN(const auto removal, find_removal(store_, thread));
    if (removal) agent = removal->agent_id;
  }
  add(batch, {.kind = ThreadEventKind::kDeleted,
              .thread = thread,
              .agent_id = std::move(agent),
              .manifest = {},
              .message = {},
              .cursor = cursor});
  told_.erase(thread);
  return {};
}

Result<const std::string*> ThreadEventReader::agent_of(ThreadId thread) {
  if (told(thread).agent_id.empty()) {
    auto manifest = store_.get(thread);
    if (!manifest && manifest.error().code == ErrorCode::kDamaged) return nullptr;
    if (!manifest) return tl::unexpected(std::move(manifest).error());
    if (!*manifest) return nullptr;
    told(thread).agent_id = (*manifest)->agent_id;
  }
  return &told(thread).agent_id;
}

ThreadEventReader::Told& ThreadEventReader::told(ThreadId thread) {
  if (const auto known = told_.find(thread); known != told_.end()) return known->second;
  if (told_.size() >= kMostTold) told_.clear();
  return told_[thread];
}

}  // namespace skein
