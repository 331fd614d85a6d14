#include "store/jsonl/feed.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "core/checksum.h"
#include "core/try.h"
#include "store/checks.h"
#include "store/jsonl/line_reader.h"

namespace skein::jsonl {
namespace {

constexpr std::string_view kMagic = "skein-feed 1 ";
constexpr std::string_view kCleanMark = "feed.clean";
// Writes after which it is seen to that the path still leads to the file that is open.
constexpr std::uint64_t kLookEvery = 64;
constexpr std::size_t kGenerationDigits = 16;
constexpr std::size_t kChecksumDigits = 8;

std::string hex(std::uint64_t value, std::size_t digits) {
  std::string text(digits, '0');
  for (std::size_t i = digits; i-- > 0; value >>= 4) text[i] = "0123456789abcdef"[value & 15];
  return text;
}

// The line without its checksum, if that matches.
std::optional<std::string_view> verified_text(std::string_view line) {
  if (line.size() <= kChecksumDigits + 1) return std::nullopt;
  const auto text = line.substr(0, line.size() - kChecksumDigits - 1);
  if (line.substr(text.size() + 1) != hex(checksum(text), kChecksumDigits)) return std::nullopt;
  return text;
}

// The next word, cut off the front of the text.
std::string_view take_word(std::string_view& text) {
  const auto space = text.find(' ');
  const auto word = text.substr(0, space);
  text = space == std::string_view::npos ? std::string_view() : text.substr(space + 1);
  return word;
}

bool read_number(std::string_view text, std::uint64_t& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

}  // namespace

Feed::Feed(Folder& folder) : folder_(folder), path_(folder.own_path("feed")) {}

// Leaves the feed as one that can be trusted after a reboot.
Feed::~Feed() {
  const std::lock_guard guard(mutex_);
  if (!wrote_ || !fd_ || behind_) return;
  const auto stamp = stat_open(*fd_, path_);
  if (!stamp || !folder_.flusher().data(*fd_, path_)) return;
  const std::string text = generation_ + " " + std::to_string(stamp->size);
  (void)replace_file(folder_.own_path(kCleanMark), text, folder_.flusher());
}

void Feed::append_entry(std::string& out, std::string_view text) {
  out.append(text).append(" ").append(hex(checksum(text), kChecksumDigits)).append("\n");
}

std::optional<Feed::Entry> Feed::parse(std::string_view line) {
  auto text = verified_text(line);
  if (!text) return std::nullopt;
  const auto kind = take_word(*text);
  if (kind.size() != 1) return std::nullopt;
  Entry entry;
  entry.kind = kind[0];
  if (entry.kind == 'w' || entry.kind == 'x') {
    if (!read_number(take_word(*text), entry.first)) return std::nullopt;
    entry.name = *text;
    return entry;
  }
  const auto id = ThreadId::parse(take_word(*text));
  if (!id) return std::nullopt;
  entry.thread = *id;
  if (entry.kind == 'd') return entry;
  if (!read_number(take_word(*text), entry.first)) return std::nullopt;
  if (entry.kind == 'a' && !read_number(take_word(*text), entry.last)) return std::nullopt;
  return entry;
}

Result<bool> Feed::open() {
  const std::lock_guard guard(mutex_);
  SKEIN_ASSIGN(const FileLock lock, folder_.lock(kFeedLock));
  SKEIN_ASSIGN(const bool usable, adopt_header());
  if (!usable) SKEIN_TRY(make_new());
  SKEIN_TRY(open_current());
  return !usable;
}

// Whether the feed that lies there is of this boot, or was left complete by an earlier one.
Result<bool> Feed::adopt_header() {
  SKEIN_ASSIGN(const auto stamp, stat_file(path_));
  if (!stamp) return false;
  SKEIN_ASSIGN(const Fd fd, open_file(path_, O_RDWR));
  char bytes[256];
  SKEIN_ASSIGN(const auto got, read_at(fd, path_, 0, bytes, sizeof bytes));
  const std::string_view head(bytes, got);
  const auto newline = head.find('\n');
  if (newline == std::string_view::npos || !head.starts_with(kMagic)) return false;
  auto text = verified_text(head.substr(0, newline));
  if (!text || text->size() < kMagic.size() + kGenerationDigits) return false;
  const auto generation = std::string(text->substr(kMagic.size(), kGenerationDigits));
  const std::string boot = folder_.clock().boot_id();
  if (text->substr(kMagic.size() + kGenerationDigits + 1) == boot) return true;
  SKEIN_ASSIGN(const auto clean, read_file(folder_.own_path(kCleanMark), 4096));
  if (clean != generation + " " + std::to_string(stamp->size)) return false;
  std::string line;
  append_entry(line, std::string(kMagic) + generation + " " + boot);
  if (line.size() != newline + 1) return false;
  SKEIN_TRY(write_at(fd, path_, 0, line));
  return true;
}

Result<void> Feed::make_new() {
  std::string line;
  append_entry(line, std::string(kMagic) + hex(folder_.ids().next(), kGenerationDigits) + " " +
                         folder_.clock().boot_id());
  return replace_file(path_, line, folder_.flusher());
}

// Opens the file that the path leads to now, unless it is open.
Result<void> Feed::open_current() {
  SKEIN_ASSIGN(const auto stamp, stat_file(path_));
  if (!stamp) return fail(ErrorCode::kIo, path_ + " is gone: open the store again");
  if (stamp->inode == inode_ && stamp->size >= read_to_) return {};
  SKEIN_ASSIGN(Fd fd, open_file(path_, O_RDWR | O_APPEND));
  fd_ = std::make_shared<const Fd>(std::move(fd));
  SKEIN_ASSIGN(const auto now, stat_open(*fd_, path_));
  inode_ = now.inode;
  threads_.clear();
  record_entries_.clear();
  record_version_ = 0;
  mended_first_.clear();
  LineReader reader(*fd_, path_, 0, now.size);
  LineReader::Raw line;
  SKEIN_ASSIGN(const bool has_header, reader.next(line));
  if (!has_header || line.text.size() < kMagic.size() + kGenerationDigits) {
    inode_ = 0;
    return fail(ErrorCode::kDamaged, path_ + " has no header: open the store again");
  }
  generation_ = line.text.substr(kMagic.size(), kGenerationDigits);
  begin_ = read_to_ = reader.offset();
  return {};
}

// Takes the mark away that the feed is as it was left: from now on it is not.
Result<void> Feed::begin_writing() {
  if (std::exchange(wrote_, true)) return {};
  SKEIN_ASSIGN(const bool marked, remove_file(folder_.own_path(kCleanMark)));
  return marked ? folder_.flusher().folder(folder_.own_path("")) : Result<void>();
}

void Feed::write(const std::string& lines) {
  std::unique_lock guard(mutex_);
  bool ready = begin_writing().has_value();
  // The file changes only when somebody takes it away: what is written to an old one is told again.
  if (ready && (!fd_ || looked_++ % kLookEvery == 0)) ready = open_current().has_value();
  const std::shared_ptr<const Fd> file = fd_;
  guard.unlock();
  const bool written = ready && write_append(*file, path_, lines);
  guard.lock();
  if (!written) behind_ = true;
  ++writes_;
  guard.unlock();
  written_.notify_all();
}

void Feed::created(ThreadId id, Version version) {
  std::string line;
  append_entry(line, "c " + id.str() + " " + std::to_string(version));
  write(line);
}

void Feed::appended(ThreadId id, Seq first, Seq last) {
  std::string line;
  append_entry(line, "a " + id.str() + " " + std::to_string(first) + " " + std::to_string(last));
  write(line);
}

void Feed::updated(ThreadId id, Version version) {
  std::string line;
  append_entry(line, "u " + id.str() + " " + std::to_string(version));
  write(line);
}

void Feed::removed(ThreadId id) {
  std::string line;
  append_entry(line, "d " + id.str());
  write(line);
}

void Feed::records(const std::vector<RecordChange>& changes) {
  std::string lines;
  for (const RecordChange& change : changes) {
    append_entry(lines, (change.deleted ? "x " : "w ") + std::to_string(change.version) + " " +
                            change.collection + "/" + change.key);
  }
  if (!lines.empty()) write(lines);
}

Result<void> Feed::follow() {
  const std::lock_guard guard(mutex_);
  return follow_locked();
}

Result<void> Feed::follow_locked() {
  SKEIN_TRY(open_current());
  SKEIN_ASSIGN(const auto stamp, stat_open(*fd_, path_));
  if (stamp.size == read_to_) return {};
  LineReader reader(*fd_, path_, read_to_, stamp.size);
  LineReader::Raw line;
  while (true) {
    SKEIN_ASSIGN(const bool more, reader.next(line));
    if (!more) break;
    if (const auto entry = parse(line.text)) {
      take(line.offset, *entry);
    } else {
      behind_ = true;
    }
    read_to_ = reader.offset();
  }
  return {};
}

void Feed::take(std::uint64_t offset, const Entry& entry) {
  if (entry.kind == 'w' || entry.kind == 'x') {
    record_entries_[std::string(entry.name)] = offset;
    record_version_ = std::max(record_version_, entry.first);
    return;
  }
  Thread& thread = threads_[entry.thread];
  switch (entry.kind) {
    case 'c':
      thread.news.exists = true;
      thread.news.version = entry.first;
      break;
    case 'a':
      if (entry.first > thread.news.last_seq + 1) {
        mended_first_[offset] = thread.news.last_seq + 1;
      }
      thread.news.last_seq = entry.last;
      break;
    case 'u':
      thread.news.version = entry.first;
      thread.updated_at = offset;
      break;
    case 'd':
      thread.news = ThreadNews{};
      thread.removed_at = offset;
      break;
    default:
      break;
  }
}

ThreadNews Feed::news_of(ThreadId id) {
  const std::lock_guard guard(mutex_);
  const auto known = threads_.find(id);
  return known == threads_.end() ? ThreadNews{} : known->second.news;
}

std::unordered_map<ThreadId, ThreadNews> Feed::all_news() {
  const std::lock_guard guard(mutex_);
  std::unordered_map<ThreadId, ThreadNews> news;
  for (const auto& [id, thread] : threads_) news.emplace(id, thread.news);
  return news;
}

Version Feed::record_version() {
  const std::lock_guard guard(mutex_);
  return record_version_;
}

bool Feed::take_behind() {
  const std::lock_guard guard(mutex_);
  return std::exchange(behind_, false);
}

Result<Feed::Position> Feed::position_of(std::string_view cursor) {
  if (cursor == Store::kNow) return Position{read_to_, 0};
  Position position{begin_, 0};
  if (cursor.empty()) return position;
  std::string_view text = cursor;
  const auto first_dash = text.find('-');
  const auto second_dash = text.find('-', first_dash + 1);
  std::uint64_t offset = 0;
  std::uint64_t skip = 0;
  if (first_dash != kGenerationDigits || second_dash == std::string_view::npos ||
      !read_number(text.substr(first_dash + 1, second_dash - first_dash - 1), offset) ||
      !read_number(text.substr(second_dash + 1), skip)) {
    return tl::unexpected(bad_cursor(cursor));
  }
  // A cursor into a feed that is no more begins again.
  if (text.substr(0, first_dash) != generation_ || offset < begin_ || offset > read_to_) {
    return position;
  }
  return Position{offset, skip};
}

std::string Feed::cursor_at(const Position& position) const {
  return generation_ + "-" + std::to_string(position.offset) + "-" + std::to_string(position.skip);
}

void Feed::deliver(const EntryPlace& place, const Entry& entry, std::size_t limit, Position& next,
                   std::vector<Change>& changes) const {
  const std::uint64_t skip = std::exchange(next.skip, 0);
  const auto tell = [&](Change change, const Position& after) {
    change.cursor = cursor_at(after);
    changes.push_back(std::move(change));
  };
  const Position after_entry{place.end, 0};
  if (entry.kind == 'w' || entry.kind == 'x') {
    const auto last = record_entries_.find(std::string(entry.name));
    if (last != record_entries_.end() && last->second > place.offset) return;
    const auto slash = entry.name.find('/');
    Change change;
    change.kind = entry.kind == 'w' ? ChangeKind::kRecordWritten : ChangeKind::kRecordDeleted;
    change.collection = entry.name.substr(0, slash);
    change.key = entry.name.substr(slash + 1);
    tell(std::move(change), after_entry);
    return;
  }
  const auto known = threads_.find(entry.thread);
  if (known == threads_.end()) return;
  if (entry.kind != 'd' && place.offset < known->second.removed_at) return;
  switch (entry.kind) {
    case 'c':
      tell({.kind = ChangeKind::kCreated, .thread = entry.thread}, after_entry);
      return;
    case 'u':
      if (place.offset < known->second.updated_at) return;
      tell({.kind = ChangeKind::kUpdated, .thread = entry.thread}, after_entry);
      return;
    case 'd':
      tell({.kind = ChangeKind::kRemoved, .thread = entry.thread}, after_entry);
      return;
    default:
      break;
  }
  const auto mended = mended_first_.find(place.offset);
  const Seq first = mended == mended_first_.end() ? entry.first : mended->second;
  for (Seq seq = first + skip; seq <= entry.last; ++seq) {
    if (changes.size() == limit) {
      next.skip = seq - first;
      return;
    }
    tell({.kind = ChangeKind::kAppended, .thread = entry.thread, .seq = seq},
         seq == entry.last ? after_entry : Position{place.offset, seq - first + 1});
  }
}

Result<ChangeBatch> Feed::read(std::string_view cursor, std::size_t limit) {
  const std::lock_guard guard(mutex_);
  SKEIN_TRY(follow_locked());
  SKEIN_ASSIGN(Position next, position_of(cursor));
  ChangeBatch batch;
  LineReader reader(*fd_, path_, next.offset, read_to_);
  LineReader::Raw line;
  while (batch.changes.size() < limit) {
    SKEIN_ASSIGN(const bool more, reader.next(line));
    if (!more) break;
    if (const auto entry = parse(line.text)) {
      deliver({line.offset, reader.offset()}, *entry, limit, next, batch.changes);
      if (next.skip > 0) break;
    }
    next.offset = reader.offset();
  }
  batch.cursor = cursor_at(next);
  return batch;
}

void Feed::wait_for_entry(std::chrono::milliseconds time) {
  std::unique_lock guard(mutex_);
  const std::uint64_t before = writes_;
  written_.wait_for(guard, time, [&] { return writes_ != before; });
}

}  // namespace skein::jsonl
