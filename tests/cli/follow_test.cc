#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>

#include "program.h"

namespace skein::test {
namespace {

using testing::HasSubstr;

class Following : public OnEveryBackend {};

INSTANTIATE_ON_EVERY_BACKEND(Following);

TEST_P(Following, ShowsWhatIsThereAndThenWhatOtherProcessesAppend) {
  const std::string id = workspace_.create({"--message", "before"});
  const std::string other = workspace_.create();
  Running follow = workspace_.start({"thread", "events", id, "--follow", "--jsonl"});
  EXPECT_THAT(follow.read_line().value_or(""), HasSubstr("before"));
  workspace_.append(other, "not for us");
  for (const std::string text : {"one", "two", "three"}) {
    workspace_.append(id, text);
    EXPECT_THAT(follow.read_line().value_or(""), HasSubstr("\"" + text + "\""));
  }
  follow.signal(SIGINT);
  const Ran ended = follow.finish();
  EXPECT_EQ(ended.code, 0) << ended;
  EXPECT_EQ(ended.out, "");
}

TEST_P(Following, BeginsAfterAPositionAndEndsAtALimit) {
  const std::string id = workspace_.create({"--message", "one", "--message", "two"});
  Running follow = workspace_.start(
      {"thread", "events", id, "--follow", "--jsonl", "--since", "1", "--limit", "2"});
  EXPECT_THAT(follow.read_line().value_or(""), HasSubstr("two"));
  workspace_.append(id, "three");
  EXPECT_THAT(follow.read_line().value_or(""), HasSubstr("three"));
  EXPECT_EQ(follow.finish().code, 0);
}

TEST_P(Following, EndsWhenTheThreadIsDeleted) {
  const std::string id = workspace_.create({"--message", "one"});
  Running follow = workspace_.start({"thread", "events", id, "--follow", "--jsonl"});
  EXPECT_TRUE(follow.read_line().has_value());
  EXPECT_EQ(workspace_.run({"thread", "delete", id, "--yes"}).code, 0);
  const Ran ended = follow.finish();
  EXPECT_EQ(ended.code, 0) << ended;
  EXPECT_THAT(ended.err, HasSubstr("deleted"));
}

TEST_P(Following, RefusesWhatDoesNotGoTogetherWithIt) {
  const std::string id = workspace_.create();
  EXPECT_EQ(workspace_.run({"thread", "events", id, "--follow", "--json"}).code, 2);
  EXPECT_EQ(workspace_.run({"thread", "events", id, "--follow", "--reverse"}).code, 2);
}

}  // namespace
}  // namespace skein::test
