#include <algorithm>
#include <utility>

#include "core/quote.h"
#include "core/try.h"
#include "skein/limits.h"
#include "store/codec.h"

namespace skein {
namespace {

struct NamedStatus {
  ThreadStatus status;
  const char* name;
};
constexpr NamedStatus kStatuses[] = {{ThreadStatus::kActive, "active"},
                                     {ThreadStatus::kPaused, "paused"},
                                     {ThreadStatus::kClosed, "closed"},
                                     {ThreadStatus::kArchived, "archived"}};

// --- Reading: one setter per known field, used for stored text and for patches alike ---

using Setter = Result<void> (*)(Manifest&, RawJson);

tl::unexpected<Error> wrong(std::string_view field, std::string_view rule, RawJson value) {
  return fail(ErrorCode::kInvalid, std::string(field) + " must be " + std::string(rule) + ", got " +
                                       (value.empty() ? "nothing" : excerpt(value)));
}

// A field of text that may be absent. An empty `value` clears it.
template <std::optional<std::string> Manifest::* field>
Result<void> set_text(Manifest& manifest, RawJson value) {
  if (value.empty()) {
    (manifest.*field).reset();
    return {};
  }
  std::optional<std::string> text = json_to_string(value);
  if (!text) return wrong("field", "a string", value);
  manifest.*field = std::move(text);
  return {};
}

Result<Timestamp> read_time(RawJson value) {
  const std::optional<std::string> text = json_to_string(value);
  if (!text) return wrong("field", "an ISO 8601 timestamp", value);
  return Timestamp::parse(*text);
}

template <Timestamp Manifest::* field>
Result<void> set_time(Manifest& manifest, RawJson value) {
  SKEIN_ASSIGN(manifest.*field, read_time(value));
  return {};
}

Result<void> set_agent(Manifest& manifest, RawJson value) {
  const std::optional<std::string> text = json_to_string(value);
  if (!text) return wrong("field", "a string", value);
  SKEIN_TRY(check_agent_id(*text));
  manifest.agent_id = *text;
  return {};
}

Result<void> set_status(Manifest& manifest, RawJson value) {
  if (value.empty()) {
    manifest.status = ThreadStatus::kActive;
    return {};
  }
  SKEIN_ASSIGN(manifest.status, parse_status(json_to_string(value).value_or(std::string(value))));
  return {};
}

Result<void> set_metadata(Manifest& manifest, RawJson value) {
  if (!value.empty() && value[0] != '{') return wrong("field", "an object", value);
  if (value.size() > limits::kMaxMetadataBytes) {
    return fail(ErrorCode::kInvalid, "field must be at most " +
                                         std::to_string(limits::kMaxMetadataBytes) +
                                         " bytes, got " + std::to_string(value.size()));
  }
  manifest.metadata = Json::trusted(std::string(value));
  return {};
}

Result<void> set_closed_at(Manifest& manifest, RawJson value) {
  manifest.closed_at.reset();
  if (value.empty()) return {};
  SKEIN_ASSIGN(manifest.closed_at, read_time(value));
  return {};
}

// The members of a nested object; kInvalid if it is none.
Result<std::vector<std::pair<std::string, std::string>>> members_of(RawJson value) {
  JsonObjectReader reader;
  std::vector<JsonMember> members;
  if (value.empty() || value[0] != '{' || !reader.read(value, members)) {
    return wrong("field", "an object", value);
  }
  std::vector<std::pair<std::string, std::string>> out;
  for (const JsonMember& member : members) out.emplace_back(member.name, member.value);
  return out;
}

Result<void> set_archive(Manifest& manifest, RawJson value) {
  manifest.archive.reset();
  if (value.empty()) return {};
  Archive archive;
  SKEIN_ASSIGN(const auto members, members_of(value));
  for (const auto& [name, raw] : members) {
    if (name == "at") {
      SKEIN_ASSIGN(archive.at, read_time(raw));
    } else if (name == "retentionDays") {
      archive.retention_days = json_to_int(raw);
      if (!archive.retention_days || *archive.retention_days < 0) {
        return wrong("retentionDays", "a whole number of days", raw);
      }
    } else if (name == "reason") {
      archive.reason = json_to_string(raw);
      if (!archive.reason) return wrong("reason", "a string", raw);
    } else {
      return wrong("field", "an object of at, retentionDays and reason", value);
    }
  }
  if (!archive.at.is_set()) return wrong("at", "an ISO 8601 timestamp", {});
  manifest.archive = std::move(archive);
  return {};
}

Result<void> set_parent(Manifest& manifest, RawJson value) {
  manifest.parent.reset();
  if (value.empty()) return {};
  Parent parent;
  SKEIN_ASSIGN(const auto members, members_of(value));
  for (const auto& [name, raw] : members) {
    if (name == "threadId") {
      SKEIN_ASSIGN(parent.thread, ThreadId::parse(json_to_string(raw).value_or(raw)));
    } else if (name == "seq" && json_to_int(raw).value_or(-1) >= 0) {
      parent.seq = static_cast<Seq>(*json_to_int(raw));
    } else {
      return wrong("field", "an object of threadId and seq", value);
    }
  }
  manifest.parent = parent;
  return {};
}

Result<void> set_alias(Manifest& manifest, RawJson value) {
  manifest.alias.reset();
  if (value.empty()) return {};
  SKEIN_ASSIGN(manifest.alias, check_alias(json_to_string(value).value_or(std::string(value))));
  return {};
}

Result<void> set_pins(Manifest& manifest, RawJson value) {
  manifest.pins.clear();
  if (value.empty()) return {};
  if (value[0] != '[') return wrong("field", "an array of seqs", value);
  std::string_view rest = value.substr(1, value.size() - 2);
  while (!rest.empty()) {
    const std::size_t comma = rest.find(',');
    std::string_view item = rest.substr(0, comma);
    rest = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 1);
    item = trim_json(item);
    const std::optional<std::int64_t> seq = json_to_int(item);
    if (item.empty() && manifest.pins.empty() && rest.empty()) return {};
    if (!seq || *seq < 1) return wrong("field", "an array of seqs", value);
    manifest.pins.push_back(static_cast<Seq>(*seq));
  }
  if (manifest.pins.size() > limits::kMaxPins) {
    return fail(ErrorCode::kInvalid, "field must have at most " + std::to_string(limits::kMaxPins) +
                                         " entries, got " + std::to_string(manifest.pins.size()));
  }
  return {};
}

enum Writable { kAlways, kAtCreation, kNever };

struct KnownField {
  std::string_view name;
  Setter set;
  Writable writable;
  bool required = false;
};

constexpr KnownField kFields[] = {
    {"agentId", set_agent, kNever, true},
    {"sessionId", set_text<&Manifest::session_id>, kAlways},
    {"taskId", set_text<&Manifest::task_id>, kAlways},
    {"title", set_text<&Manifest::title>, kAlways},
    {"createdAt", set_time<&Manifest::created_at>, kAtCreation, true},
    {"updatedAt", set_time<&Manifest::updated_at>, kAtCreation, true},
    {"status", set_status, kAlways},
    {"metadata", set_metadata, kAlways},
    {"closedAt", set_closed_at, kAlways},
    {"summary", set_text<&Manifest::summary>, kAlways},
    {"resolution", set_text<&Manifest::resolution>, kAlways},
    {"archive", set_archive, kAlways},
    {"parent", set_parent, kAtCreation},
    {"alias", set_alias, kNever},
    {"pins", set_pins, kAlways},
};

const KnownField* known_field(std::string_view name) {
  const auto* at = std::find_if(std::begin(kFields), std::end(kFields),
                                [name](const KnownField& field) { return field.name == name; });
  return at == std::end(kFields) ? nullptr : at;
}

// Says which field it was, where the setter could not know.
Error in_field(std::string_view name, Error error) {
  constexpr std::string_view kPlaceholder = "field ";
  if (error.message.starts_with(kPlaceholder)) {
    error.message.replace(0, kPlaceholder.size(), std::string(name) + " ");
  } else if (!error.message.starts_with(name)) {
    error.message = std::string(name) + ": " + error.message;
  }
  return error;
}

Result<void> set_known(Manifest& manifest, const KnownField& field, RawJson value) {
  if (auto done = field.set(manifest, value); !done) {
    return tl::unexpected(in_field(field.name, std::move(done).error()));
  }
  return {};
}

// --- Unknown fields ---

struct Unknown {
  std::string name;
  std::string value;
};

std::vector<Unknown> unknown_fields(const Json& extra) {
  std::vector<Unknown> out;
  if (extra.empty()) return out;
  JsonObjectReader reader;
  std::vector<JsonMember> members;
  reader.read(extra.text(), members);
  for (const JsonMember& member : members) {
    out.push_back({std::string(member.name), std::string(member.value)});
  }
  return out;
}

void set_unknown(std::vector<Unknown>& fields, std::string_view name, RawJson value) {
  const auto at = std::find_if(fields.begin(), fields.end(),
                               [name](const Unknown& field) { return field.name == name; });
  if (value.empty()) {
    if (at != fields.end()) fields.erase(at);
  } else if (at != fields.end()) {
    at->value = value;
  } else {
    fields.push_back({std::string(name), std::string(value)});
  }
}

Json pack_unknown(const std::vector<Unknown>& fields) {
  std::string text;
  for (const Unknown& field : fields) {
    text += text.empty() ? '{' : ',';
    append_json_string(text, field.name);
    text += ':';
    text += field.value;
  }
  if (!text.empty()) text += '}';
  return Json::trusted(std::move(text));
}

// --- Writing ---

void append_name(std::string& out, std::string_view name) {
  if (out.back() != '{') out += ',';
  out += '"';
  out += name;
  out += "\":";
}

void append_text(std::string& out, std::string_view name, const std::optional<std::string>& text) {
  if (!text) return;
  append_name(out, name);
  append_json_string(out, *text);
}

void append_archive(std::string& out, const Archive& archive) {
  append_name(out, "archive");
  out += '{';
  append_text(out, "at", archive.at.str());
  if (archive.retention_days) {
    append_name(out, "retentionDays");
    append_json_number(out, *archive.retention_days);
  }
  append_text(out, "reason", archive.reason);
  out += '}';
}

void append_pins(std::string& out, const std::vector<Seq>& pins) {
  append_name(out, "pins");
  out += '[';
  for (const Seq pin : pins) {
    if (out.back() != '[') out += ',';
    append_json_number(out, pin);
  }
  out += ']';
}

// All members but the unknown ones, after an opening brace.
void append_known_members(std::string& out, const Manifest& manifest) {
  append_text(out, "agentId", manifest.agent_id);
  append_text(out, "sessionId", manifest.session_id);
  append_text(out, "taskId", manifest.task_id);
  append_text(out, "title", manifest.title);
  append_text(out, "createdAt", manifest.created_at.str());
  append_text(out, "updatedAt", manifest.updated_at.str());
  if (manifest.status != ThreadStatus::kActive)
    append_text(out, "status", to_string(manifest.status));
  if (!manifest.metadata.empty()) {
    append_name(out, "metadata");
    append_json_on_one_line(out, manifest.metadata.text());
  }
  if (manifest.closed_at) append_text(out, "closedAt", manifest.closed_at->str());
  append_text(out, "summary", manifest.summary);
  append_text(out, "resolution", manifest.resolution);
  if (manifest.archive) append_archive(out, *manifest.archive);
  if (manifest.parent) {
    append_name(out, "parent");
    out += "{\"threadId\":\"" + manifest.parent->thread.str() + "\",\"seq\":";
    append_json_number(out, manifest.parent->seq);
    out += '}';
  }
  append_text(out, "alias", manifest.alias);
  if (!manifest.pins.empty()) append_pins(out, manifest.pins);
}

void append_members(std::string& out, const Manifest& manifest) {
  append_known_members(out, manifest);
  append_extra_members(out, manifest.extra);
}

std::string json_of(const Manifest& manifest, const Json& extra) {
  std::string out = "{\"threadId\":\"" + manifest.id.str() + "\"";
  append_known_members(out, manifest);
  append_extra_members(out, extra);
  out += '}';
  return out;
}

bool may_write(const KnownField& field, PatchFor purpose) {
  return field.writable == kAlways ||
         (field.writable == kAtCreation && purpose == PatchFor::kCreate);
}

Result<void> check_manifest_size(const Manifest& manifest) {
  const std::size_t size = json_of(manifest, manifest.extra).size();
  if (size <= limits::kMaxManifestBytes) return {};
  return fail(ErrorCode::kInvalid, "manifest must be at most " +
                                       std::to_string(limits::kMaxManifestBytes) + " bytes, got " +
                                       std::to_string(size));
}

}  // namespace

