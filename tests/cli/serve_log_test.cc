// What a running server writes on standard error.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json/parse.hpp>
#include <fstream>
#include <sstream>

#include "serving.h"

namespace skein::test {
namespace {

using testing::HasSubstr;
using testing::Not;

std::vector<boost::json::object> log_lines(const Ran& ran) {
  std::vector<boost::json::object> lines;
  std::istringstream text(ran.err);
  for (std::string line; std::getline(text, line);) {
    boost::system::error_code error;
    const auto value = boost::json::parse(line, error);
    const bool is_object = !error && value.is_object();
    EXPECT_TRUE(is_object) << line;
    if (!is_object) continue;
    EXPECT_TRUE(value.as_object().contains("at")) << line;
    lines.push_back(value.as_object());
  }
  return lines;
}

// The statuses that were logged for a request.
std::vector<std::int64_t> statuses(const std::vector<boost::json::object>& lines,
                                   const std::string& request) {
  std::vector<std::int64_t> found;
  for (const auto& line : lines) {
    const auto* id = line.if_contains("request");
    if (id != nullptr && id->as_string() == request) found.push_back(line.at("status").as_int64());
  }
  return found;
}

class ServeLog : public testing::Test {
 protected:
  ServeLog() { workspace_.write("config.json", R"({"server":{"logRequests":true}})"); }

  std::vector<std::string> with_config() const {
    return {"--config", (workspace_.path() / "config.json").string()};
  }

  const Workspace workspace_{"jsonl"};
};

TEST_F(ServeLog, HasALineWithTheIdOfEveryRequestAndNothingOfWhatItSaid) {
  const std::string key = workspace_.run({"key", "create", "--access", "admin"}).out_line();
  Serving server(workspace_, with_config());
  const std::string wrong = key.substr(0, 19) + std::string(key.size() - 19, 'z');
  const std::vector<Answered> answers = {
      server.ask("POST", "/v1/threads?dryRun=amethyst", R"({"title":"tourmaline"})", key),
      server.ask("POST", "/v1/threads", R"({"agentId":"mine","title":"tourmaline"})", key),
      server.ask("POST", "/v1/threads", R"({"title":"tourmaline",)", key),
      server.ask("GET", "/v1/search?q=amethyst&by=words", {}, key),
      server.ask("GET", "/v1/nowhere?amethyst", {}, key),
      server.ask("GET", "/metrics", {}, wrong),
      HttpConnection(server.port())
          .ask("GET", "/metrics?amethyst", {},
               {{"Authorization", "Bearer " + key}, {"X-Request-Id", "mine-1"}}),
  };
  HttpConnection malformed(server.port());
  malformed.send("GET /?amethyst HTTP/1.1\r\nHost: localhost\r\nbad header\r\n\r\n");
  const Answered refused = malformed.read_answer();
  EXPECT_EQ(refused.status, 400) << refused;
  const Ran ran = server.stop();
  const auto lines = log_lines(ran);
  EXPECT_EQ(answers.back().header("x-request-id"), "mine-1");
  for (const Answered& answer : answers) {
    EXPECT_THAT(statuses(lines, answer.header("x-request-id")), testing::ElementsAre(answer.status))
        << answer;
  }
  EXPECT_THAT(statuses(lines, std::string(refused.json().at("instance").as_string())),
              testing::ElementsAre(400));
  for (const std::string& secret :
       {key.substr(19), wrong.substr(19), std::string("tourmaline"), std::string("amethyst")}) {
    EXPECT_THAT(ran.err, Not(HasSubstr(secret)));
  }
}

TEST_F(ServeLog, SaysInJsonWhatTheStoreFound) {
  const std::string thread = workspace_.create({"--agent", "helper"});
  workspace_.append(thread, "whole");
  std::ofstream(workspace_.path() / "store" / "helper" / "threads" / (thread + ".jsonl"),
                std::ios::app)
      << R"({"type":"message","role":"us)";
  Serving server(workspace_, with_config());
  const std::string target = "/v1/threads/" + thread + "/messages";
  EXPECT_EQ(server.ask("POST", target, R"({"text":"more"})").status, 201);
  bool repaired = false;
  for (const auto& line : log_lines(server.stop())) {
    const auto* place = line.if_contains("thread");
    if (place == nullptr || !line.contains("repaired")) continue;
    repaired = true;
    EXPECT_EQ(place->as_string(), thread);
    EXPECT_THAT(std::string(line.at("message").as_string()), HasSubstr("torn last line"));
  }
  EXPECT_TRUE(repaired);
}

}  // namespace
}  // namespace skein::test
