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

}  // namespace
}  // namespace skein::test
