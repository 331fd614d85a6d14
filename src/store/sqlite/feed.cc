#include "store/sqlite/feed.h"

#include <algorithm>
#include <iterator>
#include <thread>
#include <utility>
#include <vector>

#include "core/try.h"
#include "store/checks.h"
#include "store/sqlite/rows.h"
#include "store/sqlite/schema.h"

namespace skein::sqlite {
namespace {

// How often to look for what was written without a change of the shared number, by somebody who
// died before that, for example.
constexpr std::chrono::milliseconds kLookEvery{100};
// How often to look at the number where nobody can wait for it.
constexpr std::chrono::milliseconds kReadEvery{4};
constexpr int kCacheKb = 256;

constexpr char kDataVersion[] = "PRAGMA data_version";
constexpr char kLast[] =
    "SELECT max(ifnull((SELECT max(g) FROM events), 0), ifnull((SELECT max(g) FROM changes), 0))";
constexpr char kEvents[] = "SELECT g, id, seq FROM events WHERE g > ? ORDER BY g LIMIT ?";
constexpr char kChanges[] =
    "SELECT g, kind, thread, collection, key, crc FROM changes WHERE g > ? ORDER BY g LIMIT ?";

using Position = std::int64_t;
using Entry = std::pair<Position, Change>;

struct Page {
  std::vector<Entry> entries;
  Position last = 0;  // the latest of all
};

// SQLite returns rows in the order of the file, which may be damaged. A follower that resumes from
// the last position would then loop for ever.
Result<void> check_order(Position before, Position found) {
  if (found > before) return {};
  return fail(ErrorCode::kDamaged, "the change feed is out of order at " + std::to_string(found));
}

Result<void> load_events(Database& database, Position after, std::size_t limit,
                         std::vector<Entry>& entries) {
  SKEIN_ASSIGN(Query query, database.query(kEvents));
  query.bind(after, limit);
  for (;;) {
    SKEIN_ASSIGN(const bool row, query.step());
    if (!row) return {};
    SKEIN_TRY(check_order(entries.empty() ? after : entries.back().first, query.integer(0)));
    entries.emplace_back(
        query.integer(0),
        Change{.kind = ChangeKind::kAppended,
               .thread = ThreadId::from_bits(static_cast<std::uint64_t>(query.integer(1))),
               .seq = static_cast<Seq>(query.integer(2))});
  }
}

Result<void> load_changes(Database& database, Position after, std::size_t limit,
                          std::vector<Entry>& entries) {
  SKEIN_ASSIGN(Query query, database.query(kChanges));
  query.bind(after, limit);
  for (;;) {
    SKEIN_ASSIGN(const bool row, query.step());
    if (!row) return {};
    ChangeRow found = change_at(query);
    if (!found.crc_matches)
      return fail(ErrorCode::kDamaged,
                  "the change feed does not match its checksum at " + std::to_string(found.g));
    SKEIN_TRY(check_order(entries.empty() ? after : entries.back().first, found.g));
    entries.emplace_back(found.g, std::move(found.change));
  }
}

Result<Page> load_page(Database& database, Position after, std::size_t limit) {
  std::vector<Entry> events;
  std::vector<Entry> others;
  SKEIN_TRY(load_events(database, after, limit, events));
  SKEIN_TRY(load_changes(database, after, limit, others));
  Page page;
  std::merge(std::move_iterator(events.begin()), std::move_iterator(events.end()),
             std::move_iterator(others.begin()), std::move_iterator(others.end()),
             std::back_inserter(page.entries),
             [](const Entry& a, const Entry& b) { return a.first < b.first; });
  if (page.entries.size() > limit) page.entries.resize(limit);
  SKEIN_ASSIGN(page.last, database.integer(kLast));
  return page;
}

}  // namespace

Result<std::unique_ptr<Watch>> Watch::open(const std::string& path, const SharedNumber& number) {
  SKEIN_ASSIGN(Database database, connect(path, kCacheKb, Flush::kFull));
  std::unique_ptr<Watch> watch(new Watch(std::move(database), number));
  SKEIN_ASSIGN(watch->data_version_, watch->database_.integer(kDataVersion));
  return watch;
}

std::uint64_t Watch::look_at_number() {
  const std::uint64_t number = number_.read();
  // One who writes makes it odd: that says how many were done before.
  const std::uint64_t done = number & ~std::uint64_t{1};
  if (std::exchange(seen_, done) != done) ++generation_;
  return number;
}

std::uint64_t Watch::generation() {
  const std::lock_guard lock(mutex_);
  look_at_number();
  return generation_;
}

void Watch::notify() {
  const std::lock_guard lock(mutex_);
  look_at_number();
  changed_.notify_all();
}

Result<void> Watch::wait(std::uint64_t since, Clock::time_point deadline) {
  std::unique_lock lock(mutex_);
  const auto news = [&] { return generation_ != since; };
  while (!news() && Clock::now() < deadline) {
    if (watched_) {
      changed_.wait_until(lock, deadline, [&] { return news() || !watched_; });
      continue;
    }
    watched_ = true;
    auto watched = watch(lock, since, deadline);
    watched_ = false;
    changed_.notify_all();  // somebody else must watch on
    SKEIN_TRY(watched);
  }
  return {};
}

Result<void> Watch::watch(std::unique_lock<std::mutex>& lock, std::uint64_t since,
                          Clock::time_point deadline) {
  auto look = Clock::now() + kLookEvery;
  for (auto now = Clock::now(); now < deadline; now = Clock::now()) {
    const std::uint64_t number = look_at_number();
    if (generation_ != since) return {};
    lock.unlock();
    const auto time = std::min(deadline, look) - now;
    if (!number_.wait(number, time)) {
      std::this_thread::sleep_for(std::min<Clock::duration>(time, kReadEvery));
    }
    Result<std::int64_t> version = data_version_;
    if (Clock::now() >= look) {
      version = database_.integer(kDataVersion);
      look = Clock::now() + kLookEvery;
    }
    lock.lock();
    if (!version) return tl::unexpected(std::move(version.error()));
    if (std::exchange(data_version_, *version) != *version) ++generation_;
  }
  return {};
}

Result<ChangeBatch> read_changes(Readers& readers, Watch& watch, std::string_view cursor,
                                 std::size_t limit, std::chrono::milliseconds wait) {
  SKEIN_TRY(check_changes(limit, wait));
  const auto deadline = Watch::Clock::now() + wait;
  Position after = 0;
  if (cursor == Store::kNow) {
    SKEIN_ASSIGN(
        after, readers.with<Position>([](Database& database) { return database.integer(kLast); }));
  } else {
    SKEIN_ASSIGN(after, parse_position(cursor));
  }
  for (;;) {
    const std::uint64_t generation = watch.generation();
    SKEIN_ASSIGN(Page page, readers.with<Page>([&](Database& database) {
      return load_page(database, after, limit);
    }));
    if (after > page.last) return tl::unexpected(bad_cursor(cursor));
    const bool over = Watch::Clock::now() >= deadline;
    if (page.entries.empty() && !over) {
      SKEIN_TRY(watch.wait(generation, deadline));
      continue;
    }
    ChangeBatch batch;
    if (!page.entries.empty()) after = page.entries.back().first;
    for (auto& [position, change] : page.entries) {
      change.cursor = std::to_string(position);
      batch.changes.push_back(std::move(change));
    }
    batch.cursor = std::to_string(after);
    return batch;
  }
}

}  // namespace skein::sqlite
