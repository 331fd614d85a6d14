#include "store/jsonl/followed_file.h"

#include "core/json.h"
#include "core/try.h"
#include "store/jsonl/line.h"
#include "store/jsonl/line_reader.h"

namespace skein::jsonl {
namespace {

constexpr std::size_t kLongestBatch = std::size_t{2} << 30;

bool is_whole(std::string_view text) {
  return check_frame(text) == Frame::kVerified ||
         (text.starts_with('{') && validate_json(text, "").has_value());
}

}  // namespace

// True: it is another file than before.
Result<bool> FollowedFile::open_current() {
  SKEIN_ASSIGN(const auto stamp, stat_file(path_));
  const std::uint64_t inode = stamp ? stamp->inode : 0;
  size_ = stamp ? stamp->size : 0;
  if (inode == inode_ && size_ >= end_) return false;
  fd_.close();
  inode_ = 0;
  end_ = 0;
  newline_missing_ = false;
  if (!stamp) return true;
  SKEIN_ASSIGN(fd_, open_file(path_, O_RDWR));
  SKEIN_ASSIGN(const auto now, stat_open(fd_, path_));
  inode_ = now.inode;
  size_ = now.size;
  return true;
}

Result<void> FollowedFile::follow(const std::function<void()>& restart, const LineSink& line) {
  SKEIN_ASSIGN(const bool other, open_current());
  if (other) restart();
  if (size_ == end_) return {};
  LineReader reader(fd_, path_, end_, size_, kLongestBatch);
  LineReader::Raw raw;
  while (true) {
    SKEIN_ASSIGN(const bool more, reader.next(raw));
    if (!more) break;
    newline_missing_ = false;
    std::string_view text = without_cr(raw.text);
    if (check_frame(text) == Frame::kDamaged) {
      if (const std::size_t whole = verified_prefix(text); whole > 0) {
        text = text.substr(0, whole);
        reader.cut(whole);
      }
    }
    line(raw.offset, text);
    end_ = reader.offset();
  }
  const std::string_view rest = reader.rest();
  if (rest.empty()) return {};
  if (is_whole(rest)) {
    line(reader.offset(), rest);
    newline_missing_ = true;
    end_ = reader.offset() + rest.size();
  } else if (verified_prefix(rest) + 1 == rest.size()) {
    // Its newline was damaged. Another one is harmless.
    line(reader.offset(), rest.substr(0, rest.size() - 1));
    newline_missing_ = true;
    end_ = reader.offset() + rest.size() - 1;
  }
  return {};
}

Result<void> FollowedFile::make(Flusher& flusher) {
  if (fd_.is_open()) return {};
  SKEIN_ASSIGN(fd_, open_file(path_, O_RDWR | O_CREAT));
  SKEIN_ASSIGN(const auto stamp, stat_open(fd_, path_));
  inode_ = stamp.inode;
  size_ = stamp.size;
  return flusher.folder(parent_folder(path_));
}

Result<void> FollowedFile::append(std::string lines, Flusher& flusher) {
  SKEIN_TRY(flusher.check());
  SKEIN_TRY(make(flusher));
  if (size_ > end_) SKEIN_TRY(truncate_file(fd_, path_, end_));
  size_ = end_;
  if (newline_missing_) lines.insert(lines.begin(), '\n');
  if (auto written = write_at(fd_, path_, end_, lines); !written) {
    (void)truncate_file(fd_, path_, end_);
    return written;
  }
  return flusher.data(fd_, path_);
}

}  // namespace skein::jsonl
