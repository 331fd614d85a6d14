#include "api/transfer/items.h"

#include <algorithm>

#include "core/file.h"
#include "core/json.h"
#include "core/json_array.h"
#include "core/try.h"
#include "skein/limits.h"
#include "work/item_formats.h"

namespace skein {
namespace fs = std::filesystem;
namespace {

constexpr const char* kName = "threads.json";

}  // namespace

std::optional<fs::path> find_item_file(const fs::path& path) {
  std::error_code error;
  for (const fs::path& file : {path, path / kName, path / ".gitmem" / kName}) {
    if (file.filename() == kName && fs::is_regular_file(file, error)) return file;
  }
  return std::nullopt;
}

Result<ItemImport> import_items(WorkItems& items, const fs::path& workspace, const fs::path& file,
                                const Redactor* redactor, bool dry_run) {
  SKEIN_ASSIGN(auto bytes, read_file(file.string(), limits::kMaxItemListBytes));
  if (!bytes) return fail(ErrorCode::kNotFound, "there is no file " + file.string());
  if (auto valid = validate_json(*bytes, file.string(), kMaxDocumentDepth + 1); !valid) {
    return tl::unexpected(std::move(valid).error());
  }
  ItemImport done;
  if (redactor != nullptr) done.redacted = redactor->redact_json(*bytes);
  if (!trim_json(*bytes).starts_with('[')) {
    return fail(ErrorCode::kInvalid, file.string() + ": must be a JSON array");
  }
  const ItemList list = read_items(trim_json(*bytes), Timestamp{});
  std::error_code error;
  if (dry_run && !fs::exists(workspace / ".gitmem" / kName, error)) {
    done.added = list.items.size();
  } else {
    SKEIN_ASSIGN(done.added, items.import(*bytes, std::nullopt, dry_run));
  }
  done.found = json_elements(trim_json(*bytes)).size();
  done.others = list.others.size();
  done.known = list.items.size() - done.added;
  done.merged = done.found - std::min(done.found, done.others + list.items.size());
  return done;
}

}  // namespace skein
