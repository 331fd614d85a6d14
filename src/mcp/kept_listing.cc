#include "mcp/kept_listing.h"

#include "core/try.h"

namespace skein::mcp {
namespace {

using namespace std::chrono_literals;

// A program that writes a file in place may do so twice within one tick of the file system's clock:
// what was written just now is not kept.
constexpr std::int64_t kSettledNs = 1'000'000'000;

bool settled(const std::optional<FileStamp>& file, Clock& clock) {
  return !file || clock.now().us * 1000 - file->mtime_ns > kSettledNs;
}

}  // namespace

Result<KeptListing::Made> KeptListing::get(Workspace& workspace, Desk& desk,
                                           const std::function<Result<Made>()>& make) {
  Store& store = desk.store();
  SKEIN_ASSIGN(const auto file, stat_file(workspace.items_file()));
  {
    const std::lock_guard lock(mutex_);
    if (kept_ && kept_->store == &store && kept_->file == file) {
      const auto since = store.changes(kept_->cursor, 1, 0ms);
      if (since && since->changes.empty()) return kept_->made;
    }
  }
  // Looked at before it is made: what changes meanwhile makes it old.
  SKEIN_ASSIGN(const auto now, store.changes(Store::kNow, 1, 0ms));
  SKEIN_ASSIGN(Made made, make());
  const std::lock_guard lock(mutex_);
  kept_.reset();
  if (settled(file, workspace.clock())) kept_ = Kept{made, file, &store, now.cursor};
  return made;
}

}  // namespace skein::mcp
