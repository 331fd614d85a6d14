// Events, manifests and records as rows: what is stored, and the checksum over it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/sqlite.h"
#include "skein/event.h"
#include "skein/store.h"
#include "skein/thread.h"
#include "store/codec.h"
#include "store/row_codec.h"
#include "store/sqlite/event_row.h"
#include "store/sqlite/writer.h"

namespace skein::sqlite {

// Puts the event at the end of its thread, which `head` is the head of, and moves the head on. The
// caller has checked everything. The row that it answers borrows from the event.
Result<EventRow> insert_event(WriteContext& context, ThreadId id, Head& head,
                              const PreparedEvent& event);

// Moves the thread's entry in the list by time of update.
Result<void> move_in_list(Database& database, ThreadId id, std::int64_t agent, std::int64_t from,
                          std::int64_t to);

// The columns of an event row, in this order, as every reader selects them.
#define SKEIN_EVENT_COLUMNS "g, id, seq, updated, lag, tokens, key, crc, body"

// Borrows from the query until its next step.
EventRow event_row(const Query& query);
std::uint32_t event_crc(const EventRow& row, std::uint32_t content);
bool verifies(const EventRow& row);

// Sets `event` from the row, whose body is followed by JsonObjectReader::kPadding readable bytes;
// Unreadable when it does not verify.
void decode_event(const EventRow& row, EventReader& reader, Event& event);

// A line of the feed that is not an event.
Result<std::int64_t> insert_change(WriteContext& context, const Change& change);

// Of a query for g, kind, thread, collection, key, crc.
struct ChangeRow {
  std::int64_t g = 0;
  Change change;
  bool crc_matches = false;
};
ChangeRow change_at(const Query& query);

}  // namespace skein::sqlite
