// Walks over the lines of a thread file from a known place on, and gives each its position.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/file.h"
#include "skein/error.h"
#include "skein/ids.h"
#include "store/jsonl/line_reader.h"

namespace skein::jsonl {

// The file of a thread as it was opened; `path` may lead to another file by now.
struct ThreadFile {
  Fd fd;
  std::string path;
  std::uint64_t inode = 0;
};

// The line at `offset` has the position `seq`.
struct Mark {
  Seq seq = 1;
  std::uint64_t offset = 0;
};

struct Line {
  enum class Kind {
    kVerified,  // ours, checksum compared
    kForeign,   // another program's: valid JSON, without our checksum
    kDamaged,   // not what was written, or not JSON
    kMissing,   // positions that the lines around say there were; no bytes
  };
  Kind kind = Kind::kVerified;
  Seq seq = 0;
  std::uint64_t offset = 0;
  // Without its end; JsonObjectReader::kPadding readable bytes follow. Lives until the next call.
  std::string_view text;
  const char* reason = "";  // kDamaged and kMissing
  Seq claimed = 0;          // the position that a verified line says it has
  // Whether that could not be followed: something was put in before it.
  bool misplaced() const { return claimed != 0 && claimed != seq; }
};

// Where a file ends.
struct FileEnd {
  std::uint64_t lines_end = 0;   // after the last complete line, its newline included if it has one
  bool newline_missing = false;  // that line is complete but for its newline
  bool newline_damaged = false;  // the byte before lines_end should be a newline
  std::uint64_t torn_bytes = 0;  // bytes after lines_end that are not a line
};

// How positions come about: a verified line says its own; what lies between two of those is counted
// on from the first, where damaged lines share what room there is, and room that is left over is
// missing events. A verified line that says a position beyond what its file can have, or beyond the
// one that the last line says, is damage: it gets no other position. Blank lines do not count. Not
// thread-safe; borrows the file.
class LineWalker {
 public:
  // Reads up to `end`, which is the size of the file when it was looked at. `last_claim`: what a
  // tail of that size has; without it, the walk reads it when it first needs it.
  LineWalker(const ThreadFile& file, Mark from, std::uint64_t end,
             std::optional<Seq> last_claim = std::nullopt);

  // From here on, next() skips missing events before `seq`, except the last of each gap.
  void skip_missing_before(Seq seq) { wanted_ = seq; }

  // False: the end; then `file_end` is known.
  Result<bool> next(Line& line);
  const FileEnd& file_end() const { return file_end_; }
  // The position after the last line; known at the end.
  Seq next_seq() const { return next_seq_; }
  // Whether a walk could begin anew at the line that next() gave: nothing before it is undecided.
  bool at_mark() const { return at_mark_; }
  // Verified lines that have no room where they stand, and what the first of them claims.
  std::uint64_t left_out() const { return left_out_; }
  Seq left_out_claim() const { return left_out_claim_; }

 private:
  struct Held {
    Line::Kind kind = Line::Kind::kDamaged;
    Seq first = 0;
    Seq last = 0;
    std::uint64_t offset = 0;
    std::uint64_t length = 0;
    const char* reason = "";
    Seq claimed = 0;
  };

  // One line as it lies in the file, blank ones left out.
  Result<bool> next_physical(Line& line);
  bool take_rest(Line& line);
  Result<bool> deliver_held(Line& line);
  Result<bool> believes(const Line& line);
  void hold(const Line& line);
  void settle(const Line* good);

  const ThreadFile& file_;
  LineReader reader_;
  const Mark from_;
  const std::uint64_t end_;
  std::optional<Seq> last_claim_;
  Seq wanted_ = 0;
  std::uint64_t left_out_ = 0;
  Seq left_out_claim_ = 0;
  Seq next_seq_;
  FileEnd file_end_;

  // A run of damaged lines, and of lines that are not believed, whose positions the next good line
  // decides.
  std::vector<Held> damaged_;
  std::deque<Held> ready_;  // decided, to be delivered before good_
  std::optional<Line> good_;
  bool ended_ = false;
  bool at_mark_ = true;
  std::string scratch_;
};

}  // namespace skein::jsonl
