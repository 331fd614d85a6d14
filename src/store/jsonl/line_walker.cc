#include "store/jsonl/line_walker.h"

#include <algorithm>

#include "core/json.h"
#include "core/try.h"
#include "store/jsonl/line.h"
#include "store/jsonl/tail.h"

namespace skein::jsonl {
namespace {

constexpr std::size_t kPadding = JsonObjectReader::kPadding;
constexpr std::size_t kLongestRun = 10'000;

bool is_json_object(std::string_view text) {
  const auto first = text.find_first_not_of(" \t");
  return first != std::string_view::npos && text[first] == '{' &&
         validate_json(text, "").has_value();
}

void classify(std::string_view text, Line& line) {
  line.text = text;
  line.claimed = 0;
  switch (check_frame(text)) {
    case Frame::kVerified:
      line.claimed = line_seq(text).value_or(0);
      line.kind = line.claimed != 0 ? Line::Kind::kVerified : Line::Kind::kForeign;
      return;
    case Frame::kDamaged:
      line.kind = Line::Kind::kDamaged;
      line.reason = "checksum mismatch";
      return;
    case Frame::kNone:
      line.kind = validate_json(text, "") ? Line::Kind::kForeign : Line::Kind::kDamaged;
      line.reason = line.kind == Line::Kind::kDamaged ? "not JSON" : "";
  }
}

}  // namespace

LineWalker::LineWalker(const ThreadFile& file, Mark from, std::uint64_t end,
                       std::optional<Seq> last_claim)
    : file_(file),
      reader_(file.fd, file.path, from.offset, end),
      from_(from),
      end_(end),
      last_claim_(last_claim),
      next_seq_(from.seq) {
  file_end_.lines_end = from.offset;
}

Result<bool> LineWalker::next_physical(Line& line) {
  LineReader::Raw raw;
  while (true) {
    SKEIN_ASSIGN(const bool more, reader_.next(raw));
    if (!more) return take_rest(line);
    line.offset = raw.offset;
    const std::string_view text = without_cr(raw.text);
    if (raw.overlong) {
      line.kind = Line::Kind::kDamaged;
      line.reason = "longer than any event may be";
      line.text = {};
    } else if (is_blank(text)) {
      file_end_.lines_end = reader_.offset();
      continue;
    } else {
      classify(text, line);
    }
    if (line.kind == Line::Kind::kDamaged) {
      if (const std::size_t whole = verified_prefix(text); whole > 0) {
        classify(text.substr(0, whole), line);
        reader_.cut(whole);
      }
    }
    file_end_.lines_end = reader_.offset();
    return true;
  }
}

// What follows the last newline: a line that lacks its newline, or the torn rest of one.
bool LineWalker::take_rest(Line& line) {
  const std::string_view text = reader_.rest();
  line.offset = reader_.offset();
  if (line.offset != file_end_.lines_end) {  // the reader passed over a line without an end
    file_end_.torn_bytes = line.offset + text.size() - file_end_.lines_end;
    return false;
  }
  if (is_blank(text)) {
    file_end_.newline_missing = file_end_.newline_missing || !text.empty();
    file_end_.lines_end += text.size();
    reader_.take_rest(text.size());
    return false;
  }
  if (check_frame(without_cr(text)) == Frame::kVerified || is_json_object(text)) {
    classify(without_cr(text), line);
    reader_.take_rest(text.size());
    file_end_.newline_missing = true;
  } else if (const std::size_t whole = verified_prefix(text); whole > 0) {
    classify(text.substr(0, whole), line);
    reader_.take_rest(whole + 1);
    file_end_.newline_damaged = whole + 1 == text.size();
  } else {
    file_end_.torn_bytes = text.size();
    reader_.take_rest(text.size());
    return false;
  }
  file_end_.lines_end = reader_.offset();
  return true;
}

// Whether the line may have the position that it says. Reads must not go beyond what a tail gives,
// which is what the last line says.
Result<bool> LineWalker::believes(const Line& line) {
  if (line.claimed <= next_seq_ + damaged_.size()) return true;
  if (!may_be_at(line.claimed, line.offset)) return false;
  if (!last_claim_) {
    SKEIN_ASSIGN(const auto last, last_mark(file_, from_.offset, end_));
    last_claim_ = last ? last->seq : kLastSeq;
  }
  return line.claimed <= *last_claim_;
}

void LineWalker::hold(const Line& line) {
  Held held;
  held.offset = line.offset;
  held.length = line.text.size();
  held.claimed = line.claimed;
  held.reason = line.claimed == 0 ? line.reason : "has a position that it cannot have";
  damaged_.push_back(held);
}

// Gives the run of damaged lines its positions, now that it is known what follows it.
void LineWalker::settle(const Line* good) {
  const Seq claimed = good == nullptr ? 0 : good->claimed;
  const bool bounded = claimed >= next_seq_;
  const Seq room = bounded ? claimed - next_seq_ : damaged_.size();
  for (std::size_t i = 0; i < damaged_.size(); ++i) {
    Held& held = damaged_[i];
    if (i < room) {
      held.first = held.last = next_seq_++;
      ready_.push_back(held);
    } else if (held.claimed != 0 && left_out_++ == 0) {
      left_out_claim_ = held.claimed;
    }
  }
  damaged_.clear();
  if (bounded && claimed > next_seq_) {
    Held missing;
    missing.kind = Line::Kind::kMissing;
    missing.first = next_seq_;
    missing.last = claimed - 1;
    missing.offset = good->offset;
    missing.reason = "missing from the file";
    ready_.push_back(missing);
    next_seq_ = claimed;
  }
}

Result<bool> LineWalker::deliver_held(Line& line) {
  Held& held = ready_.front();
  if (held.kind == Line::Kind::kMissing) {
    held.first = std::clamp(wanted_, held.first, held.last);
  }
  line.kind = held.kind;
  line.seq = held.first;
  line.offset = held.offset;
  line.reason = held.reason;
  line.claimed = held.claimed;
  line.text = {};
  if (held.length > 0 && held.kind == Line::Kind::kDamaged) {
    scratch_.resize(held.length + kPadding);
    SKEIN_ASSIGN(const auto got,
                 read_at(file_.fd, file_.path, held.offset, scratch_.data(), held.length));
    line.text = std::string_view(scratch_).substr(0, got);
  }
  if (held.first == held.last) {
    ready_.pop_front();
  } else {
    ++held.first;
  }
  at_mark_ = false;
  return true;
}

Result<bool> LineWalker::next(Line& line) {
  while (true) {
    if (!ready_.empty()) return deliver_held(line);
    if (good_) {
      line = *good_;
      good_.reset();
      line.seq = next_seq_++;
      at_mark_ = true;
      return true;
    }
    if (ended_) return false;
    Line physical;
    SKEIN_ASSIGN(const bool more, next_physical(physical));
    if (!more) {
      ended_ = true;
      settle(nullptr);
      continue;
    }
    SKEIN_ASSIGN(const bool believed, believes(physical));
    if (physical.kind == Line::Kind::kDamaged || !believed) {
      hold(physical);
      if (damaged_.size() >= kLongestRun) settle(nullptr);
      continue;
    }
    settle(&physical);
    good_ = physical;
  }
}

}  // namespace skein::jsonl
