// The tools and prompts of the MCP server, called without a transport.
#pragma once

#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "mcp/catalogue.h"
#include "mcp/tools/tools.h"
#include "support/expect.h"
#include "support/mcp_stdio.h"

namespace skein::test {

class McpTools : public testing::Test {
 protected:
  // What a tool answers to these arguments.
  mcp::ToolAnswer call(const std::string& name, std::string_view arguments) {
    for (const mcp::Tool& tool : tools_) {
      if (tool.name != name) continue;
      const auto read = mcp::Arguments::read(tool.parameters, must(Json::parse(arguments)),
                                             workspace_.clock().now());
      if (!read) return {.text = read.error().message, .is_error = true};
      return std::get<mcp::ToolAnswer>(tool.run(*read, {.version = "2026-07-28"}));
    }
    ADD_FAILURE() << "no tool " << name;
    return {};
  }
  boost::json::value structured(const std::string& name, std::string_view arguments) {
    const mcp::ToolAnswer answer = call(name, arguments);
    EXPECT_FALSE(answer.is_error) << name << ": " << answer.text;
    return boost::json::parse(answer.structured.text());
  }

  // The texts that list_threads answers.
  std::vector<std::string> texts(std::string_view arguments) {
    std::vector<std::string> found;
    const auto listed = structured("list_threads", arguments);
    for (const auto& thread : listed.at("threads").as_array()) {
      found.emplace_back(thread.at("text").as_string());
    }
    return found;
  }
  // The text of what resolve_thread resolved.
  std::string resolved(std::string_view arguments) {
    const auto done = structured("resolve_thread", arguments);
    return std::string(done.at("resolved_thread").at("text").as_string());
  }
  // An open session of each project, with an item; the newest is that of the project beta.
  void start_two_projects() {
    structured("session_start", R"({"session_id":"a","project":"alpha"})");
    structured("create_thread", R"({"text":"Paint the fence","session_id":"a"})");
    structured("session_start", R"({"session_id":"b","project":"beta"})");
    structured("create_thread", R"({"text":"Mow the lawn"})");
  }
  // The text of a prompt's message.
  std::string prompt(const std::string& name, const mcp::PromptValues& values = {}) {
    for (const mcp::Prompt& prompt : mcp::workspace_prompts(workspace_)) {
      if (prompt.name != name) continue;
      const auto answer =
          std::get<mcp::PromptAnswer>(prompt.run(values, {.version = "2026-07-28"}));
      const auto messages = boost::json::parse(answer.messages);
      return std::string(messages.at_pointer("/0/content/text").as_string());
    }
    ADD_FAILURE() << "no prompt " << name;
    return {};
  }

  TempDir folder_;
  mcp::Workspace workspace_{{.settings = mcp_settings(folder_.path())}};
  std::vector<mcp::Tool> tools_ = mcp::workspace_tools(workspace_);
};

}  // namespace skein::test
