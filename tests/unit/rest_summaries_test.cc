// Summaries over /v1.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "support/http_server.h"

namespace skein::test {
namespace {

using testing::HasSubstr;
using testing::Not;

class RestSummaries : public testing::Test {
 protected:
  // With an engine whose program is not there.
  TestServer server_{{.config = R"({"agents":{"helper":{"engine":"claude-code",
      "options":{"program":"/nowhere/claude"}}}})"}};

  std::string thread_of(const std::string& agent) {
    const Answered made = server_.ask("POST", "/v1/threads", R"({"agentId":")" + agent + "\"}");
    EXPECT_EQ(made.status, 201) << made;
    const std::string path =
        "/v1/threads/" + std::string(made.json().at("threadId").as_string()) + "/";
    for (int i = 0; i < 6; ++i) {
      server_.ask("POST", path + "messages",
                  R"({"text":"We decided to use port )" + std::to_string(7000 + i) + ".\"}");
    }
    return path + "summaries";
  }
};

TEST_F(RestSummaries, AreExtractionsOfAThreadWhoseAgentHasNoEngine) {
  const Answered made = server_.ask("POST", thread_of("echo"), R"({"threshold":2,"keepRecent":1})");
  EXPECT_EQ(made.status, 200) << made;
  EXPECT_EQ(made.json().at_pointer("/summary/by").as_string(), "extraction");
  EXPECT_THAT(made.body, Not(HasSubstr("\"note\"")));
}

TEST_F(RestSummaries, SayWhyTheEngineDidNotWriteThem) {
  const Answered made =
      server_.ask("POST", thread_of("helper"), R"({"threshold":2,"keepRecent":1})");
  EXPECT_EQ(made.status, 200) << made;
  EXPECT_EQ(made.json().at_pointer("/summary/by").as_string(), "extraction");
  EXPECT_FALSE(made.json().at("note").as_string().empty());
}

TEST_F(RestSummaries, AskNoEngineWithExtract) {
  const Answered made =
      server_.ask("POST", thread_of("helper"), R"({"threshold":2,"keepRecent":1,"extract":true})");
  EXPECT_EQ(made.status, 200) << made;
  EXPECT_THAT(made.body, Not(HasSubstr("\"note\"")));
}

TEST_F(RestSummaries, OfAnEngineAreMadeOnceByTheirKey) {
  const std::string path = thread_of("helper");
  const auto ask = [&] {
    return HttpConnection(server_.port())
        .ask("POST", path, R"({"threshold":2,"keepRecent":1})", {{"Idempotency-Key", "once"}});
  };
  const Answered first = ask();
  const Answered again = ask();
  EXPECT_EQ(first.status, 200) << first;
  EXPECT_EQ(again.header("idempotent-replayed"), "true") << again;
  EXPECT_EQ(first.body, again.body);
}

TEST_F(RestSummaries, TellHowFarTheyAre) {
  const Answered idle = server_.ask("GET", thread_of("helper") + "/progress");
  EXPECT_EQ(idle.status, 200) << idle;
  EXPECT_FALSE(idle.json().at("underWay").as_bool());
}

}  // namespace
}  // namespace skein::test
