// Reads closing payloads.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "core/json_array.h"
#include "core/json_object.h"
#include "core/quote.h"
#include "core/try.h"
#include "skein/work_sessions.h"

namespace skein {
namespace {

// What GitMem's payloads have besides: stored with the session as it came.
constexpr std::string_view kStored[] = {
    "close_type",   "closing_reflection", "task_completion",      "human_corrections",
    "linear_issue", "scars_to_record",    "ceremony_duration_ms", "transcript_path"};

bool is_stored(std::string_view name) {
  return std::find(std::begin(kStored), std::end(kStored), name) != std::end(kStored);
}

Result<void> read_text(const JsonMember& member, std::string& target) {
  auto text = json_to_string(member.value);
  if (!text) {
    return fail(ErrorCode::kInvalid,
                fmt::format("\"{}\" must be a string, got {}", member.name, excerpt(member.value)));
  }
  target = *std::move(text);
  return {};
}

Result<RawJson> array_in(const JsonMember& member) {
  if (member.value.starts_with('[')) return member.value;
  return fail(ErrorCode::kInvalid,
              fmt::format("\"{}\" must be an array, got {}", member.name, excerpt(member.value)));
}

Result<void> read_values(const JsonMember& member, std::vector<Json>& values) {
  SKEIN_ASSIGN(const RawJson array, array_in(member));
  for (const RawJson value : json_elements(array)) {
    values.push_back(Json::trusted(std::string(value)));
  }
  return {};
}

// False, if it is none of the members that mean something here.
Result<bool> read_member(CloseSession& request, const JsonMember& member) {
  if (member.name == "session_id") {
    SKEIN_TRY(read_text(member, request.session_id.emplace()));
  } else if (member.name == "summary") {
    SKEIN_TRY(read_text(member, request.summary));
  } else if (member.name == "project_state") {
    SKEIN_TRY(read_text(member, request.project_state));
  } else if (member.name == "decisions") {
    SKEIN_TRY(read_values(member, request.decisions));
  } else if (member.name == "learnings" || member.name == "learnings_created") {
    SKEIN_TRY(read_values(member, request.learnings));
  } else if (member.name == "open_threads") {
    SKEIN_ASSIGN(const RawJson array, array_in(member));
    request.open_threads = Json::trusted(std::string(array));
  } else {
    return false;
  }
  return true;
}

}  // namespace

Result<CloseSession> CloseSession::parse(std::string_view json) {
  SKEIN_ASSIGN(const Json object, Json::parse_object(json));
  CloseSession request;
  JsonObjectReader reader;
  std::vector<JsonMember> members;
  reader.read(object.text(), members);
  JsonObject extra;
  bool has_extra = false;
  for (const JsonMember& member : members) {
    SKEIN_ASSIGN(const bool is_read, read_member(request, member));
    if (is_read) continue;
    extra.add_json(member.name, member.value);
    has_extra = true;
    if (!is_stored(member.name)) request.unknown.emplace_back(member.name);
  }
  if (has_extra) request.extra = Json::trusted(extra.str());
  return request;
}

}  // namespace skein
