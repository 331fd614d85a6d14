#include "api/mcp_install.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/expect.h"

namespace skein::test {
namespace {

using testing::HasSubstr;

const std::vector<std::string> kArguments = {"mcp"};

TEST(McpInstallation, WritesTheServerIntoEmptySettings) {
  EXPECT_EQ(must(with_json_server("", "skein", kArguments)), R"({
  "mcpServers": {
    "skein": {
      "command": "skein",
      "args": ["mcp"]
    }
  }
}
)");
  EXPECT_EQ(must(with_toml_server("", "/opt/my \"tools\"/skein", kArguments)),
            "[mcp_servers.skein]\ncommand = \"/opt/my \\\"tools\\\"/skein\"\nargs = [\"mcp\"]\n");
}

TEST(McpInstallation, TwiceIsOnce) {
  const std::string json = must(with_json_server("", "skein", kArguments));
  EXPECT_EQ(must(with_json_server(json, "skein", kArguments)), json);
  const std::string toml = must(with_toml_server("model = \"x\"\n", "skein", kArguments));
  EXPECT_EQ(must(with_toml_server(toml, "skein", kArguments)), toml);
}

TEST(McpInstallation, KeepsOtherServersAndWhatWasAddedToOurs) {
  const std::string before = R"({
  "other": [1, 2],
  "mcpServers": {
    "theirs": {
      "command": "x"
    },
    "skein": {
      "command": "/old/skein",
      "args": ["old"],
      "env": {"SKEIN_STORE": "memory:"}
    }
  }
}
)";
  EXPECT_EQ(must(with_json_server(before, "skein", kArguments)), R"({
  "other": [1, 2],
  "mcpServers": {
    "theirs": {
      "command": "x"
    },
    "skein": {
      "command": "skein",
      "args": ["mcp"],
      "env": {"SKEIN_STORE": "memory:"}
    }
  }
}
)");
}

TEST(McpInstallation, LeavesALayoutAloneWhereNothingIsNew) {
  const std::string before = R"({"mcpServers":{"skein":{"args":["mcp"],"command":"skein"}}})";
  EXPECT_EQ(must(with_json_server(before, "skein", kArguments)), before);
}

TEST(McpInstallation, KeepsEverythingElseOfATomlFile) {
  const std::string before =
      "model = \"x\" # mine\n\n[mcp_servers.theirs]\ncommand = \"y\"\n\n"
      "[ mcp_servers . \"skein\" ] # ours\nenv = { A = \"b\" }\ncommand = '/old'\nargs = "
      "[\"old\"]\n"
      "[tools]\ncommand = \"z\"";
  EXPECT_EQ(must(with_toml_server(before, "skein", kArguments)),
            "model = \"x\" # mine\n\n[mcp_servers.theirs]\ncommand = \"y\"\n\n"
            "[ mcp_servers . \"skein\" ] # ours\ncommand = \"skein\"\nargs = [\"mcp\"]\n"
            "env = { A = \"b\" }\n[tools]\ncommand = \"z\"");
  EXPECT_EQ(must(with_toml_server("a = 1", "skein", kArguments)),
            "a = 1\n\n[mcp_servers.skein]\ncommand = \"skein\"\nargs = [\"mcp\"]\n");
}

TEST(McpInstallation, RefusesWhatItDoesNotUnderstand) {
  EXPECT_TRUE(fails(with_json_server("[1]", "skein", kArguments), ErrorCode::kInvalid));
  EXPECT_TRUE(fails(with_json_server("{", "skein", kArguments), ErrorCode::kInvalid));
  EXPECT_TRUE(fails(with_json_server(R"({"mcpServers":[]})", "skein", kArguments),
                    ErrorCode::kInvalid, {"mcpServers", "[]"}));
  EXPECT_TRUE(
      fails(with_toml_server("[mcp_servers.skein]\nargs = [\n\"a\"]\n", "skein", kArguments),
            ErrorCode::kInvalid, {"several lines"}));
  EXPECT_TRUE(
      fails(with_toml_server("[mcp_servers.skein]\n[mcp_servers.skein]\n", "skein", kArguments),
            ErrorCode::kInvalid));
  EXPECT_TRUE(fails(with_toml_server("\xFF", "skein", kArguments), ErrorCode::kInvalid));
}

}  // namespace
}  // namespace skein::test
