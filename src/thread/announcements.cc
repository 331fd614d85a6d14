#include "thread/announcements.h"

#include <string>

#include "core/json_object.h"
#include "core/try.h"
#include "skein/limits.h"
#include "store/find_record.h"

namespace skein {
namespace {

constexpr std::string_view kCollection = "status_changes";
constexpr std::string_view kClosed = "/closed";
constexpr std::string_view kArchived = "/archived/";  // and when, since it may happen again

Result<void> announce(Store& store, const std::string& key, const Manifest& manifest,
                      ThreadStatus status, Timestamp at) {
  SKEIN_ASSIGN(const auto known, find_record(store, kCollection, key));
  if (known) return {};
  JsonObject object;
  object.add("threadId", manifest.id.str()).add("status", to_string(status));
  if (at.is_set()) object.add("at", at.str());
  const RecordWrite write{std::string(kCollection), key, object.str(), Version{0}, std::nullopt};
  const auto written = store.write({&write, 1});
  // A conflict: another was faster.
  if (!written && written.error().code != ErrorCode::kConflict)
    return tl::unexpected(written.error());
  return {};
}

}  // namespace

Result<void> announce_status(Store& store, const Manifest& manifest) {
  if (manifest.status != ThreadStatus::kClosed && manifest.status != ThreadStatus::kArchived)
    return {};
  const std::string id = manifest.id.str();
  SKEIN_TRY(announce(store, id + std::string(kClosed), manifest, ThreadStatus::kClosed,
                     manifest.closed_at.value_or(Timestamp())));
  if (manifest.status != ThreadStatus::kArchived) return {};
  const Timestamp at = manifest.archive ? manifest.archive->at : Timestamp();
  return announce(store, id + std::string(kArchived) + at.str(), manifest, ThreadStatus::kArchived,
                  at);
}

std::optional<Announcement> announcement_of(const Change& change) {
  constexpr std::size_t kIdDigits = 12;
  if (change.kind != ChangeKind::kRecordWritten || change.collection != kCollection) return {};
  const std::string_view key = change.key;
  const auto thread = ThreadId::parse(key.substr(0, kIdDigits));
  if (!thread) return {};
  const std::string_view what = key.substr(kIdDigits);
  if (what == kClosed) return Announcement{*thread, ThreadEventKind::kClosed};
  if (what.starts_with(kArchived)) return Announcement{*thread, ThreadEventKind::kArchived};
  return {};
}

Result<void> forget_announcements(Store& store, ThreadId thread) {
  ScanRange range;
  range.collection = kCollection;
  range.from = thread.str() + "/";
  range.to = thread.str() + "0";  // the byte after the slash
  range.limit = limits::kMaxPageSize;
  SKEIN_ASSIGN(const auto records, store.scan(range));
  std::vector<RecordWrite> deletions;
  for (const Record& record : records) {
    deletions.push_back({std::string(kCollection), record.key, std::nullopt, std::nullopt, {}});
  }
  if (!deletions.empty()) SKEIN_TRY(store.write(deletions));
  return {};
}

}  // namespace skein
