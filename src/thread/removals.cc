#include "thread/removals.h"

#include "core/json_object.h"
#include "core/try.h"
#include "skein/context.h"
#include "skein/limits.h"
#include "store/find_record.h"
#include "thread/announcements.h"

namespace skein {
namespace {

constexpr std::string_view kCollection = "removals";

std::optional<Removal> parse_removal(const Record& record) {
  const auto id = ThreadId::parse(record.key);
  JsonObjectReader reader;
  std::vector<JsonMember> members;
  if (!id || !Json::parse_object(record.bytes) || !reader.read(record.bytes, members)) return {};
  Removal removal;
  removal.thread = *id;
  for (const auto& [name, value] : members) {
    if (name == "agentId") removal.agent_id = json_to_string(value).value_or("");
    if (name == "reason") removal.reason = json_to_string(value).value_or("");
    if (name == "events")
      removal.events = static_cast<std::uint64_t>(json_to_int(value).value_or(0));
    if (name == "at")
      removal.at = Timestamp::parse(json_to_string(value).value_or("")).value_or(Timestamp());
  }
  return removal;
}

}  // namespace

std::string to_json(const Removal& removal) {
  return JsonObject()
      .add("threadId", removal.thread.str())
      .add("agentId", removal.agent_id)
      .add("events", removal.events)
      .add("at", removal.at.str())
      .add("reason", removal.reason)
      .str();
}

Result<bool> remove_recorded(Store& store, const Manifest& manifest, std::string_view reason,
                             Timestamp now) {
  const Removal removal{manifest.id, manifest.agent_id, manifest.last_seq, now,
                        std::string(reason)};
  const RecordWrite write{std::string(kCollection), manifest.id.str(), to_json(removal), {}, {}};
  SKEIN_TRY(store.write({&write, 1}));
  auto removed = store.remove(manifest.id, {.expect_version = manifest.version, .fence = {}});
  if (!removed && removed.error().code == ErrorCode::kConflict) {
    SKEIN_TRY(forget_removal(store, manifest.id));
  }
  if (removed) SKEIN_TRY(forget_announcements(store, manifest.id));
  if (removed) SKEIN_TRY(forget_context(store, manifest.id));
  return removed;
}

Result<std::optional<Removal>> find_removal(Store& store, ThreadId thread) {
  SKEIN_ASSIGN(const auto record, find_record(store, kCollection, thread.str()));
  return record ? parse_removal(*record) : std::nullopt;
}

Result<void> forget_removal(Store& store, ThreadId thread) {
  SKEIN_ASSIGN(const auto record, find_record(store, kCollection, thread.str()));
  if (!record) return {};
  const RecordWrite deletion{std::string(kCollection), thread.str(), {}, {}, {}};
  SKEIN_TRY(store.write({&deletion, 1}));
  return {};
}

Result<void> read_removals(Store& store, const std::function<bool(const Removal&)>& sink) {
  ScanRange range;
  range.collection = kCollection;
  range.limit = limits::kMaxPageSize;
  for (;;) {
    SKEIN_ASSIGN(const auto records, store.scan(range));
    for (const Record& record : records) {
      const auto removal = parse_removal(record);
      if (removal && !sink(*removal)) return {};
    }
    if (records.size() < range.limit) return {};
    range.from = records.back().key + '\0';
  }
}

}  // namespace skein
