#include "store/postgres/feed.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "core/try.h"
#include "store/checks.h"
#include "store/postgres/rows.h"
#include "store/postgres/schema.h"
#include "store/row_codec.h"

namespace skein::postgres {
namespace {

// Hints may get lost, or never come (behind a pooler): so often the feed is looked at anyway.
constexpr std::chrono::milliseconds kPollEvery{200};
// While a transaction of others holds the feed back.
constexpr std::chrono::milliseconds kHeldBackPoll{3};
// A reader that does not wait still waits this long for transactions that are just being committed,
// so that what was acknowledged before the call is in its answer.
constexpr std::chrono::milliseconds kGrace{1'000};

// In this order: see Horizon. A standby shows none of the writers' locks, so that a reader there
// would go past transactions that are still open. A connection lives on while its server is
// promoted, and a pooler may change servers between two exchanges: every exchange asks.
constexpr char kLast[] = "SELECT last_value, pg_is_in_recovery()::int::bigint FROM skein.feed";
constexpr char kWriting[] =
    "SELECT objid::bigint FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 2"
    " AND classid = $1::bigint::oid AND mode = 'ShareLock' AND granted"
    " AND database = (SELECT oid FROM pg_database WHERE datname = current_database())";

constexpr char kInRecovery[] = "SELECT pg_is_in_recovery()::int::bigint";
constexpr char kEvents[] =
    "SELECT g, id, seq FROM skein.events WHERE g > $1 AND g <= $2 ORDER BY g LIMIT $3";
constexpr char kChanges[] =
    "SELECT g, kind, thread, collection, key, crc FROM skein.changes"
    " WHERE g > $1 AND g <= $2 ORDER BY g LIMIT $3";

// The lock tells writers that there is somebody to tell.
std::string listen_sql(const Settings& settings) {
  return "LISTEN " + feed_channel(settings) + "; SELECT pg_advisory_lock_shared(" +
         std::to_string(listener_lock_class(settings)) + ", 0)";
}

Error refuse_standby(Connection& connection) {
  return connection.refuse_standby(
      "The change feed needs the primary: a standby does not show which transactions are still "
      "open, and a reader would skip their events");
}

using Position = std::int64_t;
using Entry = std::pair<Position, Change>;

// Places are taken in order, but committed in any. A transaction takes a shared lock named after
// the last place that was taken before it takes its own, and keeps it until it is over. Whoever
// took a place up to `last` before we asked for that is either among those that hold a lock when we
// ask next, or done, and visible to whoever looks after that.
struct Horizon {
  Position last = 0;   // the last place that was taken by anyone
  Position bound = 0;  // nothing up to here is still to come
};

Result<Horizon> find_horizon(Connection& connection, std::int64_t lock_class, Deadline deadline) {
  constexpr Position kMask = 0x7fffffff;
  connection.queue(kLast);
  connection.queue(kWriting, Arguments::of(lock_class));
  SKEIN_ASSIGN(const auto answers, connection.exchange(deadline));
  if (answers.at(0).integer(0, 1) != 0) return tl::unexpected(refuse_standby(connection));
  Horizon horizon;
  horizon.last = answers.at(0).integer(0, 0);
  horizon.bound = horizon.last;
  for (int row = 0; row < answers.at(1).rows(); ++row) {
    // The lock has the low bits of a place that may be later than `last`, but not by much.
    const Position low = answers.at(1).integer(row, 0) & kMask;
    const Position behind = (horizon.last - low) & kMask;
    if (behind <= kMask / 2) horizon.bound = std::min(horizon.bound, horizon.last - behind);
  }
  return horizon;
}

Result<std::vector<Entry>> load_page(Connection& connection, Position after, Position bound,
                                     std::size_t limit, Deadline deadline) {
  connection.queue(kInRecovery);
  connection.queue(kEvents, Arguments::of(after, bound, limit));
  connection.queue(kChanges, Arguments::of(after, bound, limit));
  SKEIN_ASSIGN(const auto answers, connection.exchange(deadline));
  if (answers.at(0).integer(0, 0) != 0) return tl::unexpected(refuse_standby(connection));
  const Answer& appended = answers.at(1);
  std::vector<Entry> events;
  for (int row = 0; row < appended.rows(); ++row)
    events.emplace_back(appended.integer(row, 0),
                        Change{.kind = ChangeKind::kAppended,
                               .thread = appended.thread(row, 1),
                               .seq = static_cast<Seq>(appended.integer(row, 2))});
  const Answer& changed = answers.at(2);
  std::vector<Entry> others;
  for (int row = 0; row < changed.rows(); ++row) {
    ChangeRow found = change_at(changed, row);
    if (!found.crc_matches)
      return fail(ErrorCode::kDamaged,
                  "the change feed does not match its checksum at " + std::to_string(found.g));
    others.emplace_back(found.g, std::move(found.change));
  }
  std::vector<Entry> page;
  std::merge(std::move_iterator(events.begin()), std::move_iterator(events.end()),
             std::move_iterator(others.begin()), std::move_iterator(others.end()),
             std::back_inserter(page),
             [](const Entry& a, const Entry& b) { return a.first < b.first; });
  if (page.size() > limit) page.resize(limit);
  return page;
}

// One read of the feed.
class FeedReader {
 public:
  FeedReader(Pool& pool, Watch& watch, const Settings& settings)
      : pool_(pool), watch_(watch), lock_class_(feed_lock_class(settings)) {}

  Result<Position> now() {
    const auto patience = Watch::Clock::now() + kGrace;
    SKEIN_ASSIGN(Horizon horizon, this->horizon());
    const Position present = horizon.last;
    while (horizon.bound < present && Watch::Clock::now() < patience) {
      pause();
      SKEIN_ASSIGN(horizon, this->horizon());
    }
    return std::min(horizon.bound, present);
  }

  Result<ChangeBatch> read(Position after, std::string_view cursor, std::size_t limit,
                           Watch::Clock::time_point deadline) {
    const auto patience = std::max(deadline, Watch::Clock::now() + kGrace);
    Position present = -1;
    for (;;) {
      const std::uint64_t generation = watch_.generation();
      SKEIN_ASSIGN(const Horizon horizon, this->horizon());
      if (after > horizon.last) return tl::unexpected(bad_cursor(cursor));
      if (present < 0) present = horizon.last;
      SKEIN_ASSIGN(std::vector<Entry> page, load(after, horizon.bound, limit));
      if (!page.empty()) return batch_of(std::move(page));
      const auto now = Watch::Clock::now();
      const bool held_back = horizon.bound < present && now < patience;
      if (now >= deadline && !held_back) return ChangeBatch{{}, std::to_string(after)};
      if (horizon.bound < horizon.last)
        pause();
      else
        watch_.wait(generation, deadline);
    }
  }

 private:
  Result<Horizon> horizon() {
    return pool_.with<Horizon>([&](Connection& connection, Deadline deadline) {
      return find_horizon(connection, lock_class_, deadline);
    });
  }
  Result<std::vector<Entry>> load(Position after, Position bound, std::size_t limit) {
    if (bound <= after) return std::vector<Entry>();
    return pool_.with<std::vector<Entry>>([&](Connection& connection, Deadline deadline) {
      return load_page(connection, after, bound, limit, deadline);
    });
  }
  static void pause() { std::this_thread::sleep_for(kHeldBackPoll); }

  static ChangeBatch batch_of(std::vector<Entry> page) {
    ChangeBatch batch;
    batch.cursor = std::to_string(page.back().first);
    for (auto& [position, change] : page) {
      change.cursor = std::to_string(position);
      batch.changes.push_back(std::move(change));
    }
    return batch;
  }

  Pool& pool_;
  Watch& watch_;
  const std::int64_t lock_class_;
};

}  // namespace

Watch::Watch(const Settings& settings)
    : settings_(settings), wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

Watch::~Watch() {
  listener_.request_stop();
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto written = ::write(wake_.get(), &one, sizeof(one));
}

std::uint64_t Watch::generation() {
  const std::lock_guard lock(mutex_);
  return generation_;
}

void Watch::notify() {
  const std::lock_guard lock(mutex_);
  ++generation_;
  changed_.notify_all();
}

void Watch::wait(std::uint64_t since, Clock::time_point deadline) {
  std::unique_lock lock(mutex_);
  if (!listener_.joinable())
    listener_ = std::jthread([this](const std::stop_token& stop) { listen(stop); });
  changed_.wait_until(lock, deadline, [&] { return generation_ != since; });
}

bool Watch::sleep(const std::stop_token& stop, int socket, std::chrono::milliseconds time) {
  pollfd descriptors[] = {{wake_.get(), POLLIN, 0}, {socket, POLLIN, 0}};
  ::poll(descriptors, socket < 0 ? 1 : 2, static_cast<int>(time.count()));
  return !stop.stop_requested();
}

void Watch::listen(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    auto connection = Connection::open(settings_);
    const Deadline deadline = Clock::now() + settings_.timeout;
    if (connection && (*connection)->execute(listen_sql(settings_), deadline))
      follow(**connection, stop);
    notify();
    if (!sleep(stop, -1, kPollEvery)) return;
  }
}

void Watch::follow(Connection& connection, const std::stop_token& stop) {
  PGconn* handle = connection.handle();
  notify();  // of what came before we listened
  while (sleep(stop, PQsocket(handle), kPollEvery)) {
    if (PQconsumeInput(handle) != 1) return;
    while (PGnotify* hint = PQnotifies(handle)) PQfreemem(hint);
    notify();
  }
}

Result<ChangeBatch> read_changes(Pool& pool, Watch& watch, const Settings& settings,
                                 std::string_view cursor, std::size_t limit,
                                 std::chrono::milliseconds wait) {
  SKEIN_TRY(check_changes(limit, wait));
  const auto deadline = Watch::Clock::now() + wait;
  FeedReader reader(pool, watch, settings);
  Position after = 0;
  if (cursor == Store::kNow) {
    SKEIN_ASSIGN(after, reader.now());
  } else {
    SKEIN_ASSIGN(after, parse_position(cursor));
  }
  return reader.read(after, cursor, limit, deadline);
}

}  // namespace skein::postgres
