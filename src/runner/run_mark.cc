#include "runner/run_mark.h"

#include <string>

#include "core/json_fields.h"
#include "core/try.h"

namespace skein {

Result<void> mark_end(Writes& store, const Manifest& manifest, const Run& run, LeaseToken token) {
  std::string before;
  if (!manifest.extra.empty()) {
    before = JsonFields(manifest.extra.text()).take_string("runStatus").value_or("");
  }
  std::string now;
  if (run.status == RunStatus::kInterrupted) now = "interrupted";
  if (run.status == RunStatus::kError || run.status == RunStatus::kTimeout) now = "error";
  if (before == now) return {};
  ManifestPatch patch;
  if (now.empty()) {
    patch.clear("runStatus");
  } else {
    patch.set("runStatus", std::string_view(now));
  }
  UpdateOptions options;
  options.fence = token;
  SKEIN_TRY(store.update(run.thread, patch, options));
  return {};
}

}  // namespace skein