const char* to_string(ThreadStatus status) {
  for (const auto& entry : kStatuses) {
    if (entry.status == status) return entry.name;
  }
  return "unknown";
}

Result<ThreadStatus> parse_status(std::string_view text) {
  for (const auto& entry : kStatuses) {
    if (text == entry.name) return entry.status;
  }
  return fail(ErrorCode::kInvalid,
              "status must be active, paused, closed or archived, got " + quote(text));
}

Json shown_extra(const Manifest& manifest) {
  if (manifest.extra.text().find("channel") == std::string::npos) return manifest.extra;
  std::vector<Unknown> fields = unknown_fields(manifest.extra);
  set_unknown(fields, "channel", {});
  return pack_unknown(fields);
}

std::string to_json(const Manifest& manifest) { return json_of(manifest, shown_extra(manifest)); }

std::string whole_json(const Manifest& manifest) { return json_of(manifest, manifest.extra); }

void append_manifest_open(std::string& out, const Manifest& manifest) {
  out += '{';
  append_members(out, manifest);
}

Result<Manifest> read_manifest(std::string_view text,
                               const std::vector<std::string_view>& store_fields,
                               AgentField agent) {
  const auto damaged = [](std::string reason) {
    return fail(ErrorCode::kDamaged, "manifest: " + std::move(reason));
  };
  if (auto valid = validate_json(text, "text", kMaxDocumentDepth); !valid) {
    return damaged(valid.error().message);
  }
  JsonObjectReader reader;
  std::vector<JsonMember> members;
  if (!reader.read(text, members)) return damaged("must be a JSON object, got " + quote(text));
  Manifest manifest;
  std::vector<Unknown> unknown;
  for (const JsonMember& member : members) {
    if (std::find(store_fields.begin(), store_fields.end(), member.name) != store_fields.end())
      continue;
    const KnownField* field = known_field(member.name);
    if (field == nullptr) {
      set_unknown(unknown, member.name, member.value);
    } else if (auto set =
                   set_known(manifest, *field,
                             member.value == "null" && !field->required ? RawJson() : member.value);
               !set) {
      return damaged(set.error().message);
    }
  }
  if (manifest.agent_id.empty() && agent == AgentField::kRequired) {
    return damaged("agentId must be a string, got nothing");
  }
  if (!manifest.created_at.is_set())
    return damaged("createdAt must be an ISO 8601 timestamp, got nothing");
  if (!manifest.updated_at.is_set()) manifest.updated_at = manifest.created_at;
  manifest.extra = pack_unknown(unknown);
  return manifest;
}

