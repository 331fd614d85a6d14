// Runs of all policies at once, on two runners that share a store: whatever order chance makes of
// them, what they leave behind fits together.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <random>
#include <set>
#include <thread>

#include "core/pause.h"
#include "skein/runner.h"
#include "support/builders.h"
#include "support/expect.h"
#include "support/runs.h"

namespace skein::test {
namespace {

using namespace std::chrono_literals;

constexpr int kRunners = 2;
constexpr int kCallers = 4;
constexpr int kRunsOfACaller = 6;

// What becomes of a run follows from its text.
Result<EngineTurn> behave(const EngineRequest& request, EngineSink& sink,
                          const std::stop_token& stop) {
  const std::string text = request.messages.empty() ? "" : request.messages.back().text;
  for (char step : text) {
    if (step == 'f') return fail(ErrorCode::kIo, "told to fail");
    if (step == 'n' && !sink.on_narration("thinking")) return fail(ErrorCode::kIo, "stopped");
    if (step == 'w') pause_for(3ms, stop);
    if (step == 's') pause_for(30ms, stop);
    if (stop.stop_requested()) return fail(ErrorCode::kIo, "stopped");
  }
  return says("done");
}

class Interleaving {
 public:
  explicit Interleaving(std::uint64_t seed) : seed_(seed) {
    agents_.set("agent",
                {.run =
                     [this](const EngineRequest& request, EngineSink& sink, std::stop_token stop) {
                       EXPECT_EQ(++at_work_, 1) << "two runs at once on one thread";
                       auto turn = behave(request, sink, stop);
                       --at_work_;
                       return turn;
                     },
                 .is_agent = true});
    RunnerOptions options;
    options.look_up = 2ms;
    for (int i = 0; i < kRunners; ++i) {
      runners_.push_back(std::make_unique<Runner>(*store_, agents_, options));
    }
  }

  void run() {
    thread_ = create_thread(*store_).id;
    std::vector<std::jthread> callers;
    for (int i = 0; i < kCallers; ++i) {
      callers.emplace_back([this, i] { call(seed_ * 100 + static_cast<std::uint64_t>(i)); });
    }
  }

  void check() {
    for (const auto& runner : runners_) runner->finish_effects();
    runs_ = must(runners_[0]->list({.thread = thread_, .limit = 1000}));
    log_ = read_all(*store_, thread_);
    for (const skein::Run& run : runs_) check_run(run);
    check_order();
    check_path();
    for (const Record& left : scan_all(*store_, "runs_open")) ADD_FAILURE() << left.bytes;
  }

 private:
  void call(std::uint64_t seed) {
    std::mt19937_64 random(seed);
    Runner& runner = *runners_[random() % kRunners];
    constexpr Multitask kPolicies[] = {Multitask::kEnqueue, Multitask::kEnqueue, Multitask::kReject,
                                       Multitask::kInterrupt, Multitask::kRollback};
    for (int i = 0; i < kRunsOfACaller; ++i) {
      std::string text = "x";
      for (std::size_t step = random() % 6; step > 0; --step) text += "nwsxf"[random() % 5];
      RunRequest request = run_request("agent", thread_.str(), text);
      request.multitask = kPolicies[random() % std::size(kPolicies)];
      if (random() % 8 == 0) request.input.messages.clear();
      if (random() % 3 == 0) {
        const auto started = runner.start(request);
        if (started && random() % 2 == 0) must(runners_[random() % kRunners]->cancel(started->id));
        if (started && random() % 2 == 0) must(runner.wait(started->id));
      } else {
        (void)runner.execute(request);
      }
    }
    // Those that were only started end before anybody looks.
    for (const skein::Run& run : must(runner.list({.thread = thread_, .limit = 1000}))) {
      must(runner.wait(run.id));
    }
  }

  std::vector<const Event*> events_of(const skein::Run& run) const {
    std::vector<const Event*> events;
    for (const Event& event : log_) {
      if (metadata_of(event, "runId") == run.id) events.push_back(&event);
    }
    return events;
  }

  void check_run(const skein::Run& run) {
    EXPECT_TRUE(run.ended()) << to_json(run);
    const auto events = events_of(run);
    if (events.empty()) {
      EXPECT_EQ(run.status, RunStatus::kInterrupted) << to_json(run);
      return;
    }
    EXPECT_EQ(run.first_seq, events.front()->seq) << to_json(run);
    EXPECT_EQ(run.last_seq, events.back()->seq);
    const std::string last = gist(*events.back());
    switch (run.status) {
      case RunStatus::kSuccess:
        EXPECT_EQ(last, "assistant: done");
        break;
      case RunStatus::kError:
        EXPECT_EQ(last, "assistant: (error: told to fail)");
        break;
      default:
        EXPECT_EQ(last, "assistant: (stopped by user)") << to_json(run);
    }
  }

  // Between the first and the last event of a run there is nothing of another.
  void check_order() {
    std::set<std::string> over;
    std::string current;
    for (const Event& event : log_) {
      const std::string run = metadata_of(event, "runId");
      if (run == current || run.empty()) continue;  // one that goes back belongs to no run
      EXPECT_FALSE(over.contains(run)) << "seq " << event.seq;
      over.insert(current);
      current = run;
    }
  }

  void check_path() {
    ReadRange range;
    range.view = View::kPath;
    std::set<Seq> path;
    for (const Event& event : read_all(*store_, thread_, range)) path.insert(event.seq);
    for (const skein::Run& run : runs_) {
      for (const Event* event : events_of(run)) {
        EXPECT_EQ(path.contains(event->seq), !run.rolled_back)
            << to_string(run.status) << " seq " << event->seq;
      }
    }
  }

  const std::uint64_t seed_;
  std::unique_ptr<Store> store_ = must(open_store("memory:"));
  ScriptedAgents agents_;
  std::atomic<int> at_work_{0};
  std::vector<std::unique_ptr<Runner>> runners_;
  ThreadId thread_;
  std::vector<skein::Run> runs_;
  std::vector<Event> log_;
};

TEST(RunInterleavings, OfAllPoliciesLeaveAThreadThatFitsTogether) {
  for (std::uint64_t seed = 1; seed <= 40 && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Interleaving interleaving(seed);
    interleaving.run();
    interleaving.check();
  }
}

}  // namespace
}  // namespace skein::test
