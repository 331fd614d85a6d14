#include "api/transfer/migrate.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <optional>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "api/transfer/carry.h"
#include "api/unsigned_records.h"
#include "core/json_edit.h"
#include "core/quote.h"
#include "core/sha256.h"
#include "core/try.h"
#include "runner/trigger_records.h"
#include "skein/limits.h"
#include "store/codec.h"
#include "store/find_record.h"
#include "store/record_access.h"

namespace skein {
namespace {

// What is read and written at once.
constexpr std::size_t kBatchEvents = 1000;
constexpr std::size_t kBatchRecords = 100;
constexpr std::size_t kBatchBytes = 4 << 20;
// Threads that are worked on at the same time, so that they share flushes.
constexpr std::size_t kWorkers = 16;

// Calls `work(i)` for every i below `count`, several at once, until one fails.
Result<void> at_once(std::size_t count, const std::function<Result<void>(std::size_t)>& work) {
  std::atomic<std::size_t> next = 0;
  std::mutex mutex;
  std::optional<Error> error;
  {
    std::vector<std::jthread> workers;
    for (std::size_t i = 0; i < std::min(count, kWorkers); ++i) {
      workers.emplace_back([&] {
        for (std::size_t at = next++; at < count; at = next++) {
          auto done = work(at);
          if (done) continue;
          next = count;
          const std::lock_guard lock(mutex);
          if (!error) error = std::move(done.error());
        }
      });
    }
  }
  if (error) return tl::unexpected(std::move(*error));
  return {};
}

// Pages of threads in the order of their creation, which is the same in every store.
Result<void> for_each_page(Store& store,
                           const std::function<Result<void>(const std::vector<Manifest>&)>& take) {
  ListQuery query;
  query.order = ListOrder::kCreatedOldestFirst;
  query.limit = limits::kMaxPageSize;
  do {
    SKEIN_ASSIGN(const ThreadPage page, store.list(query));
    SKEIN_TRY(take(page.threads));
    query.after = page.next;
  } while (!query.after.empty());
  return {};
}

// Not copied: the author of the source store may know the key. Skein makes a new one.
constexpr std::string_view kSealingKeys = "mcp_keys";

// The feed names every record that there is.
Result<std::set<std::string>> collections_of(Store& store) {
  std::set<std::string> names;
  std::string cursor;
  for (;;) {
    SKEIN_ASSIGN(ChangeBatch batch,
                 store.changes(cursor, limits::kMaxChanges, std::chrono::milliseconds(0)));
    for (Change& change : batch.changes) {
      if (change.kind != ChangeKind::kRecordWritten || change.collection == kSealingKeys) continue;
      names.insert(std::move(change.collection));
    }
    if (batch.changes.empty()) return names;
    cursor = std::move(batch.cursor);
  }
}

// Reads events as any store can keep them: with a time, and no names that mean something else.
class EventSource {
 public:
  EventSource(Store& store, const Manifest& manifest)
      : store_(store), manifest_(manifest), last_time_(manifest.created_at) {}

  // `take` says whether to go on. kDamaged: an event cannot be read.
  Result<void> read(Seq from, std::size_t limit, const std::function<bool(Event&)>& take) {
    std::optional<Error> error;
    SKEIN_TRY(store_.read(manifest_.id, ReadRange{.from = from, .limit = limit}, [&](Event& event) {
      if (const auto* bad = std::get_if<Unreadable>(&event.payload)) {
        error = Error{ErrorCode::kDamaged,
                      "event " + std::to_string(event.seq) + " cannot be read: " + bad->reason};
        return false;
      }
      if (!event.timestamp.is_set()) event.timestamp = last_time_;
      last_time_ = event.timestamp;
      rename_taken_fields(event.extra);
      return take(event);
    }));
    if (error) return tl::unexpected(std::move(*error));
    return {};
  }

  Result<std::vector<Event>> batch(Seq from) {
    std::vector<Event> events;
    std::size_t bytes = 0;
    SKEIN_TRY(read(from, kBatchEvents, [&](Event& event) {
      bytes += to_json(event).size();
      events.push_back(std::move(event));
      return bytes < kBatchBytes;
    }));
    return events;
  }

