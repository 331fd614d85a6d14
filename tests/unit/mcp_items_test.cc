// Work items and working sessions as the tools, prompts and resources of MCP offer them.
#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "support/mcp_tools.h"

namespace skein::test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

TEST_F(McpTools, AListIsOfTheSessionThatIsNamed) {
  start_two_projects();
  EXPECT_THAT(texts("{}"), ElementsAre("Mow the lawn"));
  EXPECT_THAT(texts(R"({"session_id":"a"})"), ElementsAre("Paint the fence"));
  EXPECT_THAT(call("list_threads", R"({"session_id":"a"})").text, HasSubstr("alpha"));
  EXPECT_THAT(texts("{}"), ElementsAre("Mow the lawn"));
  structured("create_thread", R"({"text":"Grease the hinges","session_id":"a"})");
  EXPECT_EQ(resolved(R"({"thread_id":"#2","session_id":"a"})"), "Grease the hinges");
  EXPECT_EQ(resolved(R"({"thread_id":"#1"})"), "Mow the lawn");
}

TEST_F(McpTools, APositionIsThatOfTheListThatWasShown) {
  start_two_projects();
  structured("create_thread", R"({"text":"Grease the hinges","session_id":"a"})");
  EXPECT_THAT(texts(R"({"project":"alpha"})"), ElementsAre("Paint the fence", "Grease the hinges"));
  EXPECT_EQ(resolved(R"({"thread_id":"#2","project":"alpha"})"), "Grease the hinges");
  EXPECT_EQ(resolved(R"({"text_match":"FENCE","project":"alpha"})"), "Paint the fence");
  structured("create_thread", R"({"text":"Sweep the yard","session_id":"a"})");
  EXPECT_THAT(texts(R"({"all_projects":true})"), ElementsAre("Mow the lawn", "Sweep the yard"));
  EXPECT_EQ(resolved(R"({"thread_id":"#2","all_projects":true})"), "Sweep the yard");
  const auto none = call("resolve_thread", R"({"thread_id":"#2","project":"beta"})");
  EXPECT_TRUE(none.is_error);
  EXPECT_THAT(none.text, AllOf(HasSubstr("#2"), HasSubstr("beta")));
}

TEST_F(McpTools, RefuseASessionThatNobodyKnows) {
  const auto known = structured("create_thread", R"({"text":"Paint the fence"})");
  const std::string id(known.at("thread").at("id").as_string());
  for (const auto& [tool, arguments] :
       {std::pair("create_thread", std::string(R"({"text":"x","session_id":"nosuch"})")),
        std::pair("list_threads", std::string(R"({"session_id":"nosuch"})")),
        std::pair("resolve_thread", R"({"session_id":"nosuch","thread_id":")" + id + R"("})")}) {
    const auto refused = call(tool, arguments);
    EXPECT_TRUE(refused.is_error) << tool;
    EXPECT_THAT(refused.text, HasSubstr("unknown working session \"nosuch\"")) << tool;
  }
  EXPECT_THAT(texts("{}"), ElementsAre("Paint the fence"));
}

}  // namespace
}  // namespace skein::test
