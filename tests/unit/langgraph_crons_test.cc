// Crons of the LangGraph face: what they carry into the runs that they start.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "skein/triggers.h"
#include "support/expect.h"
#include "support/http_server.h"
#include "support/manual_clock.h"

namespace skein::test {
namespace {

using testing::HasSubstr;

class LangGraphCrons : public testing::Test {
 protected:
  Answered create(const std::string& more) {
    return server_.ask(
        "POST", "/runs/crons",
        R"({"assistant_id":"echo","schedule":"* * * * *","input":{"messages":"hi"},)" + more + "}");
  }

  TestServer server_;
};

TEST_F(LangGraphCrons, CarryWhatTheyAreGivenIntoTheirRuns) {
  const Answered made = create(R"("config":{"tags":["nightly"]},"context":{"user":"ada"},)"
                               R"("multitask_strategy":"interrupt","stream_mode":["updates"])");
  ASSERT_EQ(made.status, 200) << made;
  const auto payload = made.json().at("payload");
  EXPECT_EQ(payload.at("config").at("tags").at(0).as_string(), "nightly");
  EXPECT_EQ(payload.at("context").at("user").as_string(), "ada");
  EXPECT_EQ(payload.at("multitask_strategy").as_string(), "interrupt");
  const auto found = server_.ask("POST", "/runs/crons/search", "{}").json();
  EXPECT_EQ(found.at(0).at("payload"), payload);

  std::optional<RunRequest> started;
  ManualClock clock;
  clock.set_wall_by(
      std::chrono::milliseconds(server_.service().clock().now().ms() - clock.now().ms() + 60'000));
  SchedulerOptions options;
  options.clock = &clock;
  Scheduler scheduler(
      server_.store(),
      [&](const RunRequest& request) {
        started = request;
        return server_.service().runner().start(request);
      },
      options);
  must(scheduler.tick());
  ASSERT_TRUE(started);
  const auto runs = must(server_.service().runner().list({.agent_id = "echo"}));
  ASSERT_EQ(runs.size(), 1U);
  const auto run =
      server_.ask("GET", "/threads/" + runs[0].thread.uuid() + "/runs/" + runs[0].id).json();
  EXPECT_EQ(run.at("multitask_strategy").as_string(), "interrupt");
  EXPECT_EQ(run.at("kwargs").at("config"), payload.at("config"));
  EXPECT_EQ(run.at("kwargs").at("context"), payload.at("context"));
  EXPECT_EQ(run.at("kwargs").at("stream_mode").at(0).as_string(), "updates");
}

TEST_F(LangGraphCrons, OfNonsenseAreRefused) {
  for (const auto& [more, status, field] : std::vector<std::tuple<std::string, int, std::string>>{
           {R"("config":7)", 400, "config"},
           {R"("context":[])", 400, "context"},
           {R"("multitask_strategy":"whatever")", 400, "multitask_strategy"},
           {R"("stream_mode":"nonsense")", 400, "stream_mode"}}) {
    const Answered refused = create(more);
    EXPECT_EQ(refused.status, status) << more << refused;
    EXPECT_THAT(refused.body, HasSubstr(field));
  }
  EXPECT_EQ(server_.ask("POST", "/runs/crons/count", "{}").body, "0");
}

TEST_F(LangGraphCrons, AreChangedDisabledAndFoundByThat) {
  const auto made = create(R"("timezone":null)").json();
  EXPECT_EQ(made.at("timezone").as_string(), "UTC");
  const std::string path = "/runs/crons/" + std::string(made.at("cron_id").as_string());
  const Answered changed =
      server_.ask("PATCH", path,
                  R"({"schedule":"0 9 * * *","timezone":"Europe/Berlin","input":{"messages":"ho"},)"
                  R"("enabled":false})");
  ASSERT_EQ(changed.status, 200) << changed;
  EXPECT_EQ(changed.json().at("schedule").as_string(), "0 9 * * *");
  EXPECT_EQ(changed.json().at("timezone").as_string(), "Europe/Berlin");
  EXPECT_EQ(changed.json().at("enabled"), false);
  EXPECT_TRUE(changed.json().at("next_run_date").is_null());
  EXPECT_EQ(server_.ask("POST", "/runs/crons/count", R"({"enabled":false})").body, "1");
  EXPECT_EQ(server_.ask("POST", "/runs/crons/count", R"({"enabled":true})").body, "0");
  EXPECT_EQ(server_.ask("PATCH", path, R"({"enabled":true})").json().at("enabled"), true);
  const Answered refused = server_.ask("PATCH", path, R"({"webhook":"http://x"})");
  EXPECT_EQ(refused.status, 422);
  EXPECT_THAT(refused.body, HasSubstr("webhook"));
  EXPECT_EQ(server_.ask("PATCH", path, R"({"input":{"messages":" "}})").status, 400);
  EXPECT_EQ(create(R"("enabled":false)").json().at("enabled"), false);
}

TEST_F(LangGraphCrons, WithoutAPromptAreRefused) {
  const Answered refused =
      server_.ask("POST", "/runs/crons",
                  R"({"assistant_id":"echo","schedule":"* * * * *","input":{"messages":""}})");
  EXPECT_EQ(refused.status, 400) << refused;
}

}  // namespace
}  // namespace skein::test
