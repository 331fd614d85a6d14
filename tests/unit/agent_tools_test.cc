#include "runner/agent_tools.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "support/expect.h"

namespace skein::test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::MatchesRegex;

ToolServer odd_server(std::string name, std::vector<std::string> modes = {}) {
  ToolServer server{.name = std::move(name),
                    .command = {"python3", SKEIN_SOURCE_DIR "/tests/support/odd_mcp_server.py"}};
  server.command.insert(server.command.end(), modes.begin(), modes.end());
  return server;
}

AgentDefinition agent_with(AgentCapabilities capabilities) {
  AgentDefinition agent;
  agent.id = "tester";
  agent.capabilities = std::move(capabilities);
  return agent;
}

BuiltInTool shouting() {
  return {{"shout", "Says it loudly", Json::trusted(R"({"type":"object"})")},
          [](const Json& input, const std::stop_token&) -> ToolResult {
            return {input.text() + "!", false};
          }};
}

std::vector<std::string> names(ToolBox& box) {
  std::vector<std::string> names;
  for (const ToolDefinition& tool : must(box.definitions({}))) names.push_back(tool.name);
  return names;
}

ToolResult call(ToolBox& box, std::string name, std::string input = "{}") {
  return box.call({.id = "1", .name = std::move(name), .input = Json::trusted(std::move(input))},
                  {});
}

TEST(ToolNames, FitWhatEveryModelTakesAndStayApart) {
  EXPECT_EQ(tool_name("files", "read_text-file"), "files__read_text-file");
  EXPECT_EQ(tool_name("a.b", "admin.tools/list ü"), "a_b__admin_tools_list___");
  const std::string long_tool(100, 'x');
  EXPECT_THAT(tool_name("server", long_tool), MatchesRegex("server__x+_[0-9a-f]+"));
  EXPECT_EQ(tool_name("server", long_tool).size(), 64U);
  EXPECT_NE(tool_name("server", long_tool), tool_name("server", long_tool + "y"));
}

TEST(ToolNames, InAllowAreThoseOfBuiltInToolsOrOfServers) {
  const std::vector<std::string> servers = {"files", "a.b", std::string(80, 'x')};
  for (const std::string& name :
       {std::string("recall"), std::string("resolve_work_item"), std::string("complete_task"),
        std::string("re*"), std::string("*"), std::string("files__read"), std::string("files__*"),
        std::string("fil*"), std::string("a_b__c"), tool_name(std::string(80, 'x'), "read")}) {
    EXPECT_TRUE(may_name_tool(name, servers)) << name;
  }
  for (const char* name : {"recal", "work_items", "file__read", "files_read", "files", "a.b__c",
                           "fish*", "files_x*", ""}) {
    EXPECT_FALSE(may_name_tool(name, servers)) << name;
  }
}

TEST(AgentTools, WarnOfNamesInAllowThatNoServerOffers) {
  ToolServers servers;
  std::vector<std::string> warnings;
  const auto box = make_tool_box(
      agent_with({.servers = {odd_server("odd", {"paged"})},
                  .allow = {"odd__nothing", "odd__*", "shout", "odd__no*"}}),
      {shouting()}, servers, [&](std::string_view line) { warnings.emplace_back(line); });
  names(*box);
  EXPECT_THAT(warnings, ElementsAre(AllOf(HasSubstr("\"tester\""), HasSubstr("\"odd__nothing\"")),
                                    HasSubstr("\"odd__no*\"")));
}

// A slip in "confirm" lets the tool that was meant run without a person's yes.
TEST(AgentTools, WarnOfNamesInConfirmThatNoServerOffers) {
  ToolServers servers;
  std::vector<std::string> warnings;
  const auto box = make_tool_box(
      agent_with({.servers = {odd_server("odd", {"paged"})},
                  .builtin = {"tasks"},
                  .allow = {"odd__t1"},
                  .confirm = {"odd__t1", "odd__t2", "odd__t", "odd__w*", "complete_task"}}),
      {}, servers, [&](std::string_view line) { warnings.emplace_back(line); });
  EXPECT_THAT(names(*box), ElementsAre("odd__t1"));
  EXPECT_THAT(warnings, ElementsAre(AllOf(HasSubstr("\"tester\""), HasSubstr("\"confirm\""),
                                          HasSubstr("\"odd__t\"")),
                                    HasSubstr("\"odd__w*\"")));
}

TEST(AgentTools, KeepTheirNumbersWhereOthersOfTheNameAreNotAllowed) {
  ToolServers servers;
  const auto box = make_tool_box(
      agent_with({.servers = {odd_server("a.b"), odd_server("a_b")}, .allow = {"a_b__t0_2"}}), {},
      servers);
  EXPECT_THAT(names(*box), ElementsAre("a_b__t0_2"));
}

// The tools of "tasks" are for threads of a task: on other threads their absence is normal.
TEST(AgentTools, DoNotWarnOfBuiltInToolsThatThisThreadLacks) {
  ToolServers servers;
  std::vector<std::string> warnings;
  const auto box = make_tool_box(
      agent_with({.builtin = {"tasks"}, .allow = {"complete_task", "update_*", "recall"}}), {},
      servers, [&](std::string_view line) { warnings.emplace_back(line); });
  EXPECT_THAT(names(*box), testing::IsEmpty());
  EXPECT_THAT(warnings, ElementsAre(HasSubstr("\"recall\"")));
}

