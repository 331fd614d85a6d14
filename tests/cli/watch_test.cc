#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json/parse.hpp>

#include <csignal>
#include <sstream>
#include <thread>

#include "program.h"

namespace skein::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

class Watching : public OnEveryBackend {
 protected:
  static std::string word(const boost::json::value& line, const char* name) {
    return std::string(line.at(name).as_string());
  }
};

INSTANTIATE_ON_EVERY_BACKEND(Watching);

TEST_P(Watching, TellsWhatOtherProcessesDoAsItHappens) {
  const std::string before = workspace_.create();
  Running watch = workspace_.start({"watch", "--json", "--since", ""});
  EXPECT_THAT(watch.read_line().value_or(""), HasSubstr(before));
  const std::string id = workspace_.create({"--agent", "support", "--title", "Refund"});
  EXPECT_THAT(watch.read_line().value_or(""),
              StartsWith(R"({"event":"thread:created","threadId":")" + id +
                         R"(","agentId":"support","thread":{)"));
  workspace_.append(id, "hello");
  EXPECT_THAT(watch.read_line().value_or(""),
              testing::AllOf(StartsWith(R"({"event":"thread:message","threadId":")" + id),
                             HasSubstr(R"("id":")" + id + "-1\""), HasSubstr(R"("hello")")));
  EXPECT_EQ(workspace_.run({"thread", "close", id, "--summary", "done"}).code, 0);
  EXPECT_THAT(watch.read_line().value_or(""), HasSubstr("thread:updated"));
  EXPECT_THAT(watch.read_line().value_or(""), HasSubstr("thread:closed"));
  EXPECT_EQ(workspace_.run({"thread", "delete", id, "--yes"}).code, 0);
  EXPECT_THAT(watch.read_line().value_or(""), HasSubstr("thread:deleted"));
  watch.signal(SIGTERM);
  const Ran ended = watch.finish();
  EXPECT_EQ(ended.code, 0) << ended;
}

TEST_P(Watching, BeginsWithWhatHappensFromNowOnAndKeepsToItsFilter) {
  const std::string old = workspace_.create({"--message", "old"});
  const std::string other = workspace_.create();
  Running watch = workspace_.start(
      {"watch", "--thread", old, "--event", "thread:message", "--event", "thread:closed"});
  // There is no sign of its having begun but what it tells: so it is told until it hears.
  std::jthread speaker([&](const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      workspace_.append(other, "not for us");
      workspace_.append(old, "new");
    }
  });
  const std::string line = watch.read_line().value_or("");
  EXPECT_THAT(line, testing::AllOf(HasSubstr("thread:message"), HasSubstr(old), HasSubstr("new")));
  speaker.request_stop();
  speaker.join();
  watch.signal(SIGINT);
  EXPECT_EQ(watch.finish().code, 0);
}

TEST_P(Watching, EndsWhenNobodyReadsAnyMore) {
  const std::string id = workspace_.create();
  const std::string command = skein_program() + " watch --since '' --json | head -n 1 > first.txt";
  ASSERT_EQ(workspace_.run({"thread", "append", id, "--text", "x"}).code, 0);
  std::jthread speaker([&](const std::stop_token& stop) {
    while (!stop.stop_requested()) workspace_.append(id, "more");
  });
  const Ran shell = workspace_.shell(command);
  EXPECT_EQ(shell.code, 0) << shell;
  EXPECT_THAT(workspace_.read("first.txt"), HasSubstr("thread:created"));
}

TEST_P(Watching, RefusesWhatMakesNoSense) {
  workspace_.create();
  EXPECT_EQ(workspace_.run({"watch", "--since", "nonsense"}).code, 1);
  EXPECT_EQ(workspace_.run({"watch", "--event", "thread:nothing"}).code, 2);
  EXPECT_EQ(workspace_.run({"watch", "--limit", "0"}).code, 2);
  EXPECT_EQ(workspace_.run({"watch", "--thread", "../x"}).code, 2);
}

// What a watcher saw before it was killed: its complete lines, of which the last has the cursor.
TEST_P(Watching, MissesNothingAndRepeatsNothingThoughItIsKilledThreeTimes) {
  constexpr int kMessages = 10'000;
  const std::string id = workspace_.create();
  std::ostringstream lines;
  for (int i = 0; i < kMessages; ++i) lines << R"({"role":"user","text":")" << i << "\"}\n";
  std::jthread writer([&] {
    const Ran ran = workspace_.run({"thread", "append", id, "--jsonl"}, lines.str());
    EXPECT_EQ(ran.code, 0) << ran.err;
  });

  std::vector<boost::json::value> seen;
  std::string cursor;
  const auto take = [&](const std::string& line) {
    seen.push_back(boost::json::parse(line));
    cursor = word(seen.back(), "cursor");
  };
  for (int life = 1; life <= 4; ++life) {
    Running watch =
        workspace_.start({"watch", "--json", "--event", "thread:message", "--since", cursor});
    const std::size_t enough = life == 4 ? kMessages : seen.size() + 900;
    while (seen.size() < enough) {
      const auto line = watch.read_line();
      ASSERT_TRUE(line.has_value());
      take(*line);
    }
    watch.signal(SIGKILL);
    std::istringstream rest(watch.finish().out);
    for (std::string line; std::getline(rest, line) && !rest.eof();) take(line);
  }
  ASSERT_EQ(seen.size(), static_cast<std::size_t>(kMessages));
  for (int i = 0; i < kMessages; ++i) {
    const auto& line = seen[static_cast<std::size_t>(i)];
    ASSERT_EQ(word(line, "id"), id + "-" + std::to_string(i + 1));
    ASSERT_EQ(word(line.at("message"), "text"), std::to_string(i));
  }
}

}  // namespace
}  // namespace skein::test