 private:
  Store& store_;
  const Manifest& manifest_;
  Timestamp last_time_;
};

// As it arrives elsewhere: a signature is for one workspace of one user, and what runs by itself
// waits until somebody enables it there.
std::string portable_bytes(std::string_view collection, const Record& record) {
  if (!is_signed_collection(collection)) return record.bytes;
  std::string bytes = without_signature(record.bytes);
  if (collection != kTriggers || !validate_json(bytes, "trigger")) return bytes;
  // What it was enabled since goes with that.
  return json_with(json_without(bytes, {"since"}), {"enabled"}, "false").value_or(bytes);
}

bool is_enabled_trigger(std::string_view collection, const Record& record) {
  if (collection != kTriggers) return false;
  const auto trigger = parse_trigger(record);
  return trigger && trigger->enabled;
}

// Sums a store up.
class Reader {
 public:
  Reader(Store& store, std::function<void(std::uint64_t done)> progress)
      : store_(store), progress_(std::move(progress)) {}

  Result<StoreContents> run(const std::set<std::string>& collections) {
    SKEIN_TRY(for_each_page(store_, [&](const auto& threads) { return add_page(threads); }));
    for (const std::string& collection : collections) {
      SKEIN_TRY(scan_prefix(store_, collection, "", [&](const Record& record) {
        add_text(collection);
        add_text(record.key);
        add_text(portable_bytes(collection, record));
        ++contents_.records;
        return true;
      }));
    }
    contents_.sha256 = sum_.hex();
    return contents_;
  }

 private:
  // With its length, so that no two lists of texts look the same.
  void add_text(std::string_view text) {
    sum_.add(std::to_string(text.size()) + ":");
    sum_.add(text);
  }

  Result<void> add_page(const std::vector<Manifest>& threads) {
    std::vector<std::string> sums(threads.size());
    SKEIN_TRY(at_once(threads.size(), [&](std::size_t i) -> Result<void> {
      SKEIN_ASSIGN(sums[i], sum_of(threads[i]));
      return {};
    }));
    for (const std::string& sum : sums) sum_.add(sum);
    contents_.threads += threads.size();
    for (const Manifest& thread : threads) contents_.events += thread.last_seq;
    progress_(contents_.threads);
    return {};
  }

  Result<std::string> sum_of(const Manifest& manifest) {
    Sha256 sum;
    sum.add(whole_json(manifest));
    EventSource source(store_, manifest);
    auto read = source.read(0, std::numeric_limits<std::size_t>::max(), [&](Event& event) {
      sum.add("\n" + to_json(event));
      if (event.tokens) sum.add("\n" + std::to_string(*event.tokens));
      return true;
    });
    // A damaged event has no sum that any other could have.
    if (!read && read.error().code == ErrorCode::kDamaged) return read.error().message;
    SKEIN_TRY(read);
    return sum.hex();
  }

  Store& store_;
  const std::function<void(std::uint64_t)> progress_;
  StoreContents contents_;
  Sha256 sum_;
};

class Migration {
 public:
  Migration(Store& from, Store& to, const MigrateOptions& options)
      : from_(from), to_(to), options_(options) {}

  Result<MigrateSummary> run();

 private:
  Result<void> copy_page(const std::vector<Manifest>& threads);
  Result<void> copy_thread(const Manifest& manifest);
  // Answers how many events the thread had there already; all that is missing follows.
  Result<Seq> begin_thread(const Manifest& manifest, EventSource& source);
  Result<void> append_rest(const Manifest& manifest, EventSource& source, Seq last);
  Result<void> copy_collection(const std::string& collection);
  Result<void> write_records(const std::string& collection, const std::vector<Record>& records);
  Result<void> write_singly(const std::string& collection, const Record& record);
  void count(const std::string& collection, std::span<const Record> written);
  // An error that concerns this one alone is told; others are passed on.
  Result<void> settle(const std::string& what, Result<void> done);
  void say(std::string_view doing, std::uint64_t done) {
    if (options_.progress) options_.progress(doing, done, total_);
  }

  Store& from_;
  Store& to_;
  const MigrateOptions& options_;
  std::uint64_t total_ = 0;  // threads

