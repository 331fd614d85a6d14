#include <fmt/format.h>

#include <random>

#include "bench/workload.h"
#include "core/checksum.h"
#include "core/sqlite.h"
#include "core/try.h"

namespace skein::bench {
namespace {

constexpr char kLast[] = "SELECT max(g) FROM events";
constexpr char kHead[] =
    "SELECT seq, updated, lag, g FROM events INDEXED BY events_by_thread WHERE id = ? ORDER BY seq "
    "DESC LIMIT 1";
constexpr char kByKey[] =
    "SELECT seq, key FROM events INDEXED BY events_by_key WHERE id = ? AND key_hash = ?";
constexpr char kInsert[] =
    "INSERT INTO events(g, id, seq, updated, lag, tokens, key_hash, key, crc, body)"
    " VALUES(?, ?, ?, ?, 0, NULL, ?, ?, ?, ?)";

struct Loop {
  Database& database;
  std::mt19937_64 random{7};
  std::int64_t last_g = 0;

  Result<void> append(ThreadId thread, std::uint64_t number, bool keyed) {
    std::int64_t seq = 0;
    {
      SKEIN_ASSIGN(Query head, database.query(kHead));
      SKEIN_ASSIGN(const bool any, head.bind(thread.bits()).step());
      if (any) seq = head.integer(0);
    }
    std::optional<std::string> key;
    std::optional<std::uint32_t> hash;
    if (keyed) {
      key = fmt::format("{:016x}", random());
      hash = checksum(*key);
      SKEIN_ASSIGN(Query known, database.query(kByKey));
      SKEIN_TRY(known.bind(thread.bits(), *hash).step());
    }
    const std::string body = sample_line(number);
    SKEIN_ASSIGN(Query insert, database.query(kInsert));
    return insert.bind(++last_g, thread.bits(), seq + 1, number, hash, key, checksum(body), body)
        .run();
  }
};

}  // namespace

Result<double> sqlite_loop(const std::string& path, const std::vector<ThreadId>& threads,
                           std::size_t appends, std::size_t rows, bool keyed) {
  SKEIN_ASSIGN(Database database, Database::open(path, 10'000));
  SKEIN_TRY(database.execute(
      "PRAGMA synchronous = FULL; PRAGMA cache_size = -16384; PRAGMA wal_autocheckpoint = 1000"));
  SKEIN_ASSIGN(const std::int64_t last, database.integer(kLast));
  Loop loop{database, std::mt19937_64(7), last + 1'000'000};
  const Stopwatch watch;
  for (std::size_t done = 0; done < appends;) {
    SKEIN_TRY(database.execute("BEGIN IMMEDIATE"));
    for (std::size_t i = 0; i < rows && done < appends; ++i, ++done) {
      SKEIN_TRY(loop.append(threads[done % threads.size()], done, keyed));
    }
    SKEIN_TRY(database.execute("COMMIT"));
  }
  return static_cast<double>(appends) / watch.seconds();
}

}  // namespace skein::bench
