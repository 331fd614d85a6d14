#include "thread/status.h"

#include "core/json_object.h"
#include "core/quote.h"
#include "core/try.h"

namespace skein {
namespace {

tl::unexpected<Error> refuse(const Manifest& manifest, std::string_view why) {
  return fail(ErrorCode::kConflict, "thread " + manifest.id.str() + " is " +
                                        to_string(manifest.status) + ", and " + std::string(why));
}

// What is not there yet is set; what is there stays.
Result<void> add_once(ManifestPatch& patch, const Manifest& manifest, std::string_view field,
                      const std::optional<std::string>& known,
                      const std::optional<std::string>& given) {
  if (!given || known == given) return {};
  if (known) {
    return refuse(manifest, "its " + std::string(field) + " is " + quote(*known) +
                                " already, got " + quote(*given));
  }
  patch.set(field, *given);
  return {};
}

Json archive_json(const Archive& archive) {
  JsonObject object;
  object.add("at", archive.at.str());
  if (archive.retention_days) {
    object.add_json("retentionDays", Json::number(*archive.retention_days).text());
  }
  if (archive.reason) object.add("reason", *archive.reason);
  return Json::trusted(object.str());
}

}  // namespace

bool is_open(ThreadStatus status) {
  return status == ThreadStatus::kActive || status == ThreadStatus::kPaused;
}

Result<void> check_takes_messages(const Manifest& manifest) {
  if (is_open(manifest.status)) return {};
  return refuse(manifest, "takes no messages; fork it to go on");
}

Result<ManifestPatch> plan_close(const Manifest& manifest, const CloseOptions& options,
                                 Timestamp now) {
  if (manifest.status == ThreadStatus::kArchived) {
    return refuse(manifest, "was closed before that; restore it to change how");
  }
  ManifestPatch patch;
  if (is_open(manifest.status)) {
    patch.status(ThreadStatus::kClosed).set("closedAt", now.str());
    if (options.summary) patch.set("summary", *options.summary);
    if (options.resolution) patch.set("resolution", *options.resolution);
    return patch;
  }
  SKEIN_TRY(add_once(patch, manifest, "summary", manifest.summary, options.summary));
  SKEIN_TRY(add_once(patch, manifest, "resolution", manifest.resolution, options.resolution));
  return patch;
}

Result<ManifestPatch> plan_archive(const Manifest& manifest, const ArchiveOptions& options,
                                   Timestamp now) {
  ManifestPatch patch;
  if (is_open(manifest.status)) {
    SKEIN_ASSIGN(patch, plan_close(manifest, {}, now));
  }
  Archive archive =
      manifest.archive.value_or(Archive{.at = now, .retention_days = {}, .reason = {}});
  if (manifest.status != ThreadStatus::kArchived) archive = {now, {}, {}};
  if (options.retention_days) archive.retention_days = options.retention_days;
  if (options.reason) archive.reason = options.reason;
  return patch.status(ThreadStatus::kArchived).set("archive", archive_json(archive));
}

Result<ManifestPatch> plan_restore(const Manifest& manifest) {
  if (manifest.status == ThreadStatus::kClosed) return ManifestPatch();
  if (manifest.status != ThreadStatus::kArchived) {
    return refuse(manifest, "only an archived thread can be restored");
  }
  return ManifestPatch().status(ThreadStatus::kClosed).clear("archive");
}

Result<ManifestPatch> plan_status(const Manifest& manifest, ThreadStatus status, Timestamp now) {
  if (status == manifest.status) return ManifestPatch();
  switch (status) {
    case ThreadStatus::kClosed:
      return manifest.status == ThreadStatus::kArchived ? plan_restore(manifest)
                                                        : plan_close(manifest, {}, now);
    case ThreadStatus::kArchived:
      return plan_archive(manifest, {}, now);
    case ThreadStatus::kActive:
    case ThreadStatus::kPaused:
      break;
  }
  if (is_open(manifest.status)) return ManifestPatch().status(status);
  return refuse(manifest, std::string("cannot become ") + to_string(status) +
                              ": a closed thread never reopens; fork it");
}

}  // namespace skein
