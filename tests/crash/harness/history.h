// List-append histories: what clients did to a few threads, and whether that can be explained by
// one order of events that everybody saw.
//
// Each client writes a line for every operation that is over, in one system call:
//
//   append THREAD VALUE BEGIN END SEQ    acknowledged with that seq; 0: whether it happened is not
//                                        known
//   read THREAD BEGIN END VALUE,VALUE…   "-" when there was nothing
//   fed THREAD SEQ                       in the order of the change feed
//   followed BEGIN                       its own writers were done by then, and there was no more
//
// Times are of CLOCK_MONOTONIC, in nanoseconds, which all processes of a machine share.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "skein/store.h"

namespace skein::crash {

struct History {
  struct Append {
    std::string thread;
    std::string value;
    std::int64_t begin = 0;
    std::int64_t end = 0;
    Seq seq = 0;
  };
  struct Read {
    std::string thread;
    std::int64_t begin = 0;
    std::int64_t end = 0;
    std::vector<std::string> values;
  };
  std::vector<Append> appends;
  std::vector<Read> reads;
  // What each follower of the feed was told of each thread; one map for each client.
  std::vector<std::map<std::string, std::vector<Seq>>> fed;
  // When the last look of each of them began; 0: it did not come to the end.
  std::vector<std::int64_t> followed;

  // Adds what one client wrote. A last line without an end is left out.
  Result<void> add(std::string_view text);

  std::uint64_t acknowledged() const;
  // The longest time in which nothing was acknowledged, between the first and the last, in ns.
  std::int64_t longest_gap() const;
};

// The values of each thread, in order, as they are in the end.
using FinalLists = std::map<std::string, std::vector<std::string>>;
Result<FinalLists> read_lists(Store& store, const std::vector<std::string>& threads);

// What cannot be explained, in words: lost, duplicated, moved, reordered or invented values, stale
// reads, gaps and repetitions in the feed. `all_fed`: whether followers were to see everything.
std::vector<std::string> find_anomalies(const History& history, const FinalLists& lists,
                                        bool all_fed);

std::int64_t monotonic_ns();

}  // namespace skein::crash
