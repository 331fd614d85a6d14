#include "store/postgres/rows.h"

#include <algorithm>

#include "core/checksum.h"
#include "core/try.h"

namespace skein::postgres {

Head head_at(const Answer& answer, int row) {
  Head head;
  head.id = answer.thread(row, 0);
  head.agent = answer.bytes(row, 1);
  head.created = answer.integer(row, 2);
  head.status = static_cast<int>(answer.integer(row, 3));
  head.made = answer.integer(row, 4);
  head.version = static_cast<Version>(answer.integer(row, 5));
  head.last_seq = static_cast<Seq>(answer.integer(row, 6));
  head.updated = answer.integer(row, 7);
  head.listed = answer.integer(row, 8);
  head.lease.token = static_cast<LeaseToken>(answer.integer(row, 9));
  head.lease.holder = answer.bytes(row, 10);
  head.lease.expires_boot_ms = answer.integer(row, 11);
  head.lease.boot_id = answer.bytes(row, 12);
  return head;
}

Result<Manifest> manifest_at(const Answer& answer, int row, int column, const Head& head) {
  if (answer.is_null(row, column)) return tl::unexpected(manifest_damaged(head.id, "is missing"));
  SKEIN_ASSIGN(Manifest manifest,
               decode_manifest(head.id, head.version, answer.integer(row, column),
                               answer.bytes(row, column + 1)));
  manifest.last_seq = head.last_seq;
  manifest.updated_at = std::max(manifest.updated_at, Timestamp{head.updated});
  return manifest;
}

EventRow event_at(const Answer& answer, int row) {
  EventRow event;
  event.id = answer.thread(row, 0);
  event.seq = static_cast<Seq>(answer.integer(row, 1));
  event.ts = answer.integer(row, 2);
  if (!answer.is_null(row, 3)) event.tokens = static_cast<std::uint32_t>(answer.integer(row, 3));
  event.key = answer.bytes(row, 4);
  event.crc = answer.integer(row, 5);
  event.body = answer.bytes(row, 6);
  return event;
}

std::uint32_t event_crc(Seq seq, std::int64_t ts, const std::optional<std::uint32_t>& tokens,
                        std::uint32_t content) {
  return numbers_crc({seq, static_cast<std::uint64_t>(ts), tokens_number(tokens)}, content);
}

bool verifies(const EventRow& row) {
  return row.missing == nullptr &&
         event_crc(row.seq, row.ts, row.tokens, content_crc(row.key, row.body)) == row.crc;
}

void decode_event(const EventRow& row, EventReader& reader, Event& event) {
  const char* damage = row.missing;
  if (damage == nullptr && !verifies(row)) damage = "the checksum does not match";
  decode_body(row.body, damage, reader, event);
  event.seq = row.seq;
  event.key.assign(row.key);
  event.tokens = row.tokens;
}

std::int64_t meta_hash(std::string_view key, std::string_view value) {
  const std::uint64_t high = checksum(value, checksum(key, 1));
  return static_cast<std::int64_t>(high << 32 | checksum(value, checksum(key, 2)));
}

ChangeRow change_at(const Answer& answer, int row) {
  ChangeRow found;
  found.g = answer.integer(row, 0);
  found.change.kind = static_cast<ChangeKind>(answer.integer(row, 1));
  found.change.thread = answer.thread(row, 2);
  found.change.collection = answer.bytes(row, 3);
  found.change.key = answer.bytes(row, 4);
  found.crc_matches = change_crc(found.g, found.change) == answer.integer(row, 5);
  return found;
}

}  // namespace skein::postgres
