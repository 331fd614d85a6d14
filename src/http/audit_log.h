// A file that says who wrote what: a line for each request that could change something.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>

#include "core/file.h"
#include "skein/clock.h"
#include "skein/error.h"

namespace skein::http {

// Lines are written by a thread of its own, soon and in order. At kMaxFileBytes the file becomes
// FILE.1, and what was that becomes FILE.2, up to kFiles. Several processes may write one file.
// Thread-safe.
class AuditLog {
 public:
  static constexpr std::uint64_t kMaxFileBytes = std::uint64_t{64} << 20;
  static constexpr int kFiles = 4;
  // Of lines that cannot be written yet. Those beyond it are counted, and a line tells how many.
  static constexpr std::size_t kMaxWaitingBytes = std::size_t{8} << 20;
  static constexpr std::chrono::milliseconds kLook{10};

  // Borrows the clock. `first`, if there is one, is a line that is written when this returns; or
  // else status() says why it was not.
  static Result<std::unique_ptr<AuditLog>> open(std::string path, Clock& clock,
                                                std::string_view first = {});
  // What was said is written first.
  ~AuditLog();
  AuditLog(const AuditLog&) = delete;
  AuditLog& operator=(const AuditLog&) = delete;

  // Never waits. `line` without its line feed.
  void say(std::string_view line);

  // Why lines cannot be written; nothing: they can. As long as they cannot, nothing should be
  // changed that would go unnoticed. Looks at the file's name, unless it did so within kLook.
  Result<void> status() const;

 private:
  // Which file it is, whatever its name.
  struct Inode {
    dev_t device = 0;
    ino_t number = 0;
    friend bool operator==(const Inode&, const Inode&) = default;
  };

  AuditLog(std::string path, Clock& clock);
  void work(const std::stop_token& stop);
  std::string lost_line(std::uint64_t lost) const;
  void set_status(Result<void> status);
  // Takes away what was written of them; of a line that was written in part, nothing.
  Result<void> write(std::string& lines);
  void use(Fd file);
  bool has_its_name() const;
  Result<void> turn_over();

  const std::string path_;
  Clock& clock_;
  Fd file_;  // the writing thread's
  // When the name was last found to be good.
  mutable std::atomic<std::chrono::steady_clock::time_point> looked_{};

  mutable std::mutex mutex_;  // protects all below
  std::condition_variable_any came_;
  std::string lines_;
  std::uint64_t lost_ = 0;  // behind these
  Inode inode_;             // of file_
  Result<void> status_;

  std::jthread writer_;
};

}  // namespace skein::http
