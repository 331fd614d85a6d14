// The LangGraph SDK and its validation suite on Skein.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <fstream>
#include <sstream>

#include "langgraph_scripts.h"
#include "support/http_server.h"

namespace skein::test {
namespace {

// The agents that the reference server has as graphs (bench/langgraph/graph.mjs).
constexpr const char* kAgents =
    R"({"agents":{"slow":{"engine":"echo","options":{"delayMs":300}}},"defaultAgent":"echo"})";

TEST(LangGraph, TheSdkSeesWhatTheReferenceServerShows) {
  TestServer server({.config = kAgents});
  const ScriptEnd driven = run_langgraph_script({"driver.mjs", server.url()});
  ASSERT_TRUE(driven.ok) << driven.err;
  const ScriptEnd compared = run_langgraph_script(
      {"compare.mjs", SKEIN_SOURCE_DIR "/tests/fixtures/langgraph_reference.jsonl",
       langgraph_folder() + "/differences.jsonl"},
      driven.out);
  EXPECT_TRUE(compared.ok) << compared.out << compared.err;
}

TEST(LangGraph, TheReferenceWasRecordedWithTheServerThatIsNamed) {
  const auto parsed = [](const std::string& name) {
    std::ostringstream text;
    text << std::ifstream(SKEIN_SOURCE_DIR + name).rdbuf();
    return boost::json::parse(text.str());
  };
  EXPECT_EQ(parsed("/tests/fixtures/langgraph_reference.versions.json"),
            parsed("/bench/langgraph/package.json").at("dependencies"))
      << "record it again: tools/langgraph_reference record";
}

TEST(LangGraph, EveryDifferenceFromTheReferenceServerIsExplained) {
  std::ostringstream docs;
  docs << std::ifstream(SKEIN_SOURCE_DIR "/docs/langgraph.md").rdbuf();
  std::ifstream differences(langgraph_folder() + "/differences.jsonl");
  std::size_t count = 0;
  for (std::string line; std::getline(differences, line); ++count) {
    const std::string call(boost::json::parse(line).at("call").as_string());
    EXPECT_THAT(docs.str(), testing::HasSubstr("`" + call + "`"));
  }
  EXPECT_GT(count, 0U);
}

TEST(LangGraph, TheSaverPassesWhatTheReferenceSaverPasses) {
  TestServer server;
  const ScriptEnd validated = run_langgraph_script({"validation.mjs", server.url()});
  ASSERT_TRUE(validated.ok) << validated.out << validated.err;
  const auto said = boost::json::parse(validated.out);
  EXPECT_EQ(said.at("passed").to_number<int>(), 717) << validated.out << validated.err;
  // The one that the reference's SQLite saver fails as well.
  EXPECT_EQ(boost::json::serialize(said.at("failed")),
            "[\"should only store channel_values that have changed (based on newVersions)\"]");
}

TEST(LangGraph, StreamsGoOnAfterTheServerWasKilled) {
  const ScriptEnd restarted = run_langgraph_script({"restart.mjs", SKEIN_PROGRAM, "100"});
  EXPECT_TRUE(restarted.ok) << restarted.out << restarted.err;
  EXPECT_THAT(restarted.out, testing::HasSubstr("\n0 differences\n"));
}

}  // namespace
}  // namespace skein::test
