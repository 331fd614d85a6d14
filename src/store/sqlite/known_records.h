// A memory of whole collections that are small, such as the runs that are open: what every request
// asks for costs a transaction and the reading of pages otherwise.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "skein/store.h"
#include "store/sqlite/known_threads.h"

namespace skein::sqlite {

// What a transaction does to a record. No bytes: it goes.
struct RecordChange {
  std::string collection;
  std::string key;
  std::optional<std::string> bytes;
  Version version = 0;
};

// Holds as long as KnownThreads does: as long as no other process writes. Bounded. Thread-safe.
class KnownRecords {
 public:
  static constexpr std::size_t kMostRecords = 128;  // of a collection that is worth knowing

  // Borrowed.
  explicit KnownRecords(KnownThreads& threads) : threads_(threads) {}
  KnownRecords(const KnownRecords&) = delete;
  KnownRecords& operator=(const KnownRecords&) = delete;

  // --- For whoever reads ---
  // False: they are not known.
  bool scan(const ScanRange& range, std::vector<Record>& out);
  // A moment before a snapshot of the database was taken. Nothing: what is read then is not worth
  // being put here.
  struct Moment {
    std::uint64_t era = 0;
    std::uint64_t changes = 0;
  };
  std::optional<Moment> wants(std::string_view collection);
  // All of a collection, in the order of keys, as it is in that snapshot; if there are more than
  // kMostRecords, some of them.
  void put(std::string_view collection, std::vector<Record> records, const Moment& before);

  // --- For the writer, while it has the lock ---
  // From here on the changes may be in the database, or not. Borrowed until it is known.
  void doubt(const std::vector<RecordChange>& changes);
  // They are in the database.
  void apply(std::vector<RecordChange>& changes);
  // What is in the database is not what was known of it.
  void clear();

 private:
  struct Collection {
    // In order of their keys; none: there are too many.
    std::optional<std::map<std::string, Record, std::less<>>> records{};
    std::size_t bytes = 0;
    std::uint64_t changed = 0;  // the number of changes after the last one
  };
  using Collections = std::map<std::string, Collection, std::less<>>;

  // With mutex_ held:
  bool holds();
  bool is_doubted(std::string_view collection) const;
  void change(Collection& collection, RecordChange& change);
  static void forget_if_large(Collection& collection);

  KnownThreads& threads_;

  std::mutex mutex_;  // protects all below
  std::uint64_t era_ = 0;
  std::uint64_t changes_ = 0;
  Collections collections_;  // those that were asked for
  // The collections that a commit under way writes. Apart from the above, which a reader clears
  // after another process wrote, even while the commit is under way.
  std::vector<std::string_view> doubted_;
};

}  // namespace skein::sqlite
