// DIR/usage.jsonl: the usage collection, one JSON object a line. Other programs append to it too;
// their lines are records whose keys are the numbers of the lines.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "store/jsonl/folder.h"
#include "store/jsonl/followed_file.h"
#include "store/jsonl/stored_bytes.h"

namespace skein::jsonl {

inline constexpr std::string_view kUsageCollection = "usage";

// A write that is to be in the file.
struct UsageWrite {
  std::string key;
  Version version = 0;
  std::optional<std::string> bytes;  // absent: the line goes
};

// Not thread-safe.
class UsageFile {
 public:
  explicit UsageFile(Folder& folder);

  Result<void> follow();
  const std::map<std::string, Slot>& slots() const { return slots_; }
  Result<std::string> read(const Slot& slot) const {
    return read_slot(file_.fd(), file_.path(), slot);
  }

  // Forgets what the key had before `version`: another process may have blanked its line.
  void drop(const std::string& key, Version version);
  // Whether the file shows the write, or a later one of the same key.
  bool has(const UsageWrite& write) const;
  // For one who holds the lock of the records: appends lines, and blanks the ones that they
  // replace.
  Result<void> apply(const std::vector<UsageWrite>& writes);

  std::uint64_t foreign_lines() const { return foreign_lines_; }
  std::uint64_t damaged_lines() const { return damaged_lines_; }
  std::uint64_t torn_bytes() const { return file_.torn_bytes(); }

 private:
  // A whole line.
  struct LineExtent {
    std::uint64_t offset = 0;
    std::uint64_t length = 0;
    Version version = 0;
  };

  void restart();
  void take_line(std::uint64_t offset, std::string_view text);

  Folder& folder_;
  FollowedFile file_;
  std::map<std::string, Slot> slots_;
  std::map<std::string, LineExtent> extents_;  // also of records that are dropped
  std::vector<LineExtent> overtaken_;          // lines with a key that a later line has too
  std::uint64_t lines_ = 0;
  std::uint64_t foreign_lines_ = 0;
  std::uint64_t damaged_lines_ = 0;
};

}  // namespace skein::jsonl
