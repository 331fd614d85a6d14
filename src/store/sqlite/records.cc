#include "store/sqlite/records.h"

#include <utility>

#include "core/quote.h"
#include "core/try.h"
#include "store/checks.h"
#include "store/run_job.h"
#include "store/sqlite/leases.h"
#include "store/sqlite/rows.h"

namespace skein::sqlite {
namespace {

constexpr char kVersion[] = "SELECT version FROM records WHERE collection = ? AND key = ?";
constexpr char kUpsert[] =
    "INSERT INTO records(collection, key, version, crc, bytes) VALUES(?1, ?2, ?3, ?4, ?5)"
    " ON CONFLICT(collection, key) DO UPDATE SET version = ?3, crc = ?4, bytes = ?5";
constexpr char kDelete[] = "DELETE FROM records WHERE collection = ? AND key = ?";
constexpr char kDeleteChange[] = "DELETE FROM changes WHERE g = ?";
constexpr char kDeleteTombstone[] =
    "DELETE FROM changes INDEXED BY deleted_records"
    " WHERE kind = 5 AND collection = ? AND key = ?";
static_assert(static_cast<int>(ChangeKind::kRecordDeleted) == 5);

#define SKEIN_SELECT_RECORDS                                                       \
  "SELECT key, version, crc, bytes FROM records WHERE collection = ? AND key >= ?" \
  " AND key < ? ORDER BY key"
constexpr char kForward[] = SKEIN_SELECT_RECORDS;
constexpr char kBackward[] = SKEIN_SELECT_RECORDS " DESC";

class WriteJob : public Job {
 public:
  explicit WriteJob(std::span<const RecordWrite> writes) : writes_(writes) {
    items = writes.size();
    for (const RecordWrite& write : writes) bytes += write.bytes ? write.bytes->size() : 0;
  }

  Result<void> apply(WriteContext& context) override {
    std::vector<Version> found;
    for (const RecordWrite& write : writes_) {
      SKEIN_ASSIGN(auto version, version_of(context.database, write));
      SKEIN_ASSIGN(auto refused, refusal(context, write, version));
      if (refused) {
        answer = tl::unexpected(std::move(*refused));
        return {};
      }
      found.push_back(version);
    }
    std::vector<Version> versions;
    for (std::size_t i = 0; i < writes_.size(); ++i) {
      SKEIN_ASSIGN(const Version version, put(context, writes_[i], found[i]));
      versions.push_back(version);
    }
    answer = std::move(versions);
    return {};
  }

  Result<std::vector<Version>> answer;

 private:
  // 0: there is none.
  static Result<Version> version_of(Database& database, const RecordWrite& write) {
    SKEIN_ASSIGN(Query query, database.query(kVersion));
    SKEIN_ASSIGN(const bool found, query.bind(write.collection, write.key).step());
    return found ? static_cast<Version>(query.integer(0)) : 0;
  }

  static Result<std::optional<Error>> refusal(WriteContext& context, const RecordWrite& write,
                                              Version found) {
    if (write.fence) {
      const ThreadId thread = write.fence->thread;
      SKEIN_ASSIGN(Head * head, context.heads.find(context.database, thread));
      if (head == nullptr) return unknown_thread(thread);
      SKEIN_ASSIGN(auto fenced, refuse_fence(context, thread, *head, write.fence->token));
      if (fenced) return fenced;
    }
    auto checked = check_version("record " + quote(write.key) + " of " + write.collection,
                                 write.expect_version, found);
    if (!checked) return std::move(checked.error());
    return std::nullopt;
  }

