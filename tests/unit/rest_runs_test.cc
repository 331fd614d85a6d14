// Runs over /v1.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "support/http_server.h"

namespace skein::test {
namespace {

using testing::HasSubstr;

TEST(RestRuns, AnAnswerIsForTheQuestionThatItsCallerSaw) {
  TestServer server({.config = R"({"agents":{"asker":{"engine":"echo","capabilities":{
      "builtin":["work_items"],"confirm":["list_work_items"]}}}})"});
  const Answered asked = server.ask("POST", "/v1/runs?wait=true",
                                    R"({"agentId":"asker","text":"/again list_work_items {}"})");
  ASSERT_EQ(asked.status, 200) << asked;
  const std::string run = "/v1/runs/" + std::string(asked.json().at("runId").as_string());
  const auto answer = [&](int resumed) {
    return server.ask("POST", run + "/answer",
                      R"({"yes":true,"resumed":)" + std::to_string(resumed) + "}");
  };
  EXPECT_EQ(answer(0).status, 202);
  EXPECT_EQ(server.ask("GET", run + "/wait").json().at("run").at("resumed").as_int64(), 1);
  const Answered late = answer(0);
  EXPECT_EQ(late.status, 409);
  EXPECT_THAT(late.body, HasSubstr("asks another one"));
  EXPECT_EQ(answer(1).status, 202);
  EXPECT_EQ(server.ask("POST", run + "/answer", R"({"yes":true,"resumed":-1})").status, 400);
}

TEST(RestRuns, ThatAreAskedForAgainSaySoAlsoToWhoeverWaits) {
  TestServer server({.config = R"({"defaultAgent":"echo"})"});
  const auto ask = [&] {
    return HttpConnection(server.port())
        .ask("POST", "/v1/runs?wait=true", R"({"text":"hello"})", {{"Idempotency-Key", "once"}});
  };
  const Answered first = ask();
  const Answered again = ask();
  EXPECT_EQ(first.header("idempotent-replayed"), "");
  EXPECT_EQ(again.header("idempotent-replayed"), "true");
  EXPECT_EQ(first.body, again.body);
}

TEST(RestRuns, AnAgentCompletesTheTaskThatItWorksOn) {
  TestServer server({.config = R"({"agents":{"writer":{"engine":"echo","capabilities":{
      "builtin":["tasks"]}}}})"});
  const Answered made =
      server.ask("POST", "/v1/tasks", R"({"agentId":"writer","text":"/tool complete_task {}"})");
  ASSERT_EQ(made.status, 201) << made;
  const std::string task = "/v1/tasks/" + std::string(made.json().at("id").as_string());
  const Answered started = server.ask("POST", task + "/runs", "{}");
  ASSERT_EQ(started.status, 202) << started;
  const std::string run = "/v1/runs/" + std::string(started.json().at("runId").as_string());
  EXPECT_EQ(server.ask("GET", run + "/wait").json().at("status").as_string(), "success");
  EXPECT_EQ(server.ask("GET", task).json().at("status").as_string(), "done");
  EXPECT_EQ(server.ask("POST", task + "/runs", "{}").status, 409);
}

TEST(RestRuns, TasksAndTriggersAreChanged) {
  TestServer server(
      {.config = R"({"agents":{"mine":{"engine":"echo"},"other":{"engine":"echo"}}})"});
  const Answered made = server.ask(
      "POST", "/v1/tasks", R"({"agentId":"mine","text":"Do it","steps":[{"title":"Read"}]})");
  const std::string id(made.json().at("id").as_string());
  const Answered part = server.ask("POST", "/v1/tasks",
                                   R"({"agentId":"mine","text":"Part",)"
                                   R"("parentTaskId":")" +
                                       id + R"(","parentStep":1})");
  ASSERT_EQ(part.status, 201) << part;
  const Answered changed =
      server.ask("PATCH", "/v1/tasks/" + id,
                 R"({"owner":"other","steps":[{"title":"Read","done":true,"taskId":"task-x"}]})");
  ASSERT_EQ(changed.status, 200) << changed;
  EXPECT_EQ(changed.json().at("agentId").as_string(), "other");
  EXPECT_EQ(changed.json().at("steps").at(0).at("taskId"), part.json().at("id"))
      << "links are not the caller's to make";
  EXPECT_EQ(server.ask("POST", "/v1/tasks/" + id + "/cancel").status, 200);
  EXPECT_EQ(server.ask("GET", "/v1/tasks?state=open").json().at("tasks").as_array().size(), 0U);
  EXPECT_EQ(server.ask("GET", "/v1/tasks?state=ended").json().at("tasks").as_array().size(), 2U);
  EXPECT_EQ(server.ask("GET", "/v1/tasks?state=odd").status, 400);

  const Answered blank =
      server.ask("POST", "/v1/triggers", R"({"agentId":"mine","cron":"@daily","text":" "})");
  EXPECT_EQ(blank.status, 400) << blank;
  const Answered added =
      server.ask("POST", "/v1/triggers", R"({"agentId":"mine","cron":"@daily","text":"Hi"})");
  ASSERT_EQ(added.status, 201) << added;
  const std::string trigger = "/v1/triggers/" + std::string(added.json().at("id").as_string());
  const Answered off = server.ask("PATCH", trigger, R"({"enabled":false,"zone":"Europe/Berlin"})");
  ASSERT_EQ(off.status, 200) << off;
  EXPECT_EQ(off.json().at("enabled"), false);
  EXPECT_EQ(off.json().at("zone").as_string(), "Europe/Berlin");
  EXPECT_EQ(server.ask("PATCH", trigger, R"({"text":""})").status, 400);
}

}  // namespace
}  // namespace skein::test
