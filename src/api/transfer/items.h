// Takes the items of another workspace into this one.
#pragma once

#include <filesystem>
#include <optional>

#include "core/redact.h"
#include "skein/work_items.h"

namespace skein {

// The list of items behind a path: a file threads.json, or that of a folder, in it or in its
// .gitmem/. Nothing, if there is none.
std::optional<std::filesystem::path> find_item_file(const std::filesystem::path& path);

// found = added + known + merged + others.
struct ItemImport {
  std::size_t found = 0;     // entries of the list
  std::size_t added = 0;     // items that were not there before
  std::size_t known = 0;     // that were
  std::size_t merged = 0;    // that have the id of another one of the list
  std::size_t others = 0;    // entries that are no items
  std::size_t redacted = 0;  // credentials taken out
};

// Without a redactor credentials stay. Doing it again adds nothing. The file is only read.
// `workspace` is that of the items: a dry run makes no files in one that has no items.
Result<ItemImport> import_items(WorkItems& items, const std::filesystem::path& workspace,
                                const std::filesystem::path& file, const Redactor* redactor,
                                bool dry_run);

}  // namespace skein
