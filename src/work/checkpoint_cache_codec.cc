// The bytes of the cache: a heading with a checksum, then the fields of each entry, numbers in
// eight bytes and texts behind their length.
#include <cstring>

#include "core/checksum.h"
#include "work/checkpoint_cache.h"

namespace skein {
namespace {

constexpr std::string_view kHeading = "skein checkpoints 3\n";

struct Encoder {
  std::string out;

  void field(std::uint64_t value) {
    char bytes[8];
    std::memcpy(bytes, &value, sizeof bytes);
    out.append(bytes, sizeof bytes);
  }
  void field(std::int64_t value) { field(static_cast<std::uint64_t>(value)); }
  void field(bool value) { field(std::uint64_t{value}); }
  void field(CheckpointType type) { field(static_cast<std::uint64_t>(type)); }
  void field(const std::string& text) {
    field(std::uint64_t{text.size()});
    out += text;
  }
  void field(const std::vector<std::string>& texts) {
    field(std::uint64_t{texts.size()});
    for (const std::string& text : texts) field(text);
  }
};

struct Decoder {
  std::string_view rest;
  bool ok = true;

  void field(std::uint64_t& value) {
    ok = ok && rest.size() >= sizeof value;
    if (!ok) return;
    std::memcpy(&value, rest.data(), sizeof value);
    rest.remove_prefix(sizeof value);
  }
  void field(std::int64_t& value) {
    std::uint64_t bits = 0;
    field(bits);
    value = static_cast<std::int64_t>(bits);
  }
  void field(bool& value) {
    std::uint64_t bits = 0;
    field(bits);
    value = bits != 0;
  }
  void field(CheckpointType& type) {
    std::uint64_t bits = 0;
    field(bits);
    ok = ok && bits <= static_cast<std::uint64_t>(CheckpointType::kOther);
    if (ok) type = static_cast<CheckpointType>(bits);
  }
  void field(std::string& text) {
    std::uint64_t size = 0;
    field(size);
    ok = ok && size <= rest.size();
    if (!ok) return;
    text.assign(rest.substr(0, size));
    rest.remove_prefix(size);
  }
  void field(std::vector<std::string>& texts) {
    std::uint64_t size = 0;
    field(size);
    for (std::uint64_t i = 0; ok && i < size; ++i) field(texts.emplace_back());
  }
};

// The one list of what is kept, for both directions.
template <class Coder, class Indexed>
void code(Coder& coder, Indexed& indexed) {
  coder.field(indexed.file.id);
  coder.field(indexed.file.older);
  coder.field(indexed.file.archive);
  coder.field(indexed.file.stamp.inode);
  coder.field(indexed.file.stamp.size);
  coder.field(indexed.file.stamp.mtime_ns);
  coder.field(indexed.entry.type);
  coder.field(indexed.entry.other_type);
  coder.field(indexed.entry.created_at.us);
  coder.field(indexed.entry.title);
  coder.field(indexed.entry.summary);
  coder.field(indexed.entry.tags);
  coder.field(indexed.entry.worker);
  coder.field(indexed.entry.worker_state);
  coder.field(indexed.entry.branch);
  coder.field(indexed.entry.commit);
  coder.field(indexed.entry.next_steps);
  coder.field(indexed.words);
  coder.field(indexed.problem);
}

}  // namespace

std::string encode_cache(const std::vector<IndexedCheckpoint>& indexed) {
  Encoder encoder;
  for (const IndexedCheckpoint& checkpoint : indexed) code(encoder, checkpoint);
  Encoder heading{std::string(kHeading)};
  heading.field(std::uint64_t{checksum(encoder.out)});
  return heading.out + encoder.out;
}

std::vector<IndexedCheckpoint> decode_cache(std::string_view bytes) {
  if (!bytes.starts_with(kHeading)) return {};
  Decoder decoder{bytes.substr(kHeading.size())};
  std::uint64_t expected = 0;
  decoder.field(expected);
  if (!decoder.ok || expected != checksum(decoder.rest)) return {};
  std::vector<IndexedCheckpoint> indexed;
  while (decoder.ok && !decoder.rest.empty()) {
    IndexedCheckpoint& checkpoint = indexed.emplace_back();
    code(decoder, checkpoint);
    checkpoint.entry.id = checkpoint.file.id;
    checkpoint.entry.older = checkpoint.file.older;
    checkpoint.entry.archive = checkpoint.file.archive;
  }
  if (!decoder.ok) return {};
  return indexed;
}

}  // namespace skein
