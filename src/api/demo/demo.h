// A workspace to look around in: conversations of several agents, work items, sessions, checkpoints
// and a small git repository, as if three weeks of work had happened.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "api/settings.h"
#include "skein/clock.h"

namespace skein {

struct DemoOptions {
  std::uint64_t seed = 1;
  Timestamp now;  // when the three weeks end; unset: now
  std::function<void(std::uint64_t done, std::uint64_t total)> progress{};
};

struct DemoSummary {
  std::size_t threads = 0;
  std::size_t runs = 0;
  std::size_t open_items = 0;
  std::size_t resolved_items = 0;
  std::size_t checkpoints = 0;
  std::size_t commits = 0;
  double cost_usd = 0;
  std::string long_thread;    // with tool calls, a pinned message and a summary
  std::string forked_thread;  // with a fork
  std::string waiting_run;    // that waits for a person's yes
};

// Fills the workspace of the settings and their store, both of which must be empty; kConflict
// otherwise, and nothing happened. The same seed and time give the same ids, texts and
// times. What fails in the middle leaves what there is so far.
Result<DemoSummary> make_demo(const Settings& settings, const DemoOptions& options);

}  // namespace skein
