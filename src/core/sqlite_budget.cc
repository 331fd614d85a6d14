#include "core/sqlite_budget.h"

#include <sys/stat.h>

#include <algorithm>

namespace skein {
namespace {

constexpr int kStepsAtOnce = 100'000;
constexpr std::uint64_t kFewest = 20'000'000;
constexpr std::uint64_t kForEachByte = 20;

// A file can say that it is as long as it likes. What it takes of the disk is less where a file
// system compresses, and may be known only some seconds after a write.
std::uint64_t bytes_of(const std::string& path) {
  constexpr std::uint64_t kBlock = 512;
  constexpr std::uint64_t kCompressed = 16;
  constexpr std::uint64_t kNotWrittenYet = std::uint64_t{256} << 20;
  struct stat st{};
  if (::stat(path.c_str(), &st) != 0) return 0;
  const std::uint64_t taken = static_cast<std::uint64_t>(st.st_blocks) * kBlock;
  return std::min(static_cast<std::uint64_t>(st.st_size), kCompressed * taken + kNotWrittenYet);
}

}  // namespace

void QueryBudget::limit(sqlite3* handle) {
  sqlite3_progress_handler(handle, kStepsAtOnce, count, this);
}

int QueryBudget::count(void* self) {
  auto& budget = *static_cast<QueryBudget*>(self);
  budget.used_ += kStepsAtOnce;
  return budget.is_spent() ? 1 : 0;
}

bool QueryBudget::is_spent() {
  if (used_ <= kFewest) return false;
  return used_ - kFewest > kForEachByte * (bytes_of(path_) + bytes_of(path_ + "-wal"));
}

}  // namespace skein
