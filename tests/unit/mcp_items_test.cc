// Work items and working sessions as the tools, prompts and resources of MCP offer them.
#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "core/quotation.h"
#include "skein/work_sessions.h"
#include "support/manual_clock.h"
#include "support/mcp_tools.h"

namespace skein::test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;

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

TEST_F(McpTools, PromptsShowTheItemsOfTheProject) {
  start_two_projects();
  for (const char* name : {"close_session", "hand_off"}) {
    EXPECT_THAT(prompt(name), AllOf(HasSubstr("Mow the lawn"), HasSubstr("beta"), HasSubstr("(1)"),
                                    Not(HasSubstr("Paint the fence"))))
        << name;
  }
  structured("session_close", R"({"session_id":"b"})");
  EXPECT_THAT(prompt("close_session"), AllOf(HasSubstr("Paint the fence"), HasSubstr("alpha"),
                                             Not(HasSubstr("Mow the lawn"))));
}

TEST_F(McpTools, ResourcesShowTheItemsOfTheProject) {
  start_two_projects();
  const mcp::ResourceSet resources = mcp::workspace_resources(workspace_);
  const auto contents =
      boost::json::parse(must(resources.read("skein://items", {.version = "2026-07-28"})));
  const auto list = boost::json::parse(contents.at(0).at("text").as_string());
  ASSERT_THAT(list.at("threads").as_array(), SizeIs(1));
  EXPECT_EQ(list.at("threads").at(0).at("text"), "Mow the lawn");
  ASSERT_TRUE(list.as_object().contains("project"));
  EXPECT_EQ(list.at("project"), "beta");
  std::string all;
  for (const std::string& entry : must(resources.list({}))) all += entry;
  EXPECT_THAT(all, AllOf(HasSubstr("Mow the lawn"), Not(HasSubstr("Paint the fence"))));
}

TEST_F(McpTools, CheckpointsShowTheItemsOfTheProject) {
  start_two_projects();
  const std::string of_newest = call("handoff", R"({"title":"x","summary":"y"})").text;
  EXPECT_THAT(of_newest, AllOf(HasSubstr("Mow the lawn"), HasSubstr("beta"),
                               Not(HasSubstr("Paint the fence"))));
  const std::string of_named =
      call("handoff", R"({"title":"x","summary":"y","session_id":"a"})").text;
  EXPECT_THAT(of_named, AllOf(HasSubstr("Paint the fence"), HasSubstr("alpha"),
                              Not(HasSubstr("Mow the lawn"))));
  const auto resumed = structured("resume_checkpoint", "{}");
  ASSERT_THAT(resumed.at("open_items").as_array(), SizeIs(1));
  EXPECT_EQ(resumed.at("open_items").at(0).at("text"), "Mow the lawn");
  ASSERT_TRUE(resumed.as_object().contains("project"));
  EXPECT_EQ(resumed.at("project"), "beta");
}

TEST_F(McpTools, OldSessionsAreCountedAndClosedTogether) {
  ManualClock past;  // months ago
  WorkSessions before(must(workspace_.change())->store(), workspace_.place(), past, random_ids());
  for (const char* id : {"old-1", "old-2"}) {
    StartSession wanted;
    wanted.agent = "mine";
    wanted.session_id = id;
    must(before.start(wanted));
  }
  const auto began = call("session_start", R"({"session_id":"fresh"})");
  EXPECT_THAT(began.text, AllOf(HasSubstr("2 more sessions were never closed"), HasSubstr("stale"),
                                Not(HasSubstr("old-1"))));
  EXPECT_THAT(began.text.substr(0, began.text.find(kQuotationWarning)),
              Not(HasSubstr("never closed")))
      << "text for a model is quoted";

  const auto mixed = call("session_close", R"({"stale":true,"summary":"x"})");
  EXPECT_TRUE(mixed.is_error);
  EXPECT_THAT(mixed.text, HasSubstr("no other argument"));
  const auto closed = structured("session_close", R"({"stale":true})");
  EXPECT_EQ(closed.at("success"), true);
  ASSERT_THAT(closed.at("closed").as_array(), SizeIs(2));
  EXPECT_THAT(call("session_close", R"({"stale":true})").text, HasSubstr("Closed 0"));
  EXPECT_FALSE(call("session_close", R"({"session_id":"fresh"})").is_error);
  EXPECT_THAT(call("session_start", "{}").text, Not(HasSubstr("never closed")));
}

}  // namespace
}  // namespace skein::test
