#include "http/audit_log.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include "core/confined_path.h"
#include "core/file_lock.h"
#include "core/json_object.h"
#include "core/pause.h"
#include "core/try.h"

namespace skein::http {
namespace {

constexpr std::chrono::milliseconds kAfterError{1000};
// Others may follow: they are written together.
constexpr std::chrono::milliseconds kGathering{10};

constexpr int kFlags = O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC;

// A workspace may bring anything under the name of its log: only a regular file is written.
Result<Fd> open_confined(const std::string& path) {
  SKEIN_ASSIGN(Fd file, open_file(path, kFlags));
  struct stat status{};
  if (::fstat(file.get(), &status) == 0 && S_ISREG(status.st_mode)) return file;
  return fail(ErrorCode::kIo,
              "cannot write the audit log " + path + ": it must be a regular file; move it away");
}

// An operator may name a link or a device, such as /dev/stderr; a workspace may not bring one.
Result<Fd> open_log(const std::string& path) {
  SKEIN_TRY(check_no_links(path));
  const auto confined = find_confined(path);
  if (confined && *confined) return open_confined(path);
  Fd file(::open(path.c_str(), kFlags, kPrivateFile));
  if (file.is_open()) return file;
  return fail(ErrorCode::kIo, "cannot write the audit log " + path + ": " + std::strerror(errno));
}

}  // namespace

Result<std::unique_ptr<AuditLog>> AuditLog::open(std::string path, Clock& clock,
                                                 std::string_view first) {
  std::unique_ptr<AuditLog> log(new AuditLog(std::move(path), clock));
  SKEIN_ASSIGN(Fd file, open_log(log->path_));
  log->use(std::move(file));
  if (!first.empty()) {
    log->lines_.append(first).append("\n");
    log->status_ = log->write(log->lines_);
  }
  log->writer_ = std::jthread([log = log.get()](const std::stop_token& stop) { log->work(stop); });
  return log;
}

AuditLog::AuditLog(std::string path, Clock& clock) : path_(std::move(path)), clock_(clock) {}

AuditLog::~AuditLog() = default;

void AuditLog::say(std::string_view line) {
  const std::lock_guard lock(mutex_);
  if (lines_.size() + line.size() >= kMaxWaitingBytes) {
    ++lost_;
    if (status_) status_ = fail(ErrorCode::kIo, "the audit log " + path_ + " is too slow");
    return;
  }
  if (lines_.empty()) came_.notify_one();
  if (lost_ > 0) lines_ += lost_line(std::exchange(lost_, 0));
  lines_.append(line).append("\n");
}

Result<void> AuditLog::status() const {
  {
    const std::lock_guard lock(mutex_);
    if (!status_) return status_;
  }
  // Somebody may have taken it away since the last line was written.
  const auto now = std::chrono::steady_clock::now();
  if (now - looked_.load(std::memory_order_relaxed) < kLook) return {};
  if (!has_its_name()) SKEIN_TRY(open_log(path_));
  looked_.store(now, std::memory_order_relaxed);
  return {};
}

void AuditLog::set_status(Result<void> status) {
  const std::lock_guard lock(mutex_);
  status_ = std::move(status);
}

std::string AuditLog::lost_line(std::uint64_t lost) const {
  JsonObject line;
  line.add("at", clock_.now().str()).add("lost", lost);
  line.add("message", "so many lines could not be written here");
  return line.str() + "\n";
}

void AuditLog::work(const std::stop_token& stop) {
  for (;;) {
    std::string lines;
    {
      std::unique_lock lock(mutex_);
      came_.wait(lock, stop, [this] { return !lines_.empty(); });
      if (lines_.empty()) return;
      lines.swap(lines_);
      if (lost_ > 0) lines += lost_line(std::exchange(lost_, 0));
    }
    auto written = write(lines);
    while (!written) {
      // At once: until it can be written, nothing more should happen that would go unnoticed.
      set_status(written);
      if (!pause_for(kAfterError, stop)) return;
      written = write(lines);
    }
    set_status({});
    std::this_thread::sleep_for(kGathering);
  }
}

Result<void> AuditLog::write(std::string& lines) {
  // Another process may have turned it over, and over again until nobody has what is written here.
  if (!has_its_name()) {
    SKEIN_ASSIGN(Fd next, open_log(path_));
    use(std::move(next));
  }
  struct stat now{};
  if (::fstat(file_.get(), &now) == 0 && now.st_size > 0 &&
      static_cast<std::uint64_t>(now.st_size) + lines.size() > kMaxFileBytes) {
    SKEIN_TRY(turn_over());
  }
  std::size_t done = 0;
  while (done < lines.size()) {
    const ssize_t more = ::write(file_.get(), lines.data() + done, lines.size() - done);
    if (more < 0 && errno == EINTR) continue;
    if (more == 0) errno = ENOSPC;
    if (more <= 0) break;
    done += static_cast<std::size_t>(more);
  }
  const int error = errno;
  const bool all = done == lines.size();
  const std::size_t whole = done == 0 ? 0 : lines.rfind('\n', done - 1) + 1;
  lines.replace(0, whole, done > whole ? "\n" : "");  // what is torn ends there
  if (all) return {};
  return tl::unexpected(io_error("write", path_, error));
}

void AuditLog::use(Fd file) {
  file_ = std::move(file);
  struct stat status{};
  ::fstat(file_.get(), &status);
  const std::lock_guard lock(mutex_);
  inode_ = {status.st_dev, status.st_ino};
}

bool AuditLog::has_its_name() const {
  struct stat named{};
  if (::stat(path_.c_str(), &named) != 0) return false;
  const std::lock_guard lock(mutex_);
  return inode_ == Inode{named.st_dev, named.st_ino};
}

Result<void> AuditLog::turn_over() {
  SKEIN_ASSIGN(FileLock lock, FileLock::acquire(file_.get(), 0, LockMode::kExclusive));
  // Whoever had the lock before has done it, if the name is another file's now.
  const int files = has_its_name() ? kFiles : 0;
  for (int i = files - 1; i >= 1; --i) {
    const std::string from = i == 1 ? path_ : path_ + "." + std::to_string(i - 1);
    std::rename(from.c_str(), (path_ + "." + std::to_string(i)).c_str());
  }
  SKEIN_ASSIGN(Fd next, open_log(path_));
  lock.release();  // before its file goes
  use(std::move(next));
  return {};
}

}  // namespace skein::http
