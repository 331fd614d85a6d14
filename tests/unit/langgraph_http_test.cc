// What the SDK's own tests do not try: callers who may not, and callers who mean harm.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "support/http_server.h"

namespace skein::test {
namespace {

using http::Access;
using testing::HasSubstr;

constexpr const char* kConfig = R"({"agents":{"other":{"engine":"echo"}},"defaultAgent":"echo"})";

class LangGraphHttp : public testing::Test {
 protected:
  LangGraphHttp() : server_({.config = kConfig}) {}

  std::string make_thread(const std::string& agent, const std::string& key = {}) {
    const Answered made = server_.ask(
        "POST", "/threads", R"({"metadata":{"graph_id":")" + agent + R"(","tag":"it's"}})", key);
    EXPECT_EQ(made.status, 200) << made;
    return std::string(made.json().at("thread_id").as_string());
  }
  int count(const std::string& key = {}) {
    return server_.ask("POST", "/threads/count", "{}", key).json().to_number<int>();
  }

  TestServer server_;
};

TEST_F(LangGraphHttp, AKeySeesTheThreadsOfItsAgentsOnly) {
  const std::string admin = server_.make_key(Access::kAdmin);
  const std::string bound = server_.make_key(Access::kWrite, {"echo"});
  const std::string mine = make_thread("echo", admin);
  const std::string theirs = make_thread("other", admin);
  EXPECT_EQ(count(admin), 2);
  EXPECT_EQ(count(bound), 1);
  const boost::json::value found = server_.ask("POST", "/threads/search", "{}", bound).json();
  ASSERT_EQ(found.as_array().size(), 1U);
  EXPECT_EQ(found.at(0).at("thread_id").as_string(), mine);
  const auto by_id =
      server_.ask("POST", "/threads/search", R"({"ids":[")" + theirs + R"("]})", bound);
  EXPECT_EQ(by_id.body, "[]");
  const auto by_graph =
      server_.ask("POST", "/threads/search", R"({"metadata":{"graph_id":"other"}})", bound);
  EXPECT_EQ(by_graph.body, "[]");
  const std::string run = R"({"assistant_id":"echo","input":{"messages":"x"}})";
  for (const std::string& path : {"/runs/wait", "/runs", "/runs/stream"}) {
    EXPECT_EQ(server_.ask("POST", "/threads/" + theirs + path, run, bound).status, 404) << path;
  }
  EXPECT_EQ(server_
                .ask("POST", "/threads/" + mine + "/runs/wait",
                     R"({"assistant_id":"other","input":{"messages":"x"}})", bound)
                .status,
            404);
  const std::string command =
      R"({"id":1,"method":"run.start","params":{"assistant_id":"echo","input":{"messages":"x"}}})";
  EXPECT_EQ(server_.ask("POST", "/threads/" + theirs + "/commands", command, bound).status, 404);
  EXPECT_EQ(server_.ask("GET", "/threads/" + theirs, "", admin).json().at("status").as_string(),
            "idle");
  EXPECT_EQ(server_.ask("GET", "/assistants/other", "", bound).status, 404);
}

TEST_F(LangGraphHttp, WhatBelongsToNoAgentNeedsAKeyForAll) {
  const std::string bound = server_.make_key(Access::kWrite, {"echo"});
  const std::string all = server_.make_key(Access::kWrite);
  const std::string item = R"({"namespace":["a"],"key":"k","value":{"x":1}})";
  EXPECT_EQ(server_.ask("PUT", "/store/items", item, bound).status, 403);
  EXPECT_EQ(server_.ask("PUT", "/store/items", item, all).status, 204);
  EXPECT_EQ(server_.ask("GET", "/store/items?namespace=a&key=k", "", bound).status, 403);
  EXPECT_EQ(server_.ask("POST", "/saver/list", "{}", bound).status, 403);
  EXPECT_EQ(server_.ask("POST", "/saver/list", "{}", all).body, "[]");
}

TEST_F(LangGraphHttp, HostileFiltersMatchNothingOrAreRefused) {
  make_thread("echo");
  const auto search = [&](const std::string& filter) {
    return server_.ask("POST", "/threads/search", R"({"metadata":)" + filter + "}");
  };
  EXPECT_EQ(search(R"({"tag":"it's"})").json().as_array().size(), 1U);
  for (const char* filter :
       {R"({"tag' OR '1'='1":"x"})", R"({"$.tag":"it's"})", R"({"tag":{"$ne":"x"}})",
        R"({"tag":null})", R"({"tag":["it's"]})", R"({"":"it's"})", R"({"tag\u0000":"it's"})",
        R"({"tag":"it's","nothing":{}})", R"({"graph_id":"' OR 1=1"})", R"({"graph_id":7})"}) {
    const Answered found = search(filter);
    if (found.status == 200) {
      EXPECT_EQ(found.body, "[]") << filter;
    } else {
      EXPECT_EQ(found.status, 400) << filter << found;
    }
  }
  for (const char* body : {R"({"limit":0})", R"({"limit":1001})", R"({"offset":-1})",
                           R"({"status":"all"})", R"({"sort_by":"1; DROP"})", "[]", "{"}) {
    EXPECT_EQ(server_.ask("POST", "/threads/search", body).status, 400) << body;
  }
}

TEST_F(LangGraphHttp, CheckpointsThatAreNoneAreRefused) {
  const std::string mine = make_thread("echo");
  for (const char* checkpoint :
       {"x", "00000000-0000-6000-8000-ffffffffffff", "1f1e1aad-67bb-6f00-8001-272f2bc4f372"}) {
    const int status = server_.ask("GET", "/threads/" + mine + "/state/" + checkpoint).status;
    EXPECT_TRUE(status == 400 || status == 404) << checkpoint << " " << status;
  }
  const Answered wrong = server_.ask("POST", "/threads/" + mine + "/state",
                                     R"({"values":{"messages":[{"type":"alien"}]}})");
  EXPECT_EQ(wrong.status, 400);
  EXPECT_THAT(wrong.body, HasSubstr("alien"));
}

TEST_F(LangGraphHttp, AThreadTakesTheAgentOfItsFirstRun) {
  const Answered made = server_.ask("POST", "/threads", "{}");
  const std::string id(made.json().at("thread_id").as_string());
  const auto run = [&](const std::string& agent) {
    return server_.ask("POST", "/threads/" + id + "/runs/wait",
                       R"({"assistant_id":")" + agent + R"(","input":{"messages":"hi"}})");
  };
  EXPECT_EQ(run("other").status, 200);
  const auto thread = server_.ask("GET", "/threads/" + id).json();
  EXPECT_EQ(thread.at("metadata").at("graph_id").as_string(), "other");
  EXPECT_EQ(thread.at("values").at("messages").as_array().size(), 2U);
  EXPECT_EQ(run("echo").status, 409);
  EXPECT_EQ(count(), 1);
}

TEST_F(LangGraphHttp, AThreadOfAnAgentThatIsNotThereIsFreeForTheAgentOfItsFirstRun) {
  TestServer server({.config = R"({"agents":{"other":{"engine":"echo"}}})"});
  const std::string values = R"({"values":{"messages":"written"}})";
  const std::string run = R"({"assistant_id":"other","input":{"messages":"hi"}})";
  ASSERT_EQ(server.ask("GET", "/assistants/default").status, 404);
  const Answered made = server.ask("POST", "/threads", "{}");
  const std::string path = "/threads/" + std::string(made.json().at("thread_id").as_string());
  const Answered refused = server.ask("POST", path + "/state", values);
  EXPECT_EQ(refused.status, 400) << refused;
  EXPECT_THAT(refused.body, HasSubstr("graph_id"));
  EXPECT_THAT(refused.body, HasSubstr("default"));
  EXPECT_EQ(server.ask("POST", path + "/runs/wait", run).status, 200);
  EXPECT_EQ(server.ask("POST", path + "/state", values).status, 200);
  const Answered steps =
      server.ask("POST", "/threads", R"({"supersteps":[{"updates":[)" + values + "]}]}");
  EXPECT_EQ(steps.status, 400) << steps;
  EXPECT_THAT(steps.body, HasSubstr("graph_id"));
  EXPECT_EQ(server.ask("POST", "/threads/count", "{}").body, "1");
}

TEST_F(LangGraphHttp, AThreadThatWasWrittenIntoKeepsItsAgentAndSaysSo) {
  const Answered made = server_.ask("POST", "/threads", "{}");
  const std::string path = "/threads/" + std::string(made.json().at("thread_id").as_string());
  EXPECT_EQ(server_.ask("POST", path + "/state", R"({"values":{"messages":"written"}})").status,
            200);
  const Answered refused = server_.ask("POST", path + "/runs/wait",
                                       R"({"assistant_id":"other","input":{"messages":"hi"}})");
  EXPECT_EQ(refused.status, 409) << refused;
  for (const char* part : {"echo", "other", "first run", "graph_id"}) {
    EXPECT_THAT(refused.body, HasSubstr(part));
  }
}

TEST_F(LangGraphHttp, ThreadsOfRunsWithoutAThreadGo) {
  const std::string body = R"({"assistant_id":"echo","input":{"messages":"alone"}})";
  for (int i = 0; i < 3; ++i) {
    const Answered done = server_.ask("POST", "/runs/wait", body);
    EXPECT_EQ(done.status, 200) << done;
    // Those whose answers were given go with the next request.
    EXPECT_LE(count(), 1);
  }
}

}  // namespace
}  // namespace skein::test
