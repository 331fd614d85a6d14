// Threads and events as rows.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "skein/store.h"
#include "skein/thread.h"
#include "store/lease.h"
#include "store/postgres/connection.h"
#include "store/row_codec.h"

namespace skein::postgres {

// How far a thread's place in the list by time of update may be behind, in microseconds. An append
// moves the thread there only when it has fallen further back than this.
inline constexpr std::int64_t kListLagUs = 50'000;

// A thread's row: all that an append must know.
struct Head {
  ThreadId id;
  std::string agent;
  std::int64_t created = 0;
  int status = 0;
  std::int64_t made = 0;  // g of its creation
  Version version = 0;    // of the manifest
  Seq last_seq = 0;
  std::int64_t updated = 0;  // updated_at, exactly
  std::int64_t listed = 0;   // never later, and at most kListLagUs earlier
  LeaseState lease;
};
#define SKEIN_HEAD_COLUMNS                                                         \
  "t.id, t.agent, t.created, t.status, t.made, t.version, t.last_seq, t.updated, " \
  "t.listed, t.token, t.holder, t.expires, t.boot"
inline constexpr int kHeadColumns = 13;
Head head_at(const Answer& answer, int row);
// What an array has for the head `t`, which is where the array `ids`, in order, has its id. A join
// would do the same, but PostgreSQL reads all threads for it while it believes that there are few.
#define SKEIN_OF_HEAD(array, ids) "(" array "::bigint[])[width_bucket(t.id, " ids "::bigint[])]"

// From a thread's head and the columns `crc, body` of its manifest, which are null when it is
// missing. kDamaged: it does not verify.
Result<Manifest> manifest_at(const Answer& answer, int row, int column, const Head& head);

// The columns of an event, as every reader selects them.
#define SKEIN_EVENT_COLUMNS "e.id, e.seq, e.ts, e.tokens, e.key, e.crc, e.body"
struct EventRow {
  ThreadId id;
  Seq seq = 0;
  std::int64_t ts = 0;
  std::optional<std::uint32_t> tokens;
  std::string_view key;
  std::int64_t crc = 0;
  std::string_view body;
  const char* missing = nullptr;  // set: there is no such row, and why
};
EventRow event_at(const Answer& answer, int row);
// Says nothing of the thread, so that a fork can copy rows as they are.
std::uint32_t event_crc(Seq seq, std::int64_t ts, const std::optional<std::uint32_t>& tokens,
                        std::uint32_t content);
bool verifies(const EventRow& row);
// Sets `event` from the row, whose body is followed by JsonObjectReader::kPadding readable bytes.
void decode_event(const EventRow& row, EventReader& reader, Event& event);

// By which threads with a member of metadata are found.
std::int64_t meta_hash(std::string_view key, std::string_view value);

// Of columns g, kind, thread, collection, key, crc.
struct ChangeRow {
  std::int64_t g = 0;
  Change change;
  bool crc_matches = false;
};
ChangeRow change_at(const Answer& answer, int row);

}  // namespace skein::postgres
