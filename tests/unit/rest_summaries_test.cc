// Summaries over /v1.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <boost/json.hpp>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>

#include "support/http_server.h"
#include "support/temp_dir.h"

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

// --- By an engine that a test holds where it wants ---

class RestSummariesOfAnEngine : public testing::Test {
 protected:
  static constexpr int kMessages = 6;

  RestSummariesOfAnEngine() {
    for (const char* name : {"began", "go_on"}) {
      if (::mkfifo(path(name).c_str(), 0600) != 0) ADD_FAILURE() << "mkfifo " << name;
    }
    write_engine(R"(echo '{"type":"result","subtype":"success","result":"Ports were chosen."}')");
    server_ = std::make_unique<TestServer>(
        TestServer::Setup{.named_config = R"({"agents":{"helper":{"engine":"claude-code",
            "options":{"program":")" + path("engine.sh") +
                                          R"("},"context":{"maxTokens":1000}}}})"});
    const Answered made = server_->ask("POST", "/v1/threads", R"({"agentId":"helper"})");
    EXPECT_EQ(made.status, 201) << made;
    thread_ = "/v1/threads/" + std::string(made.json().at("threadId").as_string());
    // Each is as long as one request may be.
    std::string text;
    for (int i = 0; i < 60; ++i)
      text += "We decided to use port " + std::to_string(7000 + i) + ". ";
    for (int i = 0; i < kMessages; ++i) {
      server_->ask("POST", thread_ + "/messages", R"({"text":")" + text + "\"}");
    }
  }

  std::string path(const std::string& name) const { return (folder_.path() / name).string(); }
  void write_engine(const std::string& script) const {
    std::ofstream(path("engine.sh"))
        << "#!/bin/sh\ncd '" << folder_.path().string() << "'\ncat > /dev/null\n"
        << script << "\n";
    std::filesystem::permissions(path("engine.sh"), std::filesystem::perms::owner_all);
  }
  // Until the engine has written into it.
  std::string wait_for_engine() const {
    std::string line;
    std::ifstream began(path("began"));
    std::getline(began, line);
    return line;
  }
  boost::json::value progress() const {
    const Answered now = server_->ask("GET", thread_ + "/summaries/progress");
    EXPECT_EQ(now.status, 200) << now;
    return now.json();
  }
  void send_request(HttpConnection& connection) const {
    connection.send_request("POST", thread_ + "/summaries",
                            R"({"threshold":2,"keepRecent":1,"maxTokens":100})");
  }
  std::int64_t last_seq() const {
    return server_->ask("GET", thread_).json().at("lastSeq").to_number<std::int64_t>();
  }

  TempDir folder_;
  std::unique_ptr<TestServer> server_;
  std::string thread_;
};

TEST_F(RestSummariesOfAnEngine, TellHowFarTheyAreBetweenTwoRequests) {
  write_engine(
      "echo x >> calls\n"
      "if [ $(wc -l < calls) = 2 ]; then echo second > began; read line < go_on; fi\n"
      R"(echo '{"type":"result","subtype":"success","result":"Ports were chosen."}')");
  HttpConnection connection(server_->port());
  send_request(connection);
  EXPECT_EQ(wait_for_engine(), "second");
  const auto held = progress();
  EXPECT_TRUE(held.at("underWay").as_bool()) << held;
  EXPECT_EQ(held.at("done").as_int64(), 1) << held;
  EXPECT_EQ(held.at("total").as_int64(), kMessages - 1) << held;
  std::ofstream(path("go_on")) << "go on" << std::endl;
  const Answered made = connection.read_answer();
  EXPECT_EQ(made.status, 200) << made;
  EXPECT_EQ(made.json().at_pointer("/summary/by").as_string(), "engine");
  EXPECT_FALSE(progress().at("underWay").as_bool());
}

TEST_F(RestSummariesOfAnEngine, StopWhenTheClientGoesAway) {
  write_engine("echo first > began\nexec sleep 1000");
  {
    HttpConnection connection(server_->port());
    send_request(connection);
    EXPECT_EQ(wait_for_engine(), "first");
    EXPECT_TRUE(progress().at("underWay").as_bool());
  }
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  while (progress().at("underWay").as_bool()) {
    ASSERT_LT(std::chrono::steady_clock::now(), deadline) << "the engine goes on";
  }
  EXPECT_EQ(last_seq(), kMessages);
}

TEST_F(RestSummariesOfAnEngine, AreMadeOneAtATimeOfAThread) {
  write_engine("echo first > began\nexec sleep 1000");
  HttpConnection connection(server_->port());
  send_request(connection);
  EXPECT_EQ(wait_for_engine(), "first");
  HttpConnection another(server_->port());
  send_request(another);
  const Answered refused = another.read_answer();
  EXPECT_EQ(refused.status, 409) << refused;
}

}  // namespace
}  // namespace skein::test
