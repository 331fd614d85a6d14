// .gitmem/threads.json: the items of a workspace.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "work/item_formats.h"

namespace skein {

// Nothing is held open between calls. Thread-safe.
class ItemFile {
 public:
  explicit ItemFile(const std::filesystem::path& workspace);

  const std::string& path() const { return path_; }

  // Empty, if there is no file. kDamaged: it is no list; a copy is kept beside it, under a name
  // that follows from its bytes. kIo: it is no regular file, or too large.
  Result<ItemList> read() const;

  // kIo: .gitmem or the file is a link, which is not written through.
  Result<void> check_links() const;

  // Reads the list, lets `change` alter it, and saves it if it is another then; all under the lock
  // that keeps other processes from doing the same. When it returns, the new list is durable. An
  // error of `change` is passed on, and nothing is saved. kInvalid: the list would exceed
  // limits::kMaxItemListBytes, less `keep_free`.
  Result<void> update(const std::function<Result<void>(ItemList&)>& change,
                      std::size_t keep_free = 0) const;

  // The list as `change` makes it, saved if it can be; else a warning says why it is not. A file
  // that cannot be read counts as an empty list then.
  ItemList update_or_warn(const std::function<void(ItemList&)>& change,
                          std::vector<std::string>& warnings) const;

 private:
  Error damaged(const std::string& bytes, const std::string& reason) const;

  const std::string folder_;
  const std::string path_;
};

}  // namespace skein