Result<Manifest> patched(Manifest manifest, const ManifestPatch& patch, PatchFor purpose) {
  std::vector<Unknown> unknown = unknown_fields(manifest.extra);
  for (const auto& [name, value] : patch.entries()) {
    if (!valid_utf8(name) || name.empty()) {
      return fail(ErrorCode::kInvalid,
                  "field name must be valid UTF-8 and not empty, got " + quote(name));
    }
    if (!value.empty()) SKEIN_TRY(validate_json(value.text(), name));
    const KnownField* field = known_field(name);
    if (name == "threadId" || name == kManifestVersionField || name == kChecksumField ||
        (field != nullptr && !may_write(*field, purpose))) {
      return fail(ErrorCode::kInvalid, name + " cannot be set, got " + excerpt(value.text()));
    }
    if (field == nullptr) {
      set_unknown(unknown, name, value.text());
    } else if (value.empty() && field->required) {
      return fail(ErrorCode::kInvalid, name + " cannot be cleared");
    } else {
      SKEIN_TRY(set_known(manifest, *field, value.text()));
    }
  }
  manifest.extra = pack_unknown(unknown);
  SKEIN_TRY(check_manifest_size(manifest));
  return manifest;
}

Result<ManifestPatch> ManifestPatch::parse(std::string_view json) {
  if (json.size() > limits::kMaxManifestBytes) {
    return fail(ErrorCode::kInvalid, "manifest must be at most " +
                                         std::to_string(limits::kMaxManifestBytes) +
                                         " bytes, got " + std::to_string(json.size()));
  }
  SKEIN_TRY(validate_json(trim_json(json), "manifest", kMaxDocumentDepth));
  JsonObjectReader reader;
  std::vector<JsonMember> members;
  if (!reader.read(json, members)) {
    return fail(ErrorCode::kInvalid, "manifest must be a JSON object, got " + excerpt(json));
  }
  ManifestPatch patch;
  for (const JsonMember& member : members) {
    patch.set(member.name,
              member.value == "null" ? Json() : Json::trusted(std::string(member.value)));
  }
  return patch;
}

ManifestPatch& ManifestPatch::set(std::string_view field, Json value) {
  entries_.push_back({std::string(field), std::move(value)});
  return *this;
}

ManifestPatch& ManifestPatch::set(std::string_view field, std::string_view text) {
  return set(field, Json::string(text));
}

ManifestPatch& ManifestPatch::clear(std::string_view field) { return set(field, Json()); }

ManifestPatch& ManifestPatch::status(ThreadStatus status) {
  return set("status", to_string(status));
}

}  // namespace skein
