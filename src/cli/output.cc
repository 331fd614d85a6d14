#include "cli/output.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>

#include "core/json.h"

namespace skein {
namespace {

constexpr std::size_t kBufferBytes = 64 << 10;

// Writes everything; the errno of the failure, or 0.
int write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(fd, text.data(), text.size());
    if (written < 0) {
      if (errno == EINTR) continue;
      return errno;
    }
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return 0;
}

std::int64_t steady_ms() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

}  // namespace

std::string printable(std::string_view text) {
  if (valid_utf8(text)) return std::string(text);
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    out += byte < 0x80 ? std::string(1, c) : fmt::format("\\x{:02x}", byte);
  }
  return out;
}

Output::Output(int fd) : fd_(fd), terminal_(::isatty(fd) == 1) {}

void Output::append(std::string_view text) {
  buffer_.append(text);
  if (buffer_.size() >= kBufferBytes) (void)flush();
}

void Output::write(std::string_view text) { append(terminal_ ? visible_json(text) : text); }

void Output::write_stored(std::string_view text) { append(terminal_ ? visible(text) : text); }

Result<void> Output::flush() {
  if (error_ == 0) error_ = write_all(fd_, buffer_);
  buffer_.clear();
  return status();
}

Result<void> Output::status() const {
  if (error_ == 0) return {};
  return fail(ErrorCode::kIo, fmt::format("cannot write the output: {}", std::strerror(error_)));
}

void print_line_to_stderr(std::string_view line) {
  (void)write_all(STDERR_FILENO, fmt::format("{}\n", line));
}

void print_notice(std::string_view message) {
  print_line_to_stderr(fmt::format("skein: {}", visible(message)));
}

void report_error(std::string_view code, std::string_view message, bool json) {
  std::string text = fmt::format("skein: {}\n", visible(message));
  if (json) {
    text += R"({"error":{"code":)";
    append_json_string(text, code);
    text += R"(,"message":)";
    append_json_string(text, printable(message));
    text += "}}\n";
  }
  (void)write_all(STDERR_FILENO, text);
}

void report(const Failure& failure, bool json) {
  const char* code = failure.exit_code == kExitUsage ? "usage" : to_string(failure.error.code);
  report_error(code, failure.error.message, json);
}

Progress::Progress(std::string label)
    : label_(std::move(label)), enabled_(::isatty(STDERR_FILENO) == 1) {}

Progress::~Progress() { clear(); }

void Progress::update(std::uint64_t done, std::uint64_t total) {
  constexpr std::int64_t kRedrawMs = 100;
  const std::int64_t now_ms = steady_ms();
  if (!enabled_ || now_ms - last_ms_ < kRedrawMs) return;
  last_ms_ = now_ms;
  std::string line = fmt::format("\r{} {}", label_, done);
  if (total > 0) {
    constexpr std::size_t kWidth = 30;
    const std::size_t filled = std::min<std::uint64_t>(kWidth, done * kWidth / total);
    line =
        fmt::format("\r{} [{:<{}}] {}/{}", label_, std::string(filled, '#'), kWidth, done, total);
  }
  (void)write_all(STDERR_FILENO, line + "\x1b[K");
  shown_ = true;
}

void Progress::clear() {
  if (shown_) (void)write_all(STDERR_FILENO, "\r\x1b[K");
  shown_ = false;
}

}  // namespace skein
