#include "http/audit_log.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include "core/pause.h"
#include "core/try.h"

namespace skein::http {
namespace {

constexpr std::size_t kMaxWaitingBytes = std::size_t{8} << 20;
constexpr std::chrono::milliseconds kAfterError{1000};
// Others may follow: they are written together.
constexpr std::chrono::milliseconds kGathering{2};

Result<Fd> open_file(const std::string& path) {
  Fd file(::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600));
  if (file.is_open()) return file;
  return fail(ErrorCode::kIo, "cannot write the audit log " + path + ": " + std::strerror(errno));
}

std::uint64_t size_of(const Fd& file) {
  struct stat status{};
  return ::fstat(file.get(), &status) == 0 ? static_cast<std::uint64_t>(status.st_size) : 0;
}

}  // namespace

Result<std::unique_ptr<AuditLog>> AuditLog::open(std::string path) {
  SKEIN_ASSIGN(Fd file, open_file(path));
  const std::uint64_t size = size_of(file);
  return std::unique_ptr<AuditLog>(new AuditLog(std::move(path), std::move(file), size));
}

AuditLog::AuditLog(std::string path, Fd file, std::uint64_t size)
    : path_(std::move(path)),
      file_(std::move(file)),
      size_(size),
      writer_([this](const std::stop_token& stop) { work(stop); }) {}

AuditLog::~AuditLog() = default;

void AuditLog::say(std::string_view line) {
  const std::lock_guard lock(mutex_);
  if (lines_.empty()) came_.notify_one();
  lines_.append(line).append("\n");
  if (lines_.size() > kMaxWaitingBytes && status_) {
    status_ = fail(ErrorCode::kIo, "the audit log " + path_ + " is too slow");
  }
}

Result<void> AuditLog::status() const {
  const std::lock_guard lock(mutex_);
  return status_;
}

void AuditLog::work(const std::stop_token& stop) {
  for (;;) {
    std::string lines;
    {
      std::unique_lock lock(mutex_);
      came_.wait(lock, stop, [this] { return !lines_.empty(); });
      if (lines_.empty()) return;
      lock.unlock();
      std::this_thread::sleep_for(kGathering);
      lock.lock();
      lines.swap(lines_);
    }
    auto written = write(lines);
    while (!written && pause_for(kAfterError, stop)) {
      {
        const std::lock_guard lock(mutex_);
        status_ = written;
      }
      written = write(lines);
    }
    const std::lock_guard lock(mutex_);
    status_ = written;
    if (!written) return;
  }
}

Result<void> AuditLog::write(std::string_view text) {
  if (size_ + text.size() > kMaxFileBytes && size_ > 0) SKEIN_TRY(turn_over());
  SKEIN_TRY(write_append(file_, path_, text));
  size_ += text.size();
  return {};
}

Result<void> AuditLog::turn_over() {
  for (int i = kFiles - 1; i >= 1; --i) {
    const std::string from = i == 1 ? path_ : path_ + "." + std::to_string(i - 1);
    std::rename(from.c_str(), (path_ + "." + std::to_string(i)).c_str());
  }
  SKEIN_ASSIGN(file_, open_file(path_));
  size_ = size_of(file_);
  return {};
}

}  // namespace skein::http
