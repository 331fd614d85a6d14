// What runs cost that did not end well, on every backend.
#include "contract/run_fixture.h"
#include "skein/usage.h"

namespace skein::test {
namespace {

class RunUsage : public RunContract {
 protected:
  static EngineUsage usage_of(std::int64_t turns) {
    EngineUsage usage;
    usage.input_tokens = 10;
    usage.output_tokens = 7;
    usage.cost_usd = 0.25;
    usage.turns = turns;
    return usage;
  }

  const ThreadId thread_ = thread_of();
};
INSTANTIATE_TEST_SUITE_P(, RunUsage, testing::ValuesIn(backend_names()), backend_of);

TEST_P(RunUsage, OfAFailedRunIsRecorded) {
  agents_.set("agent", {.run = [](const EngineRequest&, EngineSink& sink,
                                  const std::stop_token&) -> Result<EngineTurn> {
                          sink.on_spent(usage_of(3), "model-1");
                          return fail(ErrorCode::kIo, "claude: error_max_turns");
                        },
                        .is_agent = true});
  EXPECT_TRUE(fails(run(thread_, "hello"), ErrorCode::kIo, {"error_max_turns"}));
  const skein::Run run = must(runner().list({.thread = thread_})).at(0);
  EXPECT_EQ(run.status, RunStatus::kError);
  EXPECT_EQ(run.usage.input_tokens, 10);
  EXPECT_EQ(run.usage.turns, 3);
  EXPECT_EQ(run.model, "model-1");
  const UsageReport report = must(usage_report(store(), {}));
  EXPECT_EQ(report.all.runs, 1U);
  EXPECT_EQ(report.all.output_tokens, 7);
  EXPECT_EQ(report.all.cost_usd, 0.25);
}

TEST_P(RunUsage, OfAnAttemptThatFailedIsAddedToThatOfTheOneThatDidNot) {
  agents_.set("agent", {.run = [](const EngineRequest&, EngineSink& sink,
                                  const std::stop_token&) -> Result<EngineTurn> {
                          sink.on_spent(usage_of(1), "model-1");
                          EngineTurn turn = says("Fine.");
                          turn.usage = usage_of(2);
                          return turn;
                        },
                        .is_agent = true});
  const skein::Run run = must(this->run(thread_, "hello")).run;
  EXPECT_EQ(run.usage.input_tokens, 20);
  EXPECT_EQ(run.usage.cost_usd, 0.5);
  EXPECT_EQ(run.usage.turns, 3);
}

TEST_P(RunUsage, OfATitleIsRecordedAndIsNoRun) {
  agents_.set("agent", {.run = [](const EngineRequest& request, EngineSink&,
                                  const std::stop_token&) -> Result<EngineTurn> {
                          EngineTurn turn = says("A title of words");
                          turn.model = request.model;
                          turn.usage = request.model == "fast" ? usage_of(1) : EngineUsage{};
                          return turn;
                        },
                        .fast_model = "fast"});
  must(run(thread_, "hello"));
  must(run(thread_, "hello again"));
  runner().finish_effects();
  EXPECT_EQ(get_thread(store(), thread_).title, "A title of words");
  const UsageReport report = must(usage_report(store(), {.by = UsageBy::kModel}));
  const auto row = std::find_if(report.rows.begin(), report.rows.end(),
                                [](const UsageRow& one) { return one.name == "fast"; });
  ASSERT_NE(row, report.rows.end());
  EXPECT_EQ(row->totals.cost_usd, 0.25);
  EXPECT_EQ(row->totals.runs, 0U);
  EXPECT_EQ(must(usage_report(store(), {.by = UsageBy::kThread})).rows.at(0).name, thread_.str());
}

}  // namespace
}  // namespace skein::test
