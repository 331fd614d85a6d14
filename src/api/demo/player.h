// Plays runs that are written down: an engine that says its lines, and tools that give back theirs.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <vector>

#include "api/demo/stories.h"
#include "skein/clock.h"
#include "skein/ids.h"
#include "skein/runner.h"

namespace skein {

// A clock that only moves when it is told to, and never beyond its end. Thread-safe.
class DemoClock final : public Clock {
 public:
  explicit DemoClock(Timestamp end) : end_ms_(end.ms()) {}

  // Never backwards.
  std::int64_t end_ms() const { return end_ms_; }
  void move_to(std::int64_t ms);
  void advance(std::int64_t ms);

  Timestamp now() override { return Timestamp::from_ms(now_ms_); }
  std::int64_t boot_ms() override { return now_ms_; }
  std::string boot_id() override { return "demo"; }

 private:
  const std::int64_t end_ms_;
  std::mutex mutex_;  // whoever moves it
  std::atomic<std::int64_t> now_ms_{0};
};

// Thread-safe.
class DemoIds final : public IdSource {
 public:
  explicit DemoIds(std::uint64_t seed) : chance_(seed) {}
  std::uint64_t next() override {
    const std::lock_guard lock(mutex_);
    return chance_.next();
  }

 private:
  std::mutex mutex_;
  DemoChance chance_;  // under mutex_
};

struct ModelPrice {
  double input = 0, output = 0, cached = 0;  // dollars for a million tokens
};

// What one run does.
struct DemoRun {
  struct Call {
    std::string name;
    Json input;
    std::string result;
  };
  struct Turn {
    std::string narration;
    std::vector<Call> calls;
  };
  enum class End { kAnswer, kStop, kFailure, kQuestion };

  std::string model;
  std::vector<Turn> turns;  // those that call tools
  End end = End::kAnswer;
  std::string last;  // the answer, what was said before the stop, or the error
};

// Runs agents by the book: each call of play() is one run of one agent. Time passes on the clock as
// it would have, and tokens are counted as they are. Used by one thread; what the runner asks of it
// may come from others, one at a time.
class DemoPlayer final : public AgentSource {
 public:
  DemoPlayer(DemoClock& clock, std::uint64_t seed);
  ~DemoPlayer() override;

  void set_price(const std::string& model, ModelPrice price) { prices_[model] = price; }
  void set_prompt(const std::string& agent, std::string prompt) {
    prompts_[agent] = std::move(prompt);
  }

  // The run as it ended. A failure or a stop that was to be is none here.
  Result<Run> play(Runner& runner, const RunRequest& request, DemoRun run);

  Result<void> check(std::string_view agent_id) override;
  Result<PreparedAgent> prepare(const RunScope& scope) override;

 private:
  class Speaker;
  class Box;

  EngineUsage usage_of(const EngineRequest& request, const EngineTurn& turn);

  DemoClock& clock_;
  DemoChance chance_;
  std::map<std::string, ModelPrice> prices_;
  std::map<std::string, std::string, std::less<>> prompts_;
  std::map<ThreadId, std::int64_t> cached_;  // tokens that a provider would remember
  std::shared_ptr<Speaker> speaker_;

  // Of the run that is being played:
  DemoRun run_;
  std::size_t next_turn_ = 0;
  std::int64_t tool_ms_ = 0;  // that each call of this turn takes
  ThreadId thread_;
  std::stop_source stop_;
};

}  // namespace skein
