// The end of a thread file, found without reading the rest, and the way to any position in it.
#pragma once

#include "skein/clock.h"
#include "store/jsonl/line_walker.h"

namespace skein::jsonl {

struct Tail {
  Seq last_seq = 0;
  Timestamp last_time;     // of the last readable event
  std::uint64_t size = 0;  // of the file, when it was looked at
  FileEnd end;
};

// Goes back from the end to the last line that says its own position, and counts on from there.
// `events_begin` is the width of line 1.
Result<Tail> read_tail(const ThreadFile& file, std::uint64_t events_begin, std::uint64_t size);

// Reads on from a tail that was known, up to the new size.
Result<Tail> extend_tail(const ThreadFile& file, const Tail& known, std::uint64_t size);

// A place at or before `seq` to begin a walk, as near as verified lines allow; `near` is one that
// is known.
Result<Mark> find_mark(const ThreadFile& file, Mark near, Seq seq, std::uint64_t size);

}  // namespace skein::jsonl