TEST(AgentTools, AreThoseOfAllServersAndBuiltInOnesUnderNamesOfTheirOwn) {
  ToolServers servers;
  const auto box =
      make_tool_box(agent_with({.servers = {odd_server("one"), odd_server("two", {"paged"})}}),
                    {shouting()}, servers);
  EXPECT_THAT(names(*box), ElementsAre("shout", "one__t0", "two__t0", "two__t1", "two__t2",
                                       "two__t3", "two__t4"));
  const auto definitions = must(box->definitions({}));
  EXPECT_EQ(definitions[1].description, "t0");
  EXPECT_EQ(definitions[1].input_schema.text(), R"({"type": "object"})");
  EXPECT_EQ(call(*box, "shout", "{\"a\":1}").text, "{\"a\":1}!");
}

TEST(AgentTools, WithTheSameNameAreNumbered) {
  ToolServers servers;
  const auto box =
      make_tool_box(agent_with({.servers = {odd_server("a.b"), odd_server("a_b")}}), {}, servers);
  EXPECT_THAT(names(*box), ElementsAre("a_b__t0", "a_b__t0_2"));
}

TEST(AgentTools, AreOnlyThoseThatTheDefinitionAllows) {
  ToolServers servers;
  const auto box = make_tool_box(agent_with({.servers = {odd_server("odd", {"paged"})},
                                             .allow = {"odd__t1", "odd__t3*"},
                                             .confirm = {"odd__t3"}}),
                                 {shouting()}, servers);
  EXPECT_THAT(names(*box), ElementsAre("odd__t1", "odd__t3"));
  EXPECT_TRUE(call(*box, "shout").is_error);
  EXPECT_THAT(call(*box, "odd__t0").text, HasSubstr("there is no tool \"odd__t0\""));
  EXPECT_TRUE(box->needs_yes("odd__t3"));
  EXPECT_FALSE(box->needs_yes("odd__t1"));
}

// The odd server answers to more names than it lists; what goes wrong in it is a result.
TEST(AgentTools, GiveWhatGoesWrongBackToTheModel) {
  ToolServers servers;
  const auto box = make_tool_box(agent_with({.servers = {odd_server("odd")}}), {}, servers);
  must(box->definitions({}));
  EXPECT_THAT(call(*box, "nothing").text, HasSubstr("nothing"));
  std::stop_source source;
  source.request_stop();
  const ToolResult stopped =
      box->call({.id = "1", .name = "odd__t0", .input = Json::trusted("{}")}, source.get_token());
  EXPECT_TRUE(stopped.is_error);
  EXPECT_THAT(stopped.text, AllOf(HasSubstr("odd"), HasSubstr("stopped")));
}

TEST(AgentTools, NameAServerThatCannotBeReachedOrLacksAVariable) {
  ToolServers servers;
  const auto gone = make_tool_box(
      agent_with(
          {.servers = {odd_server("odd"), {.name = "gone", .command = {"no-such-program-here"}}}}),
      {}, servers);
  EXPECT_TRUE(fails(gone->definitions({}), ErrorCode::kNotFound, {"gone"}));
  EXPECT_TRUE(call(*gone, "odd__t0").is_error);
  ToolServer with_key = odd_server("keyed");
  with_key.environment = {{"KEY", "${SKEIN_TEST_KEY_THAT_IS_NOT_SET}"}};
  const auto keyed = make_tool_box(agent_with({.servers = {with_key}}), {}, servers);
  EXPECT_TRUE(
      fails(keyed->definitions({}), ErrorCode::kInvalid, {"SKEIN_TEST_KEY_THAT_IS_NOT_SET"}));
}

TEST(ToolServers, AreSharedByRunsThatNameTheSameOne) {
  ToolServers servers;
  McpClient* first = must(servers.client(odd_server("odd"), "/"));
  EXPECT_EQ(first, must(servers.client(odd_server("odd"), "/")));
  EXPECT_NE(first, must(servers.client(odd_server("odd"), "/tmp")));
  EXPECT_NE(first, must(servers.client(odd_server("odd", {"paged"}), "/")));
  ToolServer other = odd_server("odd");
  other.environment = {{"A", "b"}};
  EXPECT_NE(first, must(servers.client(other, "/")));
  const auto one = make_tool_box(agent_with({.servers = {odd_server("odd")}}), {}, servers);
  const auto two = make_tool_box(agent_with({.servers = {odd_server("odd")}}), {}, servers);
  std::vector<std::jthread> threads;
  for (ToolBox* box : {one.get(), two.get(), one.get()}) {
    threads.emplace_back([box] { EXPECT_THAT(names(*box), ElementsAre("odd__t0")); });
  }
}

TEST(ToolServers, HaveALimit) {
  ToolServers servers;
  for (std::size_t i = 0; i < limits::kMaxOpenToolServers; ++i) {
    must(servers.client(odd_server("s" + std::to_string(i)), ""));
  }
  EXPECT_TRUE(fails(servers.client(odd_server("more"), ""), ErrorCode::kBusy, {"more", "256"}));
}

}  // namespace
}  // namespace skein::test
