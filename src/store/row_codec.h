// What databases store of events, manifests and records: bodies, and the checksums over them.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

#include "skein/event.h"
#include "skein/store.h"
#include "skein/thread.h"
#include "store/codec.h"

namespace skein {

// An event as far as it can be prepared before it has its place.
struct PreparedEvent {
  std::string body;  // JSON, without seq, key and tokens
  std::string key;
  std::optional<std::int64_t> key_hash;
  std::optional<std::uint32_t> tokens;
  std::optional<Seq> base;
  std::int64_t timestamp_us = 0;
  std::uint32_t content_crc = 0;  // over body and key
};
// `now` is the timestamp of an event that has none.
PreparedEvent prepare_event(const Event& event, Timestamp now);

std::int64_t key_hash(std::string_view key);
std::uint32_t content_crc(std::string_view key, std::string_view body);
// Of the numbers in a row, chained to the checksum of what else it holds.
std::uint32_t numbers_crc(std::initializer_list<std::uint64_t> numbers, std::uint64_t seed);
// 0 for none, which no number of tokens is taken for.
std::uint64_t tokens_number(const std::optional<std::uint32_t>& tokens);

// Sets what the event says from its body, which is followed by JsonObjectReader::kPadding readable
// bytes; Unreadable, when it cannot be read or `damage` says why it must not.
void decode_body(std::string_view body, const char* damage, EventReader& reader, Event& event);

std::string encode_manifest(const Manifest& manifest);
std::uint32_t manifest_crc(ThreadId id, Version version, std::string_view body);
Error manifest_damaged(ThreadId id, const char* how);
// kDamaged: it does not verify. last_seq and a later updated_at are the caller's to set.
Result<Manifest> decode_manifest(ThreadId id, Version version, std::int64_t crc,
                                 std::string_view body);

std::uint32_t record_crc(std::string_view collection, std::string_view key, Version version,
                         std::string_view bytes);
std::uint32_t change_crc(std::int64_t position, const Change& change);

// The cursor of a feed whose positions are numbers. "" is the beginning.
Result<std::int64_t> parse_position(std::string_view cursor);

}  // namespace skein
