#include "store/postgres/records.h"

#include <algorithm>
#include <utility>

#include "core/checksum.h"
#include "core/quote.h"
#include "core/try.h"
#include "store/checks.h"
#include "store/lease.h"
#include "store/run_job.h"

namespace skein::postgres {
namespace {

constexpr char kDelete[] = "DELETE FROM skein.records WHERE collection = $1 AND key = $2";

constexpr std::size_t kStepBytes = 4194304;
// Large records come in several round trips, so that they do not fill the memory.
#define SKEIN_SELECT_RECORDS(range, order)                                                \
  "SELECT key, version, crc, bytes FROM (SELECT s.*, sum(octet_length(bytes)) OVER ("     \
  "ORDER BY key " order                                                                   \
  " ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before"                          \
  " FROM (SELECT key, version, crc, bytes FROM skein.records WHERE collection = $1::text" \
  " AND key >= $2::bytea " range " ORDER BY key " order                                   \
  " LIMIT $3::bigint) s) w"                                                               \
  " WHERE coalesce(before, 0) < 4194304 ORDER BY key " order
constexpr char kForward[] = SKEIN_SELECT_RECORDS("AND key < $4::bytea", "ASC");
constexpr char kForwardAll[] = SKEIN_SELECT_RECORDS("", "ASC");
constexpr char kBackward[] = SKEIN_SELECT_RECORDS("AND key < $4::bytea", "DESC");
constexpr char kBackwardAll[] = SKEIN_SELECT_RECORDS("", "DESC");

class WriteJob : public Job {
 public:
  explicit WriteJob(std::span<const RecordWrite> writes) : writes_(writes) {
    items = writes.size();
    if (!writes.empty()) subject = checksum(writes.front().key);
    for (const RecordWrite& write : writes) bytes += write.bytes ? write.bytes->size() : 0;
  }

  void want(Wanted& wanted) override {
    for (const RecordWrite& write : writes_) {
      wanted.records.insert(name_of(write));
      if (write.fence) wanted.threads.insert(write.fence->thread);
    }
    wanted.positions += writes_.size();
  }

  bool apply(WriteBatch& batch) override {
    if (committed(batch.loaded) == Committed::kYes) return true;
    before_.clear();
    after_.clear();
    answer = write(batch);
    return true;
  }

  Committed committed(Loaded& loaded) const override {
    bool as_before = true;
    for (std::size_t i = 0; i < after_.size(); ++i) {
      const Version found = loaded.record(name_of(writes_[i]));
      if (after_[i] != 0 && found == after_[i]) return Committed::kYes;
      as_before = as_before && found == before_[i];
    }
    const bool only_deletes =
        std::all_of(after_.begin(), after_.end(), [](Version v) { return v == 0; });
    return as_before || only_deletes ? Committed::kNo : Committed::kUnknown;
  }

  Result<std::vector<Version>> answer;

 private:
  static RecordName name_of(const RecordWrite& write) { return {write.collection, write.key}; }

  Result<std::vector<Version>> write(WriteBatch& batch) {
    for (const RecordWrite& write : writes_) {
      if (write.fence) {
        const Head* head = batch.loaded.head(write.fence->thread);
        if (head == nullptr) return tl::unexpected(unknown_thread(write.fence->thread));
        SKEIN_TRY(check_fence(head->lease, write.fence->thread, write.fence->token));
      }
      SKEIN_TRY(check_version("record " + quote(write.key) + " of " + write.collection,
                              write.expect_version, batch.loaded.record(name_of(write))));
    }
    for (const RecordWrite& write : writes_) {
      before_.push_back(batch.loaded.record(name_of(write)));
      after_.push_back(put(batch, write, before_.back()));
    }
    return after_;
  }

  static Version put(WriteBatch& batch, const RecordWrite& write, Version old) {
    if (!write.bytes && old == 0) return 0;
    const RecordName name = name_of(write);
    if (!write.bytes)
      batch.queue(kDelete,
                  Arguments::of(std::string_view(write.collection), std::string_view(write.key)));
    if (old != 0)
      batch.overtake(static_cast<std::int64_t>(old));
    else
      batch.overtake_deletion(name);
    const auto kind = write.bytes ? ChangeKind::kRecordWritten : ChangeKind::kRecordDeleted;
    const auto g = static_cast<Version>(
        batch.add_change({.kind = kind, .collection = write.collection, .key = write.key}));
    const Version version = write.bytes ? g : 0;
    if (write.bytes) batch.put_record(name, version, *write.bytes, old != 0);
    batch.loaded.records[name] = version;
    return version;
  }

  const std::span<const RecordWrite> writes_;
  std::vector<Version> before_;
  std::vector<Version> after_;
};

// The part of a scan that is still to be read.
struct Rest {
  std::string from;
  std::string to;
  bool forward = true;
};

Result<Answer> read_step(Connection& connection, const std::string& collection, const Rest& rest,
                         std::size_t limit, Deadline deadline) {
  Arguments arguments = Arguments::of(std::string_view(collection), std::string_view(rest.from));
  arguments.add(limit);
  if (!rest.to.empty()) arguments.add(std::string_view(rest.to));
  const char* sql = rest.forward ? (rest.to.empty() ? kForwardAll : kForward)
                                 : (rest.to.empty() ? kBackwardAll : kBackward);
  return connection.ask(sql, arguments, deadline);
}

}  // namespace

Result<std::vector<Version>> write_records(Writer& writer, std::span<const RecordWrite> writes) {
  SKEIN_TRY(check_writes(writes));
  if (writes.empty()) return std::vector<Version>();
  return run_job<WriteJob>(writer, writes);
}

Result<std::vector<Record>> scan_records(Pool& pool, const ScanRange& range,
                                         const std::function<void(const Finding&)>& notice) {
  SKEIN_TRY(check_scan(range));
  using Records = std::vector<Record>;
  Records records;
  Rest rest{range.from, range.to, range.direction == Direction::kForward};
  while (records.size() < range.limit) {
    const std::size_t left = range.limit - records.size();
    SKEIN_ASSIGN(const Answer answer,
                 pool.with<Answer>([&](Connection& connection, Deadline deadline) {
                   return read_step(connection, range.collection, rest, left, deadline);
                 }));
    std::size_t bytes = 0;
    for (int row = 0; row < answer.rows(); ++row) {
      const std::string_view key = answer.bytes(row, 0);
      const auto version = static_cast<Version>(answer.integer(row, 1));
      const std::string_view stored = answer.bytes(row, 3);
      bytes += stored.size();
      if (record_crc(range.collection, key, version, stored) == answer.integer(row, 2))
        records.push_back({std::string(key), std::string(stored), version});
      else if (notice)
        notice({.what = "record " + quote(key) + " of " + range.collection +
                        " does not match its checksum"});
    }
    if (static_cast<std::size_t>(answer.rows()) < left && bytes < kStepBytes) break;
    const std::string_view last = answer.bytes(answer.rows() - 1, 0);
    if (rest.forward)
      rest.from = std::string(last) + '\0';
    else
      rest.to = last;
  }
  return records;
}

}  // namespace skein::postgres
