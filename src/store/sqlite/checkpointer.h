// Moves what was written from the write-ahead log into the file, beside the writing.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>

#include "core/file.h"
#include "core/sqlite.h"
#include "skein/store.h"
#include "store/sqlite/schema.h"

namespace skein::sqlite {

// Has a thread of its own from open to destruction.
class Checkpointer {
 public:
  struct Hooks {
    std::function<void(std::string)> flush_failed;  // nothing may be written any more
    std::function<void(const Finding&)> notice;     // other failures; it will try again
  };

  // `lock_path` is the file that keeps writers of all processes apart.
  static Result<std::unique_ptr<Checkpointer>> open(const std::string& path,
                                                    const std::string& lock_path, Flush flush,
                                                    Hooks hooks);
  ~Checkpointer();

  // The log has so many frames now. From any thread, and cheap.
  void wal_grew(std::int64_t frames);

 private:
  struct Progress {
    int frames = 0;
    int moved = 0;
  };

  Checkpointer(Database database, Fd lock_file, Hooks hooks);

  void work(const std::stop_token& stop);
  Result<void> checkpoint();
  Result<Progress> move_frames();
  void report(const Error& error);

  const Hooks hooks_;
  Database database_;   // of the thread
  const Fd lock_file_;  // its own opening of it
  std::atomic<std::int64_t> frames_{0};
  std::atomic<std::int64_t> wake_at_;

  std::mutex mutex_;
  std::condition_variable_any grew_;
  bool flush_failed_ = false;  // of the thread

  std::jthread thread_;  // last: it uses all of the above
};

}  // namespace skein::sqlite
