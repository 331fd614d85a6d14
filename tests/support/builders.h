// Short ways to say what the tests hand in, and to ask for what came out.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "skein/store.h"

namespace skein::test {

Json json(std::string_view text);  // must be valid

Event message(std::string_view text, Role role = Role::kUser);
Event tool_use(std::string_view name, std::string_view input = "{}");
Event assistant_text(std::string_view text);
Event run_result(double cost, std::int64_t turns);
Event with_key(Event event, std::string_view key);
Event with_base(Event event, Seq base);
Event with_metadata(Event event, std::string_view object);
Event with_extra(Event event, std::string_view object);

ManifestPatch patch(std::string_view object);  // must be valid
RecordWrite record(std::string_view collection, std::string_view key, std::string_view bytes);
RecordWrite deletion(std::string_view collection, std::string_view key);

// --- What a store answers, where an error is a bug of the test ---
Manifest create_thread(Store& store, std::string_view agent_id = "agent",
                       std::vector<Event> events = {});
Manifest get_thread(Store& store, ThreadId id);  // which exists
bool exists(Store& store, ThreadId id);
Result<Appended> append_one(Store& store, Append append);
Result<Appended> append_one(Store& store, ThreadId thread, Event event);
Seq must_append(Store& store, ThreadId thread, Event event);
std::vector<Event> read_all(Store& store, ThreadId id, const ReadRange& range = {});
std::vector<Seq> read_seqs(Store& store, ThreadId id, const ReadRange& range = {});
std::vector<ThreadId> list_ids(Store& store, const ListQuery& query);  // of one page
std::vector<ThreadId> list_all_ids(Store& store, ListQuery query);     // of all pages
std::vector<Record> scan_all(Store& store, std::string_view collection);
std::vector<std::string> scan_keys(Store& store, const ScanRange& range);

// Reads the feed to its end, `limit` at a time, and moves the cursor there.
std::vector<Change> drain(Store& store, std::string& cursor, std::size_t limit = 1000);
std::vector<std::string> drain_text(Store& store, std::string& cursor, std::size_t limit = 1000);

const std::string& text_of(const Event& event);  // of a message or assistant_text
std::vector<std::string> texts(const std::vector<Event>& events);

// All that an event or a manifest says, and what is kept beside it, versions aside.
std::string describe(const Event& event);
std::string describe(const Manifest& manifest);
std::string describe(const Change& change);  // "appended 0123456789ab 7", "written runs/a"

}  // namespace skein::test
