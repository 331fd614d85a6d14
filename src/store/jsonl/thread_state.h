// What a process keeps of a thread while it works with it. Everything here can be had again from
// the files.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "skein/store.h"
#include "store/checks.h"
#include "store/jsonl/folder.h"
#include "store/jsonl/head.h"
#include "store/jsonl/tail.h"

namespace skein::jsonl {

// The appends of one caller to one thread.
struct AppendRequest {
  std::vector<const Append*> appends;
  std::vector<Result<Appended>*> results;
  bool done = false;
};

// What its writer knows of a thread.
struct WriterView {
  std::string agent;
  std::shared_ptr<const ThreadFile> file;
  std::chrono::steady_clock::time_point path_followed;  // when the path was last seen to lead there
  Head head;
  Tail tail;
  // Idempotency keys up to keys_to; built when first needed.
  std::unordered_map<std::string, Seq> keys;
  Mark keys_to{1, 0};
};

// What its readers know of a file: places to begin at, and branches up to `branches_to`. The file
// stays open, so that no other can get its inode.
struct ReaderView {
  std::shared_ptr<const ThreadFile> file;
  std::vector<Mark> marks;  // in rising order
  std::vector<Branch> branches;
  Mark branches_to{1, 0};
};

struct ThreadState {
  explicit ThreadState(ThreadId thread_id) : id(thread_id) {}

  const ThreadId id;

  std::mutex mutex;
  std::condition_variable turn;
  bool writing = false;                // by mutex
  std::deque<AppendRequest*> waiting;  // by mutex

  WriterView writer;  // by ThreadLock

  std::mutex reader_mutex;
  ReaderView reader;  // by reader_mutex
};

// The one who may write the thread, in this process and among processes. Borrows the state.
class ThreadLock {
 public:
  ~ThreadLock() { release(); }
  ThreadLock(ThreadLock&& other) noexcept
      : state_(std::exchange(other.state_, nullptr)), lock_(std::move(other.lock_)) {}
  ThreadLock& operator=(ThreadLock&&) = delete;

  static Result<ThreadLock> acquire(Folder& folder, ThreadState& state);
  // For one who took `writing` already.
  static Result<ThreadLock> adopt(Folder& folder, ThreadState& state);
  void release();

 private:
  ThreadLock(ThreadState& state, FileLock lock) : state_(&state), lock_(std::move(lock)) {}

  ThreadState* state_;
  FileLock lock_;
};

// The states that are in use, and as many of the others as fit. Thread-safe.
class ThreadCache {
 public:
  explicit ThreadCache(std::size_t capacity) : capacity_(capacity) {}

  // Nobody else has another state of the same thread while this one is in use.
  std::shared_ptr<ThreadState> get(ThreadId id);

 private:
  struct Entry {
    std::shared_ptr<ThreadState> state;
    std::list<ThreadId>::iterator used;
  };

  const std::size_t capacity_;
  std::mutex mutex_;
  std::unordered_map<ThreadId, Entry> states_;  // by mutex_
  std::list<ThreadId> recent_;                  // by mutex_; last used first
};

}  // namespace skein::jsonl