  static Result<Version> put(WriteContext& context, const RecordWrite& write, Version old) {
    Database& database = context.database;
    if (!write.bytes && old == 0) return 0;
    if (old != 0) {
      SKEIN_ASSIGN(Query overtaken, database.query(kDeleteChange));
      SKEIN_TRY(overtaken.bind(old).run());
    } else {
      SKEIN_ASSIGN(Query overtaken, database.query(kDeleteTombstone));
      SKEIN_TRY(overtaken.bind(write.collection, write.key).run());
    }
    const auto kind = write.bytes ? ChangeKind::kRecordWritten : ChangeKind::kRecordDeleted;
    SKEIN_ASSIGN(
        const auto g,
        insert_change(context, {.kind = kind, .collection = write.collection, .key = write.key}));
    if (!write.bytes) {
      SKEIN_ASSIGN(Query remove, database.query(kDelete));
      SKEIN_TRY(remove.bind(write.collection, write.key).run());
      context.record_changes.push_back({write.collection, write.key, std::nullopt});
      return 0;
    }
    const auto version = static_cast<Version>(g);
    SKEIN_ASSIGN(Query upsert, database.query(kUpsert));
    upsert.bind(write.collection, write.key, version,
                record_crc(write.collection, write.key, version, *write.bytes));
    SKEIN_TRY(upsert.bind_blob(5, *write.bytes).run());
    context.record_changes.push_back({write.collection, write.key, write.bytes, version});
    return version;
  }

  const std::span<const RecordWrite> writes_;
};

}  // namespace

Result<std::vector<Version>> write_records(JobRunner& writer, std::span<const RecordWrite> writes) {
  SKEIN_TRY(check_writes(writes));
  if (writes.empty()) return std::vector<Version>();
  return run_job<WriteJob>(writer, writes);
}

namespace {

using Records = std::vector<Record>;

// Whether a key may come after those that were found. SQLite returns rows in the order of the file,
// which may be damaged. A scan that resumes after the last key would then never end.
bool follows(const ScanRange& range, const Records& found, std::string_view key) {
  if (key < range.from || (!range.to.empty() && key >= range.to)) return false;
  if (found.empty()) return true;
  const std::string_view last = found.back().key;
  return range.direction == Direction::kForward ? key > last : key < last;
}

// What is damaged is told, and left out.
Result<Records> load_records(Database& database, const ScanRange& range,
                             std::vector<Finding>& damaged) {
  Records found;
  SKEIN_ASSIGN(Query query,
               database.query(range.direction == Direction::kForward ? kForward : kBackward));
  query.bind(range.collection, range.from, range.to);
  if (range.to.empty()) query.bind_blob(3, {});  // every blob comes after every text
  while (found.size() < range.limit) {
    SKEIN_ASSIGN(const bool row, query.step());
    if (!row) break;
    const auto version = static_cast<Version>(query.integer(1));
    if (!follows(range, found, query.bytes(0))) {
      damaged.push_back({.what = "record " + quote(query.bytes(0)) + " of " + range.collection +
                                 " is out of order"});
    } else if (record_crc(range.collection, query.bytes(0), version, query.bytes(3)) ==
               query.integer(2)) {
      found.push_back({std::string(query.bytes(0)), std::string(query.bytes(3)), version});
    } else {
      damaged.push_back({.what = "record " + quote(query.bytes(0)) + " of " + range.collection +
                                 " does not match its checksum"});
    }
  }
  return found;
}

Result<Records> load_records(Readers& readers, const ScanRange& range,
                             std::vector<Finding>& damaged) {
  return readers.with<Records>(
      [&](Database& database) { return load_records(database, range, damaged); });
}

// All of the collection, if it is small enough.
void learn(Readers& readers, KnownRecords& known, const std::string& collection) {
  const auto before = known.wants(collection);
  if (!before) return;
  ScanRange all;
  all.collection = collection;
  all.limit = KnownRecords::kMostRecords + 1;
  std::vector<Finding> damaged;
  auto records = load_records(readers, all, damaged);
  if (records && damaged.empty()) known.put(collection, std::move(*records), *before);
}

}  // namespace

Result<std::vector<Record>> scan_records(Readers& readers, KnownRecords& known,
                                         const ScanRange& range,
                                         const std::function<void(const Finding&)>& notice) {
  SKEIN_TRY(check_scan(range));
  Records records;
  if (known.scan(range, records)) return records;
  learn(readers, known, range.collection);
  if (known.scan(range, records)) return records;
  std::vector<Finding> damaged;
  SKEIN_ASSIGN(records, load_records(readers, range, damaged));
  for (const Finding& finding : damaged) {
    if (notice) notice(finding);
  }
  return records;
}

}  // namespace skein::sqlite
