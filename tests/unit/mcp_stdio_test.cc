#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <boost/json.hpp>
#include <thread>

#include "rpc/mcp_client.h"
#include "support/expect.h"

namespace skein::test {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;

// A client of tests/support/odd_mcp_server.py.
class Odd {
 public:
  explicit Odd(const std::vector<std::string>& modes = {}, McpOptions options = {})
      : client_(server(modes), with_log(std::move(options)), http_) {}

  McpClient& operator*() { return client_; }
  McpClient* operator->() { return &client_; }
  Result<McpToolResult> call(const std::string& tool, std::stop_token stop = {}) {
    return client_.call_tool({.tool = tool, .stop = std::move(stop)});
  }
  std::string text(const std::string& tool) { return must(call(tool)).text; }
  // What the server got so far.
  boost::json::array received() { return boost::json::parse(text("received")).as_array(); }

 private:
  static ToolServer server(const std::vector<std::string>& modes) {
    ToolServer server{.name = "odd",
                      .command = {"python3", SKEIN_SOURCE_DIR "/tests/support/odd_mcp_server.py"}};
    server.command.insert(server.command.end(), modes.begin(), modes.end());
    return server;
  }
  static McpOptions with_log(McpOptions options) {
    if (!options.log) options.log = [](std::string_view) {};
    return options;
  }

