#include "store/row_codec.h"

#include <bit>
#include <charconv>

#include "core/checksum.h"
#include "core/try.h"
#include "store/checks.h"

namespace skein {
namespace {

// A seed of 0 is no seed: the length keeps two texts apart from one.
std::uint32_t text_crc(std::string_view text, std::uint64_t seed) {
  return checksum(text, numbers_crc({text.size()}, seed));
}

}  // namespace

std::uint32_t numbers_crc(std::initializer_list<std::uint64_t> numbers, std::uint64_t seed) {
  static_assert(std::endian::native == std::endian::little);
  return checksum(
      {reinterpret_cast<const char*>(numbers.begin()), numbers.size() * sizeof(std::uint64_t)},
      seed);
}

PreparedEvent prepare_event(const Event& event, Timestamp now) {
  PreparedEvent prepared;
  if (event.timestamp.is_set()) {
    append_event_open(prepared.body, event);
  } else {
    Event stamped = event;
    stamped.timestamp = now;
    append_event_open(prepared.body, stamped);
  }
  prepared.body += '}';
  prepared.key = event.key;
  if (!event.key.empty()) prepared.key_hash = key_hash(event.key);
  prepared.tokens = event.tokens;
  prepared.base = event.base;
  prepared.timestamp_us = event.timestamp.is_set() ? event.timestamp.us : now.us;
  prepared.content_crc = content_crc(prepared.key, prepared.body);
  return prepared;
}

std::int64_t key_hash(std::string_view key) { return checksum(key); }

std::uint32_t content_crc(std::string_view key, std::string_view body) {
  return checksum(body, key.empty() ? 0 : text_crc(key, 1));
}

std::uint64_t tokens_number(const std::optional<std::uint32_t>& tokens) {
  return tokens ? std::uint64_t{*tokens} + 1 : 0;
}

void decode_body(std::string_view body, const char* damage, EventReader& reader, Event& event) {
  if (damage != nullptr) {
    event = Event{};
    event.payload = Unreadable{damage, std::string(body)};
  } else if (auto read = reader.read_padded(body, EventSource::kBody, event); !read) {
    event = Event{};
    event.payload = Unreadable{read.error().message, std::string(body)};
  }
}

std::string encode_manifest(const Manifest& manifest) {
  std::string body;
  append_manifest_open(body, manifest);
  body += '}';
  return body;
}

std::uint32_t manifest_crc(ThreadId id, Version version, std::string_view body) {
  return checksum(body, numbers_crc({id.bits(), version}, 1));
}

Error manifest_damaged(ThreadId id, const char* how) {
  return {ErrorCode::kDamaged, "the manifest of thread " + id.str() + " " + how};
}

Result<Manifest> decode_manifest(ThreadId id, Version version, std::int64_t crc,
                                 std::string_view body) {
  if (manifest_crc(id, version, body) != crc)
    return tl::unexpected(manifest_damaged(id, "does not match its checksum"));
  SKEIN_ASSIGN(Manifest manifest, read_manifest(body));
  manifest.id = id;
  manifest.version = version;
  return manifest;
}

std::uint32_t record_crc(std::string_view collection, std::string_view key, Version version,
                         std::string_view bytes) {
  const auto name = text_crc(key, text_crc(collection, 1));
  return checksum(bytes, numbers_crc({version}, name));
}

std::uint32_t change_crc(std::int64_t position, const Change& change) {
  const auto name = text_crc(change.key, text_crc(change.collection, 1));
  return numbers_crc({static_cast<std::uint64_t>(position), static_cast<std::uint64_t>(change.kind),
                      change.thread.bits()},
                     name);
}

Result<std::int64_t> parse_position(std::string_view cursor) {
  std::int64_t position = 0;
  if (cursor.empty()) return position;
  const char* end = cursor.data() + cursor.size();
  const auto [stopped, error] = std::from_chars(cursor.data(), end, position);
  if (error != std::errc() || stopped != end || position < 0)
    return tl::unexpected(bad_cursor(cursor));
  return position;
}

}  // namespace skein
