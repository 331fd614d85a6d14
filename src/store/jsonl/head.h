// Line 1 of a thread file: the manifest, and spaces after it so that most changes of it fit in
// place. Ours ends in "rev" (the version) and "crc" and at least two spaces; other programs write
// no spaces.
#pragma once

#include <cstdint>
#include <string>

#include "skein/error.h"
#include "skein/thread.h"
#include "store/jsonl/line_walker.h"

namespace skein::jsonl {

struct Head {
  enum class State {
    kVerified,
    kForeign,  // another program wrote it
    kDamaged,  // ours and not as it was written, or not a manifest at all
  };
  State state = State::kDamaged;
  std::string problem;  // kDamaged: what is wrong
  // All but last_seq; updated_at is that of line 1, and agent_id is empty where another program
  // wrote none: the folder says whose the thread is.
  Manifest manifest;
  std::uint64_t width = 0;       // of the line, newline included: the events begin there
  bool newline_missing = false;  // it is all there is, and has no newline
  // The spaces or the newline are damaged: the byte there, and what belongs there.
  std::optional<std::uint64_t> stray_offset;
  char stray_wanted = ' ';
};

// The line for a manifest, newline included: `width` bytes, or as many as leave room to grow (0).
// Empty, if it does not fit.
std::string head_line(const Manifest& manifest, std::uint64_t width);

// Takes line 1 apart. `bytes` is the beginning of the file, up to line 1 at least.
Head parse_head(std::string_view bytes, ThreadId id);

// kIo only; what is wrong with the line itself is in the answer.
Result<Head> read_head(const ThreadFile& file, ThreadId id);

// The error for a thread whose line 1 is damaged.
Error damaged_head(ThreadId id, const Head& head);

}  // namespace skein::jsonl
