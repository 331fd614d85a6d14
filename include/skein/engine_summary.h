// Summaries that an engine writes.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include "skein/engine.h"
#include "skein/summary.h"

namespace skein {

struct SummaryProgress {
  std::uint64_t done = 0;  // events that the engine has read
  std::uint64_t total = 0;
};

struct EngineSummarizerOptions {
  std::shared_ptr<Engine> engine{};
  std::string model{};                   // empty: the engine's default
  Json options{};                        // for the engine: endpoint, key, program
  std::string folder{};                  // where an agent works
  std::uint64_t window_tokens = 32'000;  // what the engine is sent at once, o200k_base
  std::stop_token stop{};
  std::function<void(const SummaryProgress&)> progress{};  // first, and after each request
  // What each request cost, also one that failed or whose response is of no use. Not called where
  // the engine does not know.
  std::function<void(const EngineCost& cost)> on_cost{};
  // Why the summary is taken from the text itself instead.
  std::function<void(std::string_view why)> on_fallback{};
};

// A summary as a workspace makes it (skein/workspace.h).
struct SummaryOptions {
  SummarizeRequest request{};  // a summarizer in it writes the summary, and no engine is asked
  bool extract = false;        // from the text itself, whatever the agent has
  std::stop_token stop{};  // of an engine: then the call fails with kIo, and no event is written
  std::function<void(const SummaryProgress&)>
      progress{};  // of an engine; before it, and after each request
};

struct SummaryOutcome {
  std::optional<Summary> summary;  // nothing: there was nothing to do
  // Why the agent's engine did not make it; empty: it did, it has none, or it was not to.
  std::string note;
};

// Sends the parts to the engine, quoted and marked as data. What does not fit `window_tokens` goes
// in several requests, each with the summary so far. Where the engine fails, or its summary is of
// no use, extractive_summarizer() makes it. Stopped, it fails with kIo. For one summary at a time.
std::unique_ptr<Summarizer> make_engine_summarizer(EngineSummarizerOptions options);

}  // namespace skein
