#include "store/sqlite/readers.h"

#include <utility>

#include "store/sqlite/schema.h"

namespace skein::sqlite {
namespace {

constexpr int kCacheKb = 4 * 1024;
constexpr char kBegin[] = "BEGIN";
constexpr char kEnd[] = "COMMIT";

}  // namespace

Result<std::unique_ptr<Database>> Readers::take() {
  {
    std::unique_lock lock(mutex_);
    returned_.wait(lock, [this] { return !idle_.empty() || made_ < kMost; });
    if (!idle_.empty()) {
      auto database = std::move(idle_.back());
      idle_.pop_back();
      return database;
    }
    ++made_;
  }
  auto database = connect(path_, kCacheKb, Flush::kFull);
  if (database) return std::make_unique<Database>(std::move(*database));
  const std::lock_guard lock(mutex_);
  --made_;
  returned_.notify_one();
  return tl::unexpected(std::move(database.error()));
}

void Readers::give_back(std::unique_ptr<Database> database) {
  const std::lock_guard lock(mutex_);
  idle_.push_back(std::move(database));
  returned_.notify_one();
}

Result<void> Readers::begin(Database& database) {
  SKEIN_ASSIGN(Query query, database.query(kBegin));
  return query.run();
}

void Readers::end(Database& database) {
  auto query = database.query(kEnd);
  if (query && query->run()) return;
  // Nothing was written, so there is nothing to lose.
  const auto undone = database.execute("ROLLBACK");
  static_cast<void>(undone);
}

}  // namespace skein::sqlite
