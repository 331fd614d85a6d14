#include "http/audit_log.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include "core/file_lock.h"
#include "core/json_object.h"
#include "core/pause.h"
#include "core/try.h"

namespace skein::http {
namespace {

constexpr std::chrono::milliseconds kAfterError{1000};
// Others may follow: they are written together.
constexpr std::chrono::milliseconds kGathering{10};

Result<Fd> open_file(const std::string& path) {
  Fd file(::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600));
  if (file.is_open()) return file;
  return fail(ErrorCode::kIo, "cannot write the audit log " + path + ": " + std::strerror(errno));
}

}  // namespace

Result<std::unique_ptr<AuditLog>> AuditLog::open(std::string path, Clock& clock) {
  SKEIN_ASSIGN(Fd file, open_file(path));
  return std::unique_ptr<AuditLog>(new AuditLog(std::move(path), std::move(file), clock));
}

AuditLog::AuditLog(std::string path, Fd file, Clock& clock)
    : path_(std::move(path)),
      clock_(clock),
      file_(std::move(file)),
      writer_([this](const std::stop_token& stop) { work(stop); }) {}

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
  const std::lock_guard lock(mutex_);
  return status_;
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

Result<void> AuditLog::write(std::string_view text) {
  // Another process may have turned it over, and over again until nobody has what is written here.
  if (!has_its_name()) {
    SKEIN_ASSIGN(file_, open_file(path_));
  }
  struct stat now{};
  if (::fstat(file_.get(), &now) == 0 && now.st_size > 0 &&
      static_cast<std::uint64_t>(now.st_size) + text.size() > kMaxFileBytes) {
    SKEIN_TRY(turn_over());
  }
  return write_append(file_, path_, text);
}

bool AuditLog::has_its_name() const {
  struct stat ours{};
  struct stat named{};
  return ::fstat(file_.get(), &ours) == 0 && ::stat(path_.c_str(), &named) == 0 &&
         ours.st_dev == named.st_dev && ours.st_ino == named.st_ino;
}

Result<void> AuditLog::turn_over() {
  SKEIN_ASSIGN(FileLock lock, FileLock::acquire(file_.get(), 0, LockMode::kExclusive));
  // Whoever had the lock before has done it, if the name is another file's now.
  const int files = has_its_name() ? kFiles : 0;
  for (int i = files - 1; i >= 1; --i) {
    const std::string from = i == 1 ? path_ : path_ + "." + std::to_string(i - 1);
    std::rename(from.c_str(), (path_ + "." + std::to_string(i)).c_str());
  }
  SKEIN_ASSIGN(Fd next, open_file(path_));
  lock.release();  // before its file goes
  file_ = std::move(next);
  return {};
}

}  // namespace skein::http
