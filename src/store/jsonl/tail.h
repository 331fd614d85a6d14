// The end of a thread file, found without reading the rest, and the way to any position in it.
#pragma once

#include <optional>

#include "skein/clock.h"
#include "skein/store.h"
#include "store/jsonl/line_walker.h"

namespace skein::jsonl {

struct Tail {
  Seq last_seq = 0;
  Seq last_claim = kLastSeq;  // the position of last_mark, by read_tail; kLastSeq: there is none
  Timestamp last_time;        // of the last readable event
  std::uint64_t size = 0;     // of the file, when it was looked at
  FileEnd end;
};

// The last line between the offsets that says its own position, and may have it. Nothing: there is
// none in the last 16 MB.
Result<std::optional<Mark>> last_mark(const ThreadFile& file, std::uint64_t begin,
                                      std::uint64_t end);

// Goes back from the end to the last line that says its own position, and counts on from there.
// `events_begin` is the width of line 1.
Result<Tail> read_tail(const ThreadFile& file, std::uint64_t events_begin, std::uint64_t size);

// Reads on from a tail that was known, up to the new size.
Result<Tail> extend_tail(const ThreadFile& file, const Tail& known, std::uint64_t size);

// A place at or before `seq` to begin a walk, as near as verified lines allow; `near` is one that
// is known.
Result<Mark> find_mark(const ThreadFile& file, Mark near, Seq seq, std::uint64_t size);

}  // namespace skein::jsonl
