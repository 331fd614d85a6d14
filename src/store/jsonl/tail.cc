#include "store/jsonl/tail.h"

#include <algorithm>

#include "core/try.h"
#include "store/codec.h"
#include "store/jsonl/line.h"

namespace skein::jsonl {
namespace {

constexpr std::uint64_t kFirstWindow = 8 << 10;
constexpr std::uint64_t kLastWindow = 16 << 20;
constexpr std::uint64_t kProbe = 64 << 10;

// The last line of the window that says its own position. The window begins in the middle of a line
// unless `whole`.
std::optional<Mark> last_verified(std::string_view window, std::uint64_t offset, bool whole) {
  std::size_t end = window.size();
  while (end > 0) {
    const auto newline = window.rfind('\n', end - 1);
    if (newline == std::string_view::npos && !whole) return std::nullopt;
    const std::size_t begin = newline == std::string_view::npos ? 0 : newline + 1;
    const auto line = without_cr(window.substr(begin, end - begin));
    if (check_frame(line) == Frame::kVerified) {
      const auto seq = line_seq(line);
      if (seq && may_be_at(*seq, offset + begin)) return Mark{*seq, offset + begin};
    }
    if (begin == 0) break;
    end = begin - 1;
  }
  return std::nullopt;
}

std::optional<Mark> first_verified(std::string_view window, std::uint64_t offset) {
  auto newline = window.find('\n');
  while (newline != std::string_view::npos) {
    const std::size_t begin = newline + 1;
    newline = window.find('\n', begin);
    if (newline == std::string_view::npos) break;
    const auto line = without_cr(window.substr(begin, newline - begin));
    if (check_frame(line) == Frame::kVerified) {
      const auto seq = line_seq(line);
      if (seq && may_be_at(*seq, offset + begin)) return Mark{*seq, offset + begin};
    }
  }
  return std::nullopt;
}

// Walks from the mark to the end.
Result<Tail> walk_tail(const ThreadFile& file, Mark from, std::uint64_t size, Timestamp last_time) {
  LineWalker walker(file, from, size);
  EventReader reader;
  Event event;
  Line line;
  Tail tail;
  tail.last_time = last_time;
  while (true) {
    SKEIN_ASSIGN(const bool more, walker.next(line));
    if (!more) break;
    if (line.kind != Line::Kind::kVerified && line.kind != Line::Kind::kForeign) continue;
    const auto source =
        line.kind == Line::Kind::kVerified ? EventSource::kLine : EventSource::kForeign;
    if (reader.read_padded(line.text, source, event) && event.timestamp.is_set()) {
      tail.last_time = event.timestamp;
    }
  }
  tail.last_seq = walker.next_seq() - 1;
  tail.size = size;
  tail.end = walker.file_end();
  return tail;
}

}  // namespace

Result<std::optional<Mark>> last_mark(const ThreadFile& file, std::uint64_t begin,
                                      std::uint64_t end) {
  std::string window;
  const std::uint64_t length = end > begin ? end - begin : 0;
  for (std::uint64_t wanted = kFirstWindow; length > 0; wanted *= 8) {
    const std::uint64_t bytes = std::min(wanted, length);
    window.resize(bytes);
    SKEIN_ASSIGN(const auto got, read_at(file.fd, file.path, end - bytes, window.data(), bytes));
    const auto text = std::string_view(window).substr(0, got);
    if (const auto mark = last_verified(text, end - bytes, bytes == length)) return mark;
    if (bytes == length || wanted >= kLastWindow) break;
  }
  return std::nullopt;
}

Result<Tail> read_tail(const ThreadFile& file, std::uint64_t events_begin, std::uint64_t size) {
  SKEIN_ASSIGN(const auto mark, last_mark(file, events_begin, size));
  SKEIN_ASSIGN(Tail tail, walk_tail(file, mark.value_or(Mark{1, events_begin}), size, {}));
  if (mark) tail.last_claim = mark->seq;
  return tail;
}

Result<Tail> extend_tail(const ThreadFile& file, const Tail& known, std::uint64_t size) {
  return walk_tail(file, {known.last_seq + 1, known.end.lines_end}, size, known.last_time);
}

Result<Mark> find_mark(const ThreadFile& file, Mark near, Seq seq, std::uint64_t size) {
  std::uint64_t high = size;
  std::string window;
  while (high > near.offset + 4 * kProbe) {
    const std::uint64_t middle = near.offset + (high - near.offset) / 2;
    window.resize(kProbe);
    SKEIN_ASSIGN(const auto got, read_at(file.fd, file.path, middle, window.data(), kProbe));
    const auto found = first_verified(std::string_view(window).substr(0, got), middle);
    if (!found) break;
    if (found->seq <= seq) {
      near = *found;
    } else {
      high = middle;
    }
  }
  return near;
}

}  // namespace skein::jsonl
