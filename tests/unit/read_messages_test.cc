#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/backend.h"
#include "support/builders.h"
#include "support/expect.h"
#include "thread/path.h"

namespace skein::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class ReadMessages : public testing::Test {
 protected:
  std::vector<std::string> read(const MessageQuery& query) {
    std::vector<std::string> texts;
    must(read_messages(store_, thread_, query, [&texts](Event& event) {
      texts.push_back(text_of(event));
      return true;
    }));
    return texts;
  }

  Backend backend_{"memory"};
  Store& store_ = backend_.store();
  const ThreadId thread_ =
      create_thread(
          store_, "agent",
          {message("a"), message("b", Role::kAssistant), tool_use("look"), message("left behind"),
           with_base(message("c"), 3), message("d", Role::kAssistant)})
          .id;
};

TEST_F(ReadMessages, FollowsTheCurrentPathAndLeavesOtherEventsOut) {
  EXPECT_THAT(read({}), ElementsAre("a", "b", "c", "d"));
  EXPECT_THAT(read({.direction = Direction::kBackward}), ElementsAre("d", "c", "b", "a"));
  EXPECT_THAT(read({.head = 4}), ElementsAre("a", "b", "left behind"));
}

TEST_F(ReadMessages, CountsOffsetAndLimitInMessagesOfTheRoleAskedFor) {
  EXPECT_THAT(read({.direction = Direction::kBackward, .offset = 1, .limit = 2}),
              ElementsAre("c", "b"));
  EXPECT_THAT(read({.role = Role::kAssistant, .offset = 1}), ElementsAre("d"));
  EXPECT_THAT(read({.limit = 0}), IsEmpty());
  EXPECT_THAT(read({.offset = 4}), IsEmpty());
}

TEST_F(ReadMessages, OfAnUnknownThreadAreNone) {
  must(read_messages(store_, ThreadId::from_bits(7), {}, [](Event&) {
    ADD_FAILURE() << "an event of no thread";
    return true;
  }));
}

}  // namespace
}  // namespace skein::test
