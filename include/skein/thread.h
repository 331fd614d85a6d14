// A thread's manifest: all that is known of it besides its events.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "skein/clock.h"
#include "skein/error.h"
#include "skein/event.h"
#include "skein/ids.h"
#include "skein/json.h"

namespace skein {

enum class ThreadStatus { kActive, kPaused, kClosed, kArchived };

struct Archive {
  Timestamp at;
  std::optional<std::int64_t> retention_days;
  std::optional<std::string> reason;
};

// Where a fork came from: a copy of events 1 … seq of that thread, which may be gone by now.
struct Parent {
  ThreadId thread;
  Seq seq = 0;
};

struct Manifest {
  ThreadId id;
  std::string agent_id;
  std::optional<std::string> session_id;  // the engine's own session
  std::optional<std::string> task_id;
  std::optional<std::string> title;
  Timestamp created_at;
  Timestamp updated_at;  // never goes backwards
  ThreadStatus status = ThreadStatus::kActive;
  Json metadata;  // an object, or absent
  std::optional<Timestamp> closed_at;
  std::optional<std::string> summary;
  std::optional<std::string> resolution;
  std::optional<Archive> archive;
  std::optional<Parent> parent;
  std::optional<std::string> alias;
  std::vector<Seq> pins;
  Json extra;  // an object with the fields that Skein does not know, as they came; or absent

  // Beside the manifest, not part of its JSON:
  Version version = 0;  // changes with every update; appends leave it alone
  Seq last_seq = 0;     // position of the last event; 0: none
};

// A shallow merge: each named field is replaced whole, or cleared. Later entries win.
class ManifestPatch {
 public:
  struct Entry {
    std::string field;  // as in the JSON: "title", "sessionId", …, or one that Skein does not know
    Json value;         // absent clears the field
  };

  // From a JSON object; null clears a field.
  static Result<ManifestPatch> parse(std::string_view json);

  ManifestPatch& set(std::string_view field, Json value);
  ManifestPatch& set(std::string_view field, std::string_view text);
  ManifestPatch& clear(std::string_view field);

  ManifestPatch& title(std::string_view text) { return set("title", text); }
  ManifestPatch& session_id(std::string_view text) { return set("sessionId", text); }
  ManifestPatch& task_id(std::string_view text) { return set("taskId", text); }
  ManifestPatch& metadata(Json object) { return set("metadata", std::move(object)); }
  ManifestPatch& status(ThreadStatus status);

  const std::vector<Entry>& entries() const { return entries_; }
  bool empty() const { return entries_.empty(); }

 private:
  std::vector<Entry> entries_;
};

const char* to_string(ThreadStatus status);
Result<ThreadStatus> parse_status(std::string_view text);

// One JSON object on one line, "threadId" first; fields that are not set are not written, and of
// the unknown ones those of shown_extra.
std::string to_json(const Manifest& manifest);

// The unknown fields that frontends show: all but "channel", which older programs wrote. The store
// keeps it.
Json shown_extra(const Manifest& manifest);

}  // namespace skein
