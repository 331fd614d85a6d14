// The change feed, .skein/feed: derived from the files, never flushed, and made anew when it may
// have lost something. docs/formats.md has its lines.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/file.h"
#include "skein/store.h"
#include "store/jsonl/folder.h"
#include "store/jsonl/records.h"

namespace skein::jsonl {

// What the feed says of a thread.
struct ThreadNews {
  bool exists = false;
  Seq last_seq = 0;
  Version version = 0;
};

// Thread-safe. Entries are written after what they tell is durable, under the lock of the thread or
// of the records: so each of those has its entries in order. Writing one never fails the caller;
// what could not be written is found by comparing the feed with the files.
class Feed {
 public:
  explicit Feed(Folder& folder);
  ~Feed();
  Feed(const Feed&) = delete;
  Feed& operator=(const Feed&) = delete;

  // True: the feed is a new and empty one, and is to be filled from the files.
  Result<bool> open();

  void created(ThreadId id, Version version);
  void appended(ThreadId id, Seq first, Seq last);
  void updated(ThreadId id, Version version);
  void removed(ThreadId id);
  void records(const std::vector<RecordChange>& changes);

  // Reads what others wrote.
  Result<void> follow();
  ThreadNews news_of(ThreadId id);
  std::unordered_map<ThreadId, ThreadNews> all_news();
  Version record_version();
  // Whether an entry could not be written or read, so that the files have to be asked.
  bool take_behind();

  // What happened after the cursor, overtaken entries left out.
  Result<ChangeBatch> read(std::string_view cursor, std::size_t limit);
  // Until an entry is written by this process, or the time is over.
  void wait_for_entry(std::chrono::milliseconds time);

 private:
  struct Entry {
    char kind = 0;
    ThreadId thread;
    Seq first = 0;  // or the version
    Seq last = 0;
    std::string_view name;  // collection/key
  };
  struct Thread {
    ThreadNews news;
    std::uint64_t updated_at = 0;  // offsets of its last such entries
    std::uint64_t removed_at = 0;
  };
  struct Position {
    std::uint64_t offset = 0;
    std::uint64_t skip = 0;  // changes of the entry there that were delivered already
  };

  struct EntryPlace {
    std::uint64_t offset = 0;
    std::uint64_t end = 0;  // where the next one begins
  };

  static std::optional<Entry> parse(std::string_view line);
  static void append_entry(std::string& out, std::string_view text);
  // Returns when they are written: whoever is next to change the same must find them before its
  // own.
  void write(const std::string& lines);
  Result<void> begin_writing();
  Result<void> open_current();
  Result<bool> adopt_header();
  Result<void> make_new();
  Result<void> follow_locked();
  void take(std::uint64_t offset, const Entry& entry);
  Result<Position> position_of(std::string_view cursor);
  std::string cursor_at(const Position& position) const;
  // Sets next.skip if the limit was reached within the entry.
  void deliver(const EntryPlace& place, const Entry& entry, std::size_t limit, Position& next,
               std::vector<Change>& changes) const;

  Folder& folder_;
  const std::string path_;

  std::mutex mutex_;  // protects all below
  std::condition_variable written_;
  std::shared_ptr<const Fd> fd_;  // written to without mutex_
  std::uint64_t inode_ = 0;
  std::string generation_;
  std::uint64_t begin_ = 0;    // after the header
  std::uint64_t read_to_ = 0;  // entries up to there are known
  bool behind_ = false;
  bool wrote_ = false;
  std::uint64_t looked_ = 0;
  std::uint64_t writes_ = 0;  // that are done
  std::unordered_map<ThreadId, Thread> threads_;
  std::unordered_map<std::string, std::uint64_t> record_entries_;  // offset of the last of each
  Version record_version_ = 0;
  // Where an entry's first event does not follow the one before it: what to deliver it from.
  std::map<std::uint64_t, Seq> mended_first_;
};

}  // namespace skein::jsonl
