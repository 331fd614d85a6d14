#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json/parse.hpp>

#include "program.h"

namespace skein::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class AgentCommands : public testing::Test {
 protected:
  AgentCommands() {
    workspace_.write("agents/helper/agent.json",
                     R"({"engine": "echo", "description": "helps", "system": "Be kind."})");
  }
  void break_one() const {
    workspace_.write("agents/broken/agent.json",
                     R"({"engine": "magic", "limits": {"turns": "x"}})");
  }

  Workspace workspace_;
};

TEST_F(AgentCommands, ListTheAgentsOfAWorkspace) {
  const Ran ran = workspace_.run({"agent", "list"});
  EXPECT_EQ(ran.code, 0) << ran;
  EXPECT_THAT(ran.out, AllOf(HasSubstr("echo"), HasSubstr("helper"), HasSubstr("helps")));
  const auto agents = workspace_.run({"agent", "list", "--json"}).json().as_array();
  ASSERT_EQ(agents.size(), 2U);
  EXPECT_EQ(agents[1].at("id").as_string(), "helper");
}

TEST_F(AgentCommands, ShowOneAsItIsUnderstood) {
  const Ran ran = workspace_.run({"agent", "show", "helper"});
  EXPECT_THAT(ran.out, AllOf(HasSubstr("helper"), HasSubstr("Be kind."))) << ran;
  const auto shown = workspace_.run({"agent", "show", "helper", "--json"}).json();
  EXPECT_EQ(shown.at("system").as_string(), "Be kind.");
  EXPECT_EQ(shown.at("limits").at("turns").to_number<int>(), 50);
  EXPECT_EQ(workspace_.run({"agent", "show", "nobody"}).code, 3);
}

TEST_F(AgentCommands, TellEveryMistakeWithFileFieldAndReason) {
  EXPECT_EQ(workspace_.run({"agent", "check"}).code, 0);
  break_one();
  const Ran ran = workspace_.run({"agent", "check"});
  EXPECT_EQ(ran.code, 1) << ran;
  EXPECT_THAT(ran.out, AllOf(HasSubstr("agents/broken/agent.json: \"engine\" must be one of"),
                             HasSubstr("\"limits.turns\" must be a whole number")));
  const auto problems = workspace_.run({"agent", "check", "--json"}).json().as_array();
  ASSERT_EQ(problems.size(), 2U);
  EXPECT_EQ(problems[0].at("field").as_string(), "engine");
  EXPECT_EQ(workspace_.run({"agent", "check", "helper"}).code, 0);
  EXPECT_EQ(workspace_.run({"agent", "show", "broken"}).code, 1);
  const Ran listed = workspace_.run({"agent", "list"});
  EXPECT_EQ(listed.code, 0);
  EXPECT_THAT(listed.err, HasSubstr("broken/agent.json"));
}

TEST_F(AgentCommands, ReadDefinitionsInTheConfigurationFile) {
  workspace_.write(".skein/config.json", R"({"agents": {"conf": {"engine": "echo"}}})");
  EXPECT_EQ(workspace_.run({"agent", "show", "conf"}).code, 0);
  workspace_.write(".skein/config.json", R"({"agents": []})");
  EXPECT_EQ(workspace_.run({"agent", "list"}).code, 2);
}

}  // namespace
}  // namespace skein::test
