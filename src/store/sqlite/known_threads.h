// A memory of threads that were written or asked for lately: their manifests, and the last events
// of those that are new or read. SQLite forgets the pages that it read whenever somebody commits,
// so that asking it for something that was just written costs much more than finding it here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "skein/error.h"
#include "skein/ids.h"
#include "skein/store.h"
#include "skein/thread.h"
#include "store/sqlite/recent_events.h"
#include "store/sqlite/shared_number.h"

namespace skein::sqlite {

// What a transaction does to a thread.
struct ThreadChange {
  ThreadId id;
  // An append, whose event is there if the last events of the thread are known; or
  Seq last_seq = 0;
  std::int64_t updated = 0;
  std::shared_ptr<const RecentEvents::Kept> event{};
  std::optional<Seq> base{};
  // its manifest is written, or
  std::unique_ptr<Manifest> manifest{};
  // it goes.
  bool removed = false;
};

// What is in here holds as long as no other process writes. That they all tell: the file that they
// lock for writing has a number in it, which is odd while somebody writes and different after that.
// Bounded. Thread-safe.
class KnownThreads {
 public:
  // `number` is borrowed: the one in the file that they lock for writing.
  explicit KnownThreads(SharedNumber& number) : shared_number_(number) {}
  KnownThreads(const KnownThreads&) = delete;
  KnownThreads& operator=(const KnownThreads&) = delete;

  // --- For whoever reads ---
  std::optional<Manifest> find(const ThreadRef& ref);

  // A moment before a snapshot of the database was taken.
  struct Moment {
    std::uint64_t era = 0;
    std::uint64_t changes = 0;
  };
  Moment now();
  // Grows when all is forgotten. Nothing: another process writes just now.
  std::optional<std::uint64_t> era();
  // As it is in that snapshot.
  std::optional<Manifest> find(ThreadId id, const Moment& before);
  // What was read from that snapshot; forgotten, if it may be out of date by now.
  void put(const Manifest& manifest, const Moment& before);

  // The events that the range asks for. False: some of them are not known.
  bool read(ThreadId id, const ReadRange& range, RecentEvents::Rows& out);
  // Whether the last events of the thread are worth being put here.
  bool wants_events(ThreadId id);
  void put_events(ThreadId id, RecentEvents events, const Moment& before);

  // --- For the writer, while it has the lock ---
  Result<void> begin();
  bool has_events(ThreadId id);
  // From here on the changes may be in the database, or not. Borrowed until it is known.
  void doubt(const std::vector<ThreadChange>& changes);
  // They are in the database.
  void apply();
  // What is in the database is not what was known of it.
  void clear();
  void end();

 private:
  struct Entry {
    Manifest manifest{};
    std::optional<RecentEvents> events{};
    bool read = false;        // the events, by anybody
    std::uint64_t since = 0;  // the number of changes when it came
    bool in_doubt = false;
    std::size_t bytes = 0;
    std::list<ThreadId>::iterator used{};
  };
  using Entries = std::unordered_map<ThreadId, Entry>;

  // With mutex_ held:
  bool holds();
  bool is_doubted(ThreadId id) const;
  Entry* known(ThreadId id);
  // Whether the thread has not changed since then.
  bool is_as_then(ThreadId id, const Moment& before);
  void store(const Manifest& manifest);
  void append(Entry& entry, const ThreadChange& change);
  void charge(Entry& entry);
  void make_room();
  void forget(Entries::iterator entry);
  void forget_all();

  SharedNumber& shared_number_;  // written by whoever has the lock

  std::mutex mutex_;  // protects all below
  std::uint64_t number_ = 0;
  std::uint64_t era_ = 0;  // grows when all is forgotten
  std::uint64_t changes_ = 1;
  struct Changed {
    ThreadId id;
    std::uint64_t at = 0;
  };
  std::deque<Changed> changed_;   // the latest, with the number of changes after them
  std::uint64_t unrecorded_ = 0;  // changes up to this number are not among them any more
  const std::vector<ThreadChange>* doubted_ = nullptr;
  Entries entries_;
  std::list<ThreadId> used_;  // the latest first
  std::unordered_map<std::string, ThreadId> aliases_;
  std::size_t bytes_ = 0;
};

}  // namespace skein::sqlite