  HttpClient http_;
  McpClient client_;
};

std::vector<std::string> names(const std::vector<McpTool>& tools) {
  std::vector<std::string> names;
  for (const McpTool& tool : tools) names.push_back(tool.name);
  return names;
}

TEST(McpOverStdio, GivesAServerOnlyTheVariablesItsDefinitionNames) {
  ::setenv("OPENAI_API_KEY", "sk-of-the-user", 1);
  ::setenv("AWS_SECRET_ACCESS_KEY", "of-the-user", 1);
  ::setenv("LC_TIME", "C", 1);
  HttpClient http;
  ToolServer server{.name = "odd",
                    .command = {"python3", SKEIN_SOURCE_DIR "/tests/support/odd_mcp_server.py"},
                    .environment = {{"NAMED", "x"}, {"OPENAI_API_KEY", "sk-named"}}};
  McpOptions options;
  options.log = [](std::string_view) {};
  McpClient named(server, options, http);
  const std::string given = "\n" + must(named.call_tool({.tool = "environment"})).text + "\n";
  server.environment.clear();
  McpClient plain(server, options, http);
  const std::string usual = "\n" + must(plain.call_tool({.tool = "environment"})).text + "\n";
  ::unsetenv("OPENAI_API_KEY");
  ::unsetenv("AWS_SECRET_ACCESS_KEY");
  ::unsetenv("LC_TIME");
  EXPECT_THAT(given, AllOf(HasSubstr("\nNAMED\n"), HasSubstr("\nOPENAI_API_KEY\n")));
  for (const std::string& text : {given, usual}) {
    EXPECT_THAT(text, AllOf(HasSubstr("\nPATH\n"), HasSubstr("\nLC_TIME\n")));
    EXPECT_THAT(text, Not(HasSubstr("AWS_SECRET_ACCESS_KEY")));
  }
  EXPECT_THAT(usual, AllOf(Not(HasSubstr("OPENAI_API_KEY")), Not(HasSubstr("NAMED"))));
}

TEST(McpOverStdio, AgreesOnAnOlderVersionAndInitializes) {
  Odd odd;
  const auto received = odd.received();
  EXPECT_EQ(odd->version(), "2025-06-18");
  ASSERT_EQ(received.size(), 4U);
  EXPECT_EQ(received[0].at("method"), "server/discover");
  EXPECT_EQ(received[1].at("method"), "initialize");
  EXPECT_EQ(received[1].at_pointer("/params/protocolVersion"), "2025-11-25");
  EXPECT_FALSE(received[1].at("params").as_object().contains("_meta"));
  EXPECT_EQ(received[2].at("method"), "notifications/initialized");
  EXPECT_EQ(received[3].at("method"), "tools/call");
}

TEST(McpOverStdio, StartsAServerAgainThatEndsWhenItIsAskedForTheNewestVersion) {
  Odd odd({"exits-on-probe"});
  EXPECT_EQ(odd.text("twice"), "first");
}

TEST(McpOverStdio, GoesOnWithAServerThatIgnoresWhatItDoesNotKnow) {
  Odd odd({"silent-on-probe"}, {.probe = 50ms});
  EXPECT_EQ(odd.text("twice"), "first");
}

TEST(McpOverStdio, RefusesAVersionThatIsNotKnown) {
  Odd odd({"ancient"});
  EXPECT_TRUE(fails(odd->list_tools(), ErrorCode::kInvalid, {"odd", "initialize", "1999-01-01"}));
}

TEST(McpOverStdio, FollowsPagesButNotForEver) {
  Odd paged({"paged"});
  EXPECT_THAT(names(must(paged->list_tools())), ElementsAre("t0", "t1", "t2", "t3", "t4"));
  Odd endless({"endless-pages"});
  EXPECT_TRUE(fails(endless->list_tools(), ErrorCode::kInvalid, {"odd", "tools/list", "100"}));
}

TEST(McpOverStdio, KeepsAListUntilTheServerSaysThatItChanged) {
  Odd telling({"tells-changes"});
  must(telling->list_tools());
  must(telling->list_tools());
  EXPECT_EQ(telling.text("lists"), "1");
  EXPECT_EQ(telling.text("change"), "changed");
  must(telling->list_tools());
  EXPECT_EQ(telling.text("lists"), "2");
  Odd silent;
  must(silent->list_tools());
  must(silent->list_tools());
  EXPECT_EQ(silent.text("lists"), "2");
}

TEST(McpOverStdio, BearsGarbageAndAnswersThatNobodyWaitsFor) {
  Odd odd;
  EXPECT_EQ(odd.text("garbage"), "after garbage");
  EXPECT_EQ(odd.text("twice"), "first");
  EXPECT_EQ(odd.text("batch"), R"({"in": "array"})");
  EXPECT_EQ(odd.text("noisy"), "quiet");
  EXPECT_EQ(odd.text("twice"), "first");
}

TEST(McpOverStdio, NamesServerMethodAndReasonOfARefusal) {
  Odd odd;
  EXPECT_TRUE(fails(odd.call("refuse"), ErrorCode::kInvalid,
                    {"\"odd\"", "tools/call", "not like that", "-32602"}));
  EXPECT_TRUE(fails(odd.call("malformed"), ErrorCode::kInvalid, {"odd", "malformed"}));
  const McpToolResult failed = must(odd.call("error"));
  EXPECT_TRUE(failed.is_error);
  EXPECT_EQ(failed.text, "no");
}

TEST(McpOverStdio, RefusesAnAnswerBeyondTheLimitAndGoesOn) {
  Odd odd;
  EXPECT_TRUE(fails(odd.call("huge"), ErrorCode::kInvalid, {"16777216"}));
  EXPECT_EQ(odd.text("twice"), "first");
}

TEST(McpOverStdio, AnswersWhatTheServerAsks) {
  Odd odd({}, {.roots = {"/tmp/a b", "/srv/ü"}});
  const auto answers = boost::json::parse(odd.text("ask")).as_array();
  EXPECT_EQ(answers.at(0).at("result"), boost::json::object());
  EXPECT_EQ(answers.at(0).at("id"), "from-server-ping");
  EXPECT_EQ(boost::json::serialize(answers.at(1).at_pointer("/result/roots")),
            R"([{"uri":"file:///tmp/a%20b"},{"uri":"file:///srv/%C3%BC"}])");
  EXPECT_EQ(answers.at(2).at_pointer("/error/code"), -32601);
  EXPECT_EQ(answers.at(3).at_pointer("/result/action"), "decline");
  EXPECT_EQ(answers.at(4).at_pointer("/error/code"), -32601);
  EXPECT_EQ(odd.received()[1].at_pointer("/params/capabilities/roots"), boost::json::object());
}

TEST(McpOverStdio, GivesUpOnAToolThatDoesNotAnswerAndTellsTheServer) {
  Odd odd({}, {.idle = 1s});
  EXPECT_TRUE(fails(odd.call("silent"), ErrorCode::kBusy, {"odd", "tools/call", "in time"}));
  const auto received = odd.received();
  const auto& cancelled = received.at(received.size() - 2);
  EXPECT_EQ(cancelled.at("method"), "notifications/cancelled");
  EXPECT_EQ(cancelled.at_pointer("/params/requestId"), received.at(received.size() - 3).at("id"));
}

TEST(McpOverStdio, StopsACallAndTellsTheServer) {
  Odd odd;
  must(odd->list_tools());
  std::stop_source source;
  std::jthread stopper([&] { source.request_stop(); });
  EXPECT_TRUE(fails(odd.call("silent", source.get_token()), ErrorCode::kConflict, {"stopped"}));
  stopper.join();
  // Also when it had been stopped before.
  EXPECT_TRUE(fails(odd.call("silent", source.get_token()), ErrorCode::kConflict));
  const auto received = odd.received();
  EXPECT_EQ(received.at(received.size() - 2).at("method"), "notifications/cancelled");
}

TEST(McpOverStdio, TellsProgressOfACallToThatCallOnly) {
  Odd odd;
  std::vector<std::string> told;
  McpCall call{.tool = "progress"};
  call.on_progress = [&](const McpProgress& progress) {
    told.push_back(std::to_string(progress.progress) + "/" +
                   std::to_string(progress.total.value_or(0)) + progress.message);
  };
  EXPECT_EQ(must(odd->call_tool(call)).text, "done");
  EXPECT_THAT(told, ElementsAre("1.000000/2.000000", "1.500000/0.000000half"));
}

TEST(McpOverStdio, WaitsLongerForAToolThatMakesProgressButNotBeyondTheWholeTime) {
  Odd patient({}, {.idle = 700ms});
  EXPECT_EQ(must(patient.call("creeping")).text, "arrived");
  Odd hurried({}, {.idle = 700ms, .total = 400ms});
  EXPECT_TRUE(fails(hurried.call("creeping"), ErrorCode::kBusy));
}

TEST(McpOverStdio, SaysHowAServerEndedAndStartsItForTheNextCall) {
  Odd odd;
  const std::string first = odd.text("pid");
  EXPECT_TRUE(fails(odd.call("die"), ErrorCode::kIo,
                    {"odd", "tools/call", "exit code 3", "goodbye", "not known"}));
  const std::string second = odd.text("pid");
  EXPECT_NE(first, second);
  // One that dies between calls is not noticed at all.
  ASSERT_EQ(::kill(std::stoi(second), SIGKILL), 0);
  for (int i = 0; i < 1000 && ::kill(std::stoi(second), 0) == 0; ++i) {
    std::this_thread::sleep_for(5ms);
  }
  EXPECT_NE(odd.text("pid"), second);
}

TEST(McpOverStdio, LeavesNoServerBehind) {
  int pid = 0;
  {
    Odd odd;
    pid = std::stoi(odd.text("pid"));
    EXPECT_EQ(::kill(pid, 0), 0);
  }
  EXPECT_NE(::kill(pid, 0), 0);
}

TEST(McpOverStdio, NamesAProgramThatIsNotThereAndOneThatIsNoServer) {
  HttpClient http;
  McpClient missing({.name = "gone", .command = {"no-such-program-here"}}, {}, http);
  EXPECT_TRUE(fails(missing.list_tools(), ErrorCode::kNotFound, {"gone", "no-such-program-here"}));
  McpClient failing({.name = "failing", .command = {"sh", "-c", "echo why >&2; exit 9"}}, {}, http);
  EXPECT_TRUE(fails(failing.list_tools(), ErrorCode::kIo, {"failing", "exit code 9", "why"}));
  McpClient talkative({.name = "talk", .command = {"yes"}}, {.start = 300ms, .probe = 100ms}, http);
  EXPECT_TRUE(fails(talkative.list_tools(), ErrorCode::kBusy, {"talk", "initialize"}));
}

TEST(McpOverStdio, ServesManyThreadsAtOnceOverOneServer) {
  Odd odd;
  const std::string pid = odd.text("pid");
  std::vector<std::jthread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      for (int j = 0; j < 25; ++j) EXPECT_EQ(odd.text("pid"), pid);
    });
  }
}

}  // namespace
}  // namespace skein::test
