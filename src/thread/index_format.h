// What is kept beside a thread so that a context needs not read all of it, as stored text.
// docs/formats.md describes it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "skein/store.h"
#include "skein/summary.h"
#include "store/checks.h"
#include "thread/event_kind.h"

namespace skein {

inline constexpr std::size_t kChunkEvents = 4096;  // events of one chunk

struct IndexedEvent {
  EventKind kind = EventKind::kUnreadable;
  bool estimated = false;
  std::uint32_t tokens = 0;
};

// Sums over the events of one chunk.
struct ChunkTotals {
  std::uint64_t tokens = 0;
  Seq newest_user = 0;  // the last user message in it; 0: none
  bool estimated = false;
};

struct SummaryMark {
  Seq seq = 0;
  std::vector<SeqRange> covers;
};

struct UndoMark {
  Seq seq = 0;
  Seq summary = 0;
};

struct IndexHead {
  Version generation = 0;      // tells the chunks of this index from those of an older one
  Version thread_version = 0;  // of the manifest when the index was written
  std::string cursor;          // of the change feed, from before the events were read
  Seq events = 0;              // 1 … events are indexed
  std::vector<Branch> branches;
  std::vector<Seq> system;  // system messages, summaries aside
  std::vector<Seq> decisions;
  std::vector<Seq> unreadable;
  std::vector<SummaryMark> summaries;
  std::vector<UndoMark> undos;
  std::vector<ChunkTotals> chunks;
};

std::string format_head(const IndexHead& head);
// Nothing for text of another format, and for what no thread can have; the index is derived, and
// made anew then.
std::optional<IndexHead> parse_head(std::string_view text);

// "u12a40t~1600": kind and tokens of one event after the other, "~" before what is estimated.
std::string format_chunk(std::span<const IndexedEvent> events);
std::optional<std::vector<IndexedEvent>> parse_chunk(std::string_view text);

}  // namespace skein
