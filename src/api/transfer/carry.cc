#include "api/transfer/carry.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "core/json.h"
#include "core/quote.h"
#include "core/try.h"
#include "store/codec.h"

namespace skein {
namespace {

// Names that mean something else in an event of ours.
bool is_taken(std::string_view name) {
  constexpr std::array<std::string_view, 6> kTaken = {kSeqField,      kKeyField, kTokensField,
                                                      kChecksumField, "base",    "timestamp"};
  return std::find(kTaken.begin(), kTaken.end(), name) != kTaken.end();
}

}  // namespace

Result<NewThread> new_thread_of(const Manifest& manifest) {
  NewThread thread;
  thread.agent_id = manifest.agent_id;
  thread.id = manifest.id;
  thread.alias = manifest.alias;
  SKEIN_ASSIGN(const ManifestPatch all, ManifestPatch::parse(whole_json(manifest)));
  for (const auto& [name, value] : all.entries()) {
    if (name != "threadId" && name != "agentId" && name != "alias") thread.fields.set(name, value);
  }
  return thread;
}

std::string not_a_session(std::string_view id) {
  return "sessionId must match [A-Za-z0-9][A-Za-z0-9._:+-]{0,127}, got " + quote(id) +
         "; the thread comes without it, and its next run starts a new session";
}

void rename_taken_fields(Json& extra) {
  if (extra.empty()) return;
  JsonObjectReader reader;
  std::vector<JsonMember> members;
  reader.read(extra.text(), members);
  if (std::none_of(members.begin(), members.end(),
                   [](const JsonMember& member) { return is_taken(member.name); })) {
    return;
  }
  std::string text;
  for (const JsonMember& member : members) {
    text += text.empty() ? '{' : ',';
    append_json_string(text, (is_taken(member.name) ? "imported_" : "") + std::string(member.name));
    text.append(":").append(member.value);
  }
  extra = Json::trusted(text + "}");
}

}  // namespace skein