  std::mutex mutex_;  // what is below, and the caller's functions
  MigrateSummary summary_;
  std::uint64_t done_ = 0;
};

Result<void> Migration::settle(const std::string& what, Result<void> done) {
  if (done || done.error().code == ErrorCode::kIo) return done;
  const std::lock_guard lock(mutex_);
  ++summary_.problems;
  if (options_.problem) options_.problem(what + ": " + done.error().message);
  return {};
}

Result<Seq> Migration::begin_thread(const Manifest& manifest, EventSource& source) {
  SKEIN_ASSIGN(std::optional<Manifest> stored, to_.get(manifest.id));
  if (!stored) {
    SKEIN_ASSIGN(NewThread thread, new_thread_of(manifest));
    SKEIN_ASSIGN(thread.events, source.batch(1));
    SKEIN_TRY(to_.create(thread));
    const std::lock_guard lock(mutex_);
    ++summary_.threads;
    summary_.events += thread.events.size();
    return thread.events.size();
  }
  stored->updated_at = manifest.updated_at;  // as far as its events go
  if (whole_json(*stored) == whole_json(manifest) && stored->last_seq <= manifest.last_seq)
    return stored->last_seq;
  return fail(ErrorCode::kConflict, "there is another one of that id; left as it is");
}

Result<void> Migration::append_rest(const Manifest& manifest, EventSource& source, Seq last) {
  while (last < manifest.last_seq) {
    SKEIN_ASSIGN(std::vector<Event> events, source.batch(last + 1));
    if (events.empty()) return fail(ErrorCode::kConflict, "it got shorter while it was copied");
    std::vector<Append> appends;
    for (Event& event : events)
      appends.push_back({manifest.id, std::move(event), std::nullopt, ++last});
    for (auto& appended : to_.append(appends)) SKEIN_TRY(std::move(appended));
    const std::lock_guard lock(mutex_);
    summary_.events += appends.size();
  }
  return {};
}

Result<void> Migration::copy_thread(const Manifest& manifest) {
  EventSource source(from_, manifest);
  SKEIN_ASSIGN(const Seq last, begin_thread(manifest, source));
  return append_rest(manifest, source, last);
}

Result<void> Migration::copy_page(const std::vector<Manifest>& threads) {
  return at_once(threads.size(), [&](std::size_t i) -> Result<void> {
    SKEIN_TRY(settle("thread " + threads[i].id.str(), copy_thread(threads[i])));
    const std::lock_guard lock(mutex_);
    say("copying threads", ++done_);
    return {};
  });
}

Result<void> Migration::write_singly(const std::string& collection, const Record& record) {
  SKEIN_ASSIGN(const auto stored, find_record(to_, collection, record.key));
  const std::string bytes = portable_bytes(collection, record);
  if (stored && portable_bytes(collection, *stored) == bytes) return {};
  if (stored) return fail(ErrorCode::kConflict, "there is another one of that name; left as it is");
  const RecordWrite write = put_record(collection, record.key, bytes, 0);
  SKEIN_TRY(to_.write(std::span(&write, 1)));
  count(collection, std::span(&record, 1));
  return {};
}

void Migration::count(const std::string& collection, std::span<const Record> written) {
  summary_.records += written.size();
  for (const Record& record : written) summary_.disabled += is_enabled_trigger(collection, record);
}

Result<void> Migration::write_records(const std::string& collection,
                                      const std::vector<Record>& records) {
  std::vector<RecordWrite> writes;
  for (const Record& record : records)
    writes.push_back(put_record(collection, record.key, portable_bytes(collection, record), 0));
  if (const auto written = to_.write(writes)) {
    count(collection, records);
    return {};
  }
  for (const Record& record : records)
    SKEIN_TRY(settle("record " + quote(record.key) + " of " + collection,
                     write_singly(collection, record)));
  return {};
}

Result<void> Migration::copy_collection(const std::string& collection) {
  std::vector<Record> batch;
  std::size_t bytes = 0;
  Result<void> written;
  const auto flush = [&] {
    if (!batch.empty()) written = write_records(collection, batch);
    batch.clear();
    bytes = 0;
    return written.has_value();
  };
  SKEIN_TRY(scan_prefix(from_, collection, "", [&](const Record& record) {
    bytes += record.bytes.size();
    batch.push_back(record);
    return (batch.size() < kBatchRecords && bytes < kBatchBytes) || flush();
  }));
  if (written) flush();
  return written;
}

Result<MigrateSummary> Migration::run() {
  ListQuery count;
  count.limit = 1;
  count.with_total = true;
  SKEIN_ASSIGN(const ThreadPage first, from_.list(count));
  total_ = first.total.value_or(0);
  SKEIN_TRY(for_each_page(from_, [&](const auto& threads) { return copy_page(threads); }));
  SKEIN_ASSIGN(std::set<std::string> collections, collections_of(from_));
  for (const std::string& collection : collections) SKEIN_TRY(copy_collection(collection));

  SKEIN_ASSIGN(std::set<std::string> copied, collections_of(to_));
  collections.merge(copied);
  const auto progress = [&](std::uint64_t done) { say("comparing", done); };
  SKEIN_ASSIGN(summary_.from, Reader(from_, progress).run(collections));
  SKEIN_ASSIGN(summary_.to, Reader(to_, progress).run(collections));
  return summary_;
}

}  // namespace

Result<MigrateSummary> migrate_store(Store& from, Store& to, const MigrateOptions& options) {
  return Migration(from, to, options).run();
}

}  // namespace skein
