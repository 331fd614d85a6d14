// Events and manifests as JSON text, and back.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/json.h"
#include "skein/event.h"
#include "skein/thread.h"

namespace skein {

// Names that a store may add to an event's line for itself. No unknown field of a caller bears
// them.
inline constexpr std::string_view kSeqField = "seq";
inline constexpr std::string_view kKeyField = "key";
inline constexpr std::string_view kTokensField = "tokenCount";
inline constexpr std::string_view kChecksumField = "crc";

// What a store may add to a manifest for itself, beside kChecksumField; patches cannot set either.
inline constexpr std::string_view kManifestVersionField = "rev";

// Appends the event as a JSON object without its closing brace, so that a store can add its own
// fields. Contains everything but seq, key and tokens.
void append_event_open(std::string& out, const Event& event);

// Appends the members of an object of unknown fields, each after a comma.
void append_extra_members(std::string& out, const Json& extra);

std::optional<MemoryType> parse_memory_type(std::string_view text);

// Of its text, input or unknown fields, as they are: about what it takes, metadata aside.
std::size_t bytes_of(const Event& event);

// Whose text is being read:
enum class EventSource {
  kBody,  // append_event_open + "}" and nothing else: seq, key, tokenCount, crc are unknown fields
  kLine,  // a line of ours: seq, key, tokenCount are the store's own, crc is skipped
  kForeign,  // a line of another program: as kBody, and "base" is an unknown field too
  kCaller,   // handed in: "base", "key" and "seq" are taken, wrong types are errors
};

// Turns JSON text into events. Lenient towards stored text: a known field of a wrong type is kept
// as an unknown one, and what is not an event becomes Unreadable. Strict towards callers
// (kInvalid).
class EventReader {
 public:
  // `text` is valid JSON (or kCaller and kForeign: anything) with JsonObjectReader::kPadding
  // readable bytes after it. Sets every field of `event` but reuses its buffers.
  Result<void> read_padded(std::string_view text, EventSource source, Event& event);
  // Copies the text to give it padding.
  Result<void> read(std::string_view text, EventSource source, Event& event);

 private:
  JsonObjectReader reader_;
  std::vector<JsonMember> members_;
  std::string copy_;
};

// Appends the manifest as a JSON object without its closing brace; no "threadId", no version.
void append_manifest_open(std::string& out, const Manifest& manifest);

// Sets the fields of the manifest from a stored object. `store_fields` are names that the store
// added for itself; they are skipped. Unknown fields are kept. kDamaged if it does not meet the
// schema. Does not set id, version, last_seq. kOptional leaves agent_id empty where the object has
// no "agentId": older programs wrote none, and the folder says whose the thread is.
enum class AgentField { kRequired, kOptional };
Result<Manifest> read_manifest(std::string_view text,
                               const std::vector<std::string_view>& store_fields = {},
                               AgentField agent = AgentField::kRequired);

// Every member that the store keeps: unlike to_json, with those that no frontend shows.
std::string whole_json(const Manifest& manifest);

// The manifest with the patch merged onto it, validated (kInvalid).
enum class PatchFor { kCreate, kUpdate };
Result<Manifest> patched(Manifest manifest, const ManifestPatch& patch, PatchFor purpose);

}  // namespace skein
