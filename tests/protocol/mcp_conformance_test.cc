// The protocol's own conformance suites on `skein serve`.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "node_programs.h"
#include "served.h"
#include "support/expect.h"
#include "support/temp_dir.h"
#include "tool_servers.h"

namespace skein::test {
namespace {

const std::string kBaselines = SKEIN_SOURCE_DIR "/tests/protocol/conformance/";

struct Suite {
  std::string package;
  std::string baseline;
  std::vector<std::string> words;  // which scenarios
};

const Suite k2025 = {"mcp-conformance-2025", "2025-11-25.yml", {"--suite", "active"}};
const Suite k2026 = {"mcp-conformance-2026", "2026-07-28.yml", {"--requirements", "2026-07-28"}};

Finished run_suite(const Suite& suite, const std::string& url,
                   const std::vector<std::string>& more = {}) {
  const TempDir folder;
  std::vector<std::string> words = {
      npm_path(suite.package + "/dist/index.js"), "server", "--url", url, "-o",
      (folder.path() / "results").string()};
  words.insert(words.end(), suite.words.begin(), suite.words.end());
  words.insert(words.end(), more.begin(), more.end());
  return run_node(words, folder.path().string());
}

TEST(McpConformance, EveryActiveScenarioOf2025Passes) {
  const TempDir workspace;
  const Served server(workspace.path(), {"--conformance-fixtures"});
  const Finished ran = run_suite(k2025, server.mcp_url());
  EXPECT_TRUE(ran.exit.ok()) << ran.out << ran.err;
  EXPECT_THAT(ran.out, testing::ContainsRegex("Total: [0-9]+ passed, 0 failed"));
}

TEST(McpConformance, EveryRequiredScenarioOf2026Passes) {
  const TempDir workspace;
  const Served server(workspace.path(), {"--conformance-fixtures"});
  const Finished ran = run_suite(k2026, server.mcp_url());
  EXPECT_TRUE(ran.exit.ok()) << ran.out << ran.err;
}

// Without what the suites call by name, what fails is what is written down, no more and no less.
TEST(McpConformance, WithoutFixturesExactlyWhatNeedsThemFails) {
  const TempDir workspace;
  const Served server(workspace.path());
  for (const Suite& suite : {k2025, k2026}) {
    const Finished ran =
        run_suite(suite, server.mcp_url(), {"--expected-failures", kBaselines + suite.baseline});
    EXPECT_TRUE(ran.exit.ok()) << suite.package << "\n" << ran.out << ran.err;
  }
}

}  // namespace
}  // namespace skein::test
