#include "store/sqlite/log_check.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "core/file.h"

namespace skein::sqlite {
namespace {

// https://www.sqlite.org/fileformat2.html#walformat: a header, then frames of a header and a page.
constexpr std::size_t kLogHeader = 32;
constexpr std::size_t kFrameHeader = 24;
// What a log may have behind a frame that cannot be read, of which SQLite reads nothing. A file can
// say that it is as long as it likes without taking room.
constexpr std::uint64_t kMostBehind = std::uint64_t{256} << 20;
constexpr std::uint32_t kMagic = 0x377f0682;  // the lowest bit: checksums of big-endian words

using Bytes = std::span<const unsigned char>;

std::uint32_t word(Bytes bytes, std::size_t at, bool big_endian = true) {
  const auto byte = [&](std::size_t i) { return std::uint32_t{bytes[at + i]}; };
  return big_endian ? byte(0) << 24 | byte(1) << 16 | byte(2) << 8 | byte(3)
                    : byte(3) << 24 | byte(2) << 16 | byte(1) << 8 | byte(0);
}

// Each checksum goes on from the one before it.
struct Checksum {
  bool big_endian = false;
  std::uint32_t first = 0;
  std::uint32_t second = 0;

  void add(Bytes bytes) {
    for (std::size_t i = 0; i + 8 <= bytes.size(); i += 8) {
      first += word(bytes, i, big_endian) + second;
      second += word(bytes, i + 4, big_endian) + first;
    }
  }
  bool matches(Bytes bytes, std::size_t at) const {
    return first == word(bytes, at) && second == word(bytes, at + 4);
  }
};

Finding damaged(std::string what) {
  return {.health = Health::kBroken,
          .thread = {},
          .seq = 0,
          .what = std::move(what),
          .repair = "restore the file from a copy, if acknowledged writes are missing",
          .repaired = false};
}

class Log {
 public:
  Log(std::string path, Fd file) : path_(std::move(path)), file_(std::move(file)) {}

  std::optional<Finding> examine() {
    std::vector<unsigned char> header(kLogHeader);
    if (!read(header)) return std::nullopt;
    sum_.big_endian = (word(header, 0) & 1) != 0;
    sum_.add(Bytes(header).first(24));
    const std::uint32_t page = word(header, 8);
    const bool sound = (word(header, 0) & ~1U) == kMagic && sum_.matches(header, 24) &&
                       page >= 512 && page <= 65536;
    if (!sound) return damaged("the write-ahead log begins with damage; what it held is lost");
    salts_ = {word(header, 16), word(header, 20)};
    frame_.resize(kFrameHeader + page);
    return examine_frames();
  }

 private:
  bool read(std::span<unsigned char> into) {
    got_ = read_at(file_, path_, offset_, reinterpret_cast<char*>(into.data()), into.size())
               .value_or(0);
    offset_ += got_;
    return got_ == into.size();
  }

  bool is_commit() const { return word(frame_, 4) != 0; }

  // Either salt tells this log's frames from those of an earlier one that it overwrites.
  bool is_of_this_log() const {
    return word(frame_, 8) == salts_[0] || word(frame_, 12) == salts_[1];
  }

  bool follows() {
    if (word(frame_, 8) != salts_[0] || word(frame_, 12) != salts_[1]) return false;
    sum_.add(Bytes(frame_).first(8));
    sum_.add(Bytes(frame_).subspan(kFrameHeader));
    return sum_.matches(frame_, 16);
  }

  std::optional<Finding> examine_frames() {
    std::uint64_t good = 0;
    std::uint64_t lost = 0;
    bool chain = true;
    std::uint64_t chain_end = 0;
    while ((chain || offset_ - chain_end < kMostBehind) && read(frame_)) {
      chain = chain && follows();
      if (chain) {
        ++good;
        chain_end = offset_;
      } else if (is_of_this_log() && is_commit()) {
        ++lost;
      }
    }
    if (lost > 0) {
      return damaged("the write-ahead log cannot be read after frame " + std::to_string(good) +
                     "; commits behind it that are lost: " + std::to_string(lost));
    }
    // Zeros are room that was made for later.
    const auto tail = Bytes(frame_).first(got_);
    if (chain && std::any_of(tail.begin(), tail.end(), [](auto byte) { return byte != 0; })) {
      return damaged("the write-ahead log ends within frame " + std::to_string(good + 1) +
                     "; a commit that was being written is lost");
    }
    return std::nullopt;
  }

  const std::string path_;
  const Fd file_;
  std::uint64_t offset_ = 0;
  std::size_t got_ = 0;  // by the last read
  Checksum sum_;
  std::array<std::uint32_t, 2> salts_{};
  std::vector<unsigned char> frame_;
};

}  // namespace

std::optional<Finding> examine_log(const std::string& database_path) {
  const std::string path = database_path + "-wal";
  const auto there = stat_file(path);
  if (!there || !*there) return std::nullopt;
  auto file = open_file(path, O_RDONLY);
  if (!file) return std::nullopt;
  return Log(path, std::move(*file)).examine();
}

}  // namespace skein::sqlite
