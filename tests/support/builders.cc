#include "support/builders.h"

#include <gtest/gtest.h>

#include <utility>

#include "support/expect.h"

namespace skein::test {

Json json(std::string_view text) { return must(Json::parse(text)); }

Event message(std::string_view text, Role role) {
  Event event;
  event.payload = Message{role, std::string(text)};
  return event;
}

Event tool_use(std::string_view name, std::string_view input) {
  Event event;
  event.payload = ToolUse{std::string(name), json(input)};
  return event;
}

Event assistant_text(std::string_view text) {
  Event event;
  event.payload = AssistantText{std::string(text)};
  return event;
}

Event run_result(double cost, std::int64_t turns) {
  Event event;
  RunResult result;
  result.cost = cost;
  result.turns = turns;
  event.payload = result;
  return event;
}

Event with_key(Event event, std::string_view key) {
  event.key = key;
  return event;
}

Event with_base(Event event, Seq base) {
  event.base = base;
  return event;
}

Event with_metadata(Event event, std::string_view object) {
  event.metadata = json(object);
  return event;
}

Event with_extra(Event event, std::string_view object) {
  event.extra = json(object);
  return event;
}

ManifestPatch patch(std::string_view object) { return must(ManifestPatch::parse(object)); }

RecordWrite record(std::string_view collection, std::string_view key, std::string_view bytes) {
  RecordWrite write = deletion(collection, key);
  write.bytes = bytes;
  return write;
}

RecordWrite deletion(std::string_view collection, std::string_view key) {
  RecordWrite write;
  write.collection = collection;
  write.key = key;
  return write;
}

Manifest create_thread(Store& store, std::string_view agent_id, std::vector<Event> events) {
  NewThread thread;
  thread.agent_id = agent_id;
  thread.events = std::move(events);
  return must(store.create(thread));
}

Manifest get_thread(Store& store, ThreadId id) {
  std::optional<Manifest> manifest = must(store.get(id));
  if (!manifest) {
    ADD_FAILURE() << "no thread " << id.str();
    return {};
  }
  return std::move(*manifest);
}

bool exists(Store& store, ThreadId id) { return must(store.get(id)).has_value(); }

Result<Appended> append_one(Store& store, Append append) {
  std::vector<Result<Appended>> results = store.append(std::span(&append, 1));
  if (results.size() != 1) {
    ADD_FAILURE() << results.size() << " results for one append";
    return fail(ErrorCode::kIo, "no result");
  }
  return std::move(results.front());
}

Result<Appended> append_one(Store& store, ThreadId thread, Event event) {
  Append append;
  append.thread = thread;
  append.event = std::move(event);
  return append_one(store, std::move(append));
}

Seq must_append(Store& store, ThreadId thread, Event event) {
  return must(append_one(store, thread, std::move(event))).seq;
}

std::vector<Event> read_all(Store& store, ThreadId id, const ReadRange& range) {
  std::vector<Event> events;
  must(store.read(id, range, [&events](Event& event) {
    events.push_back(std::move(event));
    return true;
  }));
  return events;
}

std::vector<Seq> read_seqs(Store& store, ThreadId id, const ReadRange& range) {
  std::vector<Seq> seqs;
  for (const Event& event : read_all(store, id, range)) seqs.push_back(event.seq);
  return seqs;
}

std::vector<ThreadId> list_ids(Store& store, const ListQuery& query) {
  std::vector<ThreadId> ids;
  for (const Manifest& manifest : must(store.list(query)).threads) ids.push_back(manifest.id);
  return ids;
}

std::vector<ThreadId> list_all_ids(Store& store, ListQuery query) {
  std::vector<ThreadId> ids;
  do {
    ThreadPage page = must(store.list(query));
    for (const Manifest& manifest : page.threads) ids.push_back(manifest.id);
    query.after = std::move(page.next);
  } while (!query.after.empty());
  return ids;
}

std::vector<Record> scan_all(Store& store, std::string_view collection) {
  ScanRange range;
  range.collection = collection;
  range.limit = 1000;
  return must(store.scan(range));
}

std::vector<std::string> scan_keys(Store& store, const ScanRange& range) {
  std::vector<std::string> keys;
  for (Record& record : must(store.scan(range))) keys.push_back(std::move(record.key));
  return keys;
}

std::vector<Change> drain(Store& store, std::string& cursor, std::size_t limit) {
  std::vector<Change> all;
  while (true) {
    ChangeBatch batch = must(store.changes(cursor, limit, std::chrono::milliseconds(0)));
    EXPECT_LE(batch.changes.size(), limit);
    cursor = std::move(batch.cursor);
    if (batch.changes.empty()) return all;
    for (Change& change : batch.changes) all.push_back(std::move(change));
  }
}

std::vector<std::string> drain_text(Store& store, std::string& cursor, std::size_t limit) {
  std::vector<std::string> all;
  for (const Change& change : drain(store, cursor, limit)) all.push_back(describe(change));
  return all;
}

const std::string& text_of(const Event& event) {
  static const std::string kNone = "(no text)";
  if (const auto* said = std::get_if<Message>(&event.payload)) return said->text;
  if (const auto* narrated = std::get_if<AssistantText>(&event.payload)) return narrated->text;
  return kNone;
}

std::vector<std::string> texts(const std::vector<Event>& events) {
  std::vector<std::string> all;
  for (const Event& event : events) all.push_back(text_of(event));
  return all;
}

std::string describe(const Event& event) {
  std::string text = to_json(event);
  if (!event.key.empty()) text += " key=" + event.key;
  if (event.tokens) text += " tokens=" + std::to_string(*event.tokens);
  if (const auto* bad = std::get_if<Unreadable>(&event.payload)) text += " raw=" + bad->raw;
  return text;
}

std::string describe(const Manifest& manifest) {
  return to_json(manifest) + " last_seq=" + std::to_string(manifest.last_seq);
}

std::string describe(const Change& change) {
  switch (change.kind) {
    case ChangeKind::kCreated:
      return "created " + change.thread.str();
    case ChangeKind::kAppended:
      return "appended " + change.thread.str() + " " + std::to_string(change.seq);
    case ChangeKind::kUpdated:
      return "updated " + change.thread.str();
    case ChangeKind::kRemoved:
      return "removed " + change.thread.str();
    case ChangeKind::kRecordWritten:
      return "written " + change.collection + "/" + change.key;
    case ChangeKind::kRecordDeleted:
      return "deleted " + change.collection + "/" + change.key;
  }
  return "a kind that does not exist";
}

}  // namespace skein::test
