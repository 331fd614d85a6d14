#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json/serialize.hpp>
#include <fstream>
#include <iterator>
#include <map>

#include "program.h"

namespace skein::test {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kOld = "a1b2c3d4e5f6";
constexpr const char* kNew = "b1b2c3d4e5f6";

// A folder as another program leaves it: a legacy line, a channel, unknown fields, CRLF.
void write_foreign_folder(const Workspace& workspace) {
  workspace.write(
      std::string("old/alice/threads/") + kOld + ".jsonl",
      "{\"agentId\":\"alice\",\"channel\":\"telegram\",\"createdAt\":\"2025-01-01T00:00:00.000Z\","
      "\"updatedAt\":\"2025-01-01T00:05:00.000Z\",\"title\":\"Old "
      "talk\",\"mood\":{\"x\":[1,2]}}\r\n"
      "{\"role\":\"user\",\"text\":\"legacy\",\"timestamp\":\"2025-01-01T00:01:00.000Z\"}\r\n"
      "\r\n"
      "{\"type\":\"tool_use\",\"name\":\"search\",\"input\":{\"q\":1.50},"
      "\"timestamp\":\"2025-01-01T00:02:00.123456Z\",\"extra\":true,\"seq\":99}\r\n"
      "{\"type\":\"message\",\"role\":\"assistant\",\"text\":\"done\","
      "\"timestamp\":\"2025-01-01T00:03:00.000Z\"}");
  workspace.write(std::string("old/bob/threads/") + kNew + ".jsonl",
                  "{\"agentId\":\"bob\",\"createdAt\":\"2025-02-01T00:00:00.000Z\","
                  "\"updatedAt\":\"2025-02-01T00:00:00.000Z\"}\n");
  workspace.write("old/bob/embeddings.jsonl", "{}\n");
  workspace.write("old/usage.jsonl",
                  "{\"timestamp\":\"2025-01-01T00:03:00.000Z\",\"agentId\":\"alice\","
                  "\"inputTokens\":7}\n");
}

std::map<std::string, std::string> contents_of(const fs::path& folder) {
  std::map<std::string, std::string> contents;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (!entry.is_regular_file()) {
      contents[entry.path().string()] = "";
      continue;
    }
    std::ifstream stream(entry.path(), std::ios::binary);
    contents[entry.path().string()].assign(std::istreambuf_iterator<char>(stream), {});
  }
  return contents;
}

class Importing : public OnEveryBackend {
 protected:
  Ran import(std::vector<std::string> more) const {
    more.insert(more.begin(), {"import", "--json"});
    return workspace_.run(std::move(more));
  }
};

INSTANTIATE_ON_EVERY_BACKEND(Importing);

TEST_P(Importing, KeepsIdsTimesLegacyLinesAndUnknownFields) {
  write_foreign_folder(workspace_);
  const Ran ran = import({"old"});
  EXPECT_EQ(ran.code, 0) << ran;
  EXPECT_EQ(ran.json().at("imported").as_int64(), 2);
  EXPECT_EQ(ran.json().at("importedEvents").as_int64(), 3);

  const auto shown = workspace_.run({"thread", "show", kOld, "--json"}).json();
  EXPECT_EQ(shown.at("agentId").as_string(), "alice");
  EXPECT_EQ(shown.at("title").as_string(), "Old talk");
  EXPECT_EQ(shown.at("createdAt").as_string(), "2025-01-01T00:00:00.000Z");
  EXPECT_EQ(shown.at("updatedAt").as_string(), "2025-01-01T00:05:00.000Z");
  EXPECT_FALSE(shown.as_object().contains("channel"));  // stays in the store, unseen
  EXPECT_EQ(shown.at("mood").at("x").as_array().size(), 2u);

  const auto events = workspace_.events(kOld);
  ASSERT_EQ(events.size(), 3u);
  EXPECT_EQ(events[0].at("type").as_string(), "message");
  EXPECT_EQ(events[0].at("timestamp").as_string(), "2025-01-01T00:01:00.000Z");
  EXPECT_EQ(events[1].at("timestamp").as_string(), "2025-01-01T00:02:00.123456Z");
  EXPECT_EQ(events[1].at("extra").as_bool(), true);
  EXPECT_EQ(events[1].at("seq").as_int64(), 2);
  EXPECT_EQ(events[1].at("imported_seq").as_int64(), 99);
  EXPECT_EQ(events[2].at("text").as_string(), "done");
}

TEST_P(Importing, LeavesOutASessionIdThatIsNoneAndSaysSo) {
  const auto write = [&](const char* id, const std::string& session) {
    workspace_.write(std::string("old/alice/threads/") + id + ".jsonl",
                     R"({"agentId":"alice","createdAt":"2025-01-01T00:00:00.000Z",)"
                     R"("updatedAt":"2025-01-01T00:05:00.000Z","sessionId":")" +
                         session + "\"}\n");
  };
  write(kOld, R"(--settings={\"hooks\":{}})");
  write(kNew, "0b8f2c1e-5a77-4d0e-9a35-6f1d2c3b4a59");
  const Ran ran = import({"old"});
  EXPECT_EQ(ran.code, 0) << ran;
  EXPECT_EQ(ran.json().at("imported").as_int64(), 2);
  ASSERT_EQ(ran.json().at("problems").as_array().size(), 1U) << ran;
  EXPECT_THAT(boost::json::serialize(ran.json().at("problems")),
              testing::AllOf(HasSubstr("sessionId"), HasSubstr("--settings")));
  const auto dropped = workspace_.run({"thread", "show", kOld, "--json"}).json();
  EXPECT_FALSE(dropped.as_object().contains("sessionId"));
  EXPECT_EQ(workspace_.run({"thread", "show", kNew, "--json"}).json().at("sessionId").as_string(),
            "0b8f2c1e-5a77-4d0e-9a35-6f1d2c3b4a59");
}

TEST_P(Importing, ImportsNothingTheSecondTimeAndSaysSo) {
  write_foreign_folder(workspace_);
  EXPECT_EQ(import({"old"}).code, 0);
  const auto before = workspace_.run({"export", "--all"}).out;
  const Ran again = workspace_.run({"import", "old"});
  EXPECT_EQ(again.code, 0) << again;
  EXPECT_EQ(again.out,
            "KIND           FOUND  TAKEN  ALREADY THERE  LEFT OUT  WHY\n"
            "threads        2      0      2              0         -\n"
            "events         3      0      3              0         -\n"
            "usage records  1      0      1              0         -\n"
            "nothing changed\n");
  EXPECT_EQ(workspace_.run({"export", "--all"}).out, before);
}

TEST_P(Importing, TakesAnAgentFolderOrASingleFileToo) {
  write_foreign_folder(workspace_);
  EXPECT_EQ(import({"old/alice"}).json().at("imported").as_int64(), 1);
  EXPECT_EQ(
      import({std::string("old/bob/threads/") + kNew + ".jsonl"}).json().at("imported").as_int64(),
      1);
}

TEST_P(Importing, NeverTouchesTheSource) {
  write_foreign_folder(workspace_);
  const auto before = contents_of(workspace_.path() / "old");
  EXPECT_EQ(import({"old"}).code, 0);
  EXPECT_EQ(contents_of(workspace_.path() / "old"), before);
}

TEST_P(Importing, ADryRunSaysWhatItWouldDoAndDoesNothing) {
  write_foreign_folder(workspace_);
  const Ran dry = import({"old", "--dry-run"});
  EXPECT_EQ(dry.code, 0) << dry;
  EXPECT_EQ(dry.json().at("imported").as_int64(), 2);
  EXPECT_EQ(dry.json().at("importedEvents").as_int64(), 3);
  EXPECT_EQ(workspace_.run({"thread", "list", "--json"}).out, "[]\n");
}

TEST_P(Importing, AppendsTheTailThatAnExistingThreadLacks) {
  write_foreign_folder(workspace_);
  EXPECT_EQ(import({"old"}).code, 0);
  const std::string file = std::string("old/bob/threads/") + kNew + ".jsonl";
  workspace_.write(file, workspace_.read(file) + R"({"role":"user","text":"more"})" + "\n" +
                             R"({"role":"user","text":"and more"})" + "\n");
  const Ran ran = import({"old"});
  EXPECT_EQ(ran.code, 0) << ran;
  EXPECT_EQ(ran.json().at("imported").as_int64(), 0);
  EXPECT_EQ(ran.json().at("present").as_int64(), 1);
  EXPECT_EQ(ran.json().at("extended").as_int64(), 1);
  EXPECT_EQ(ran.json().at("newEvents").as_int64(), 2);
  EXPECT_THAT(workspace_.texts(kNew), ElementsAre("more", "and more"));
}

TEST_P(Importing, LeavesAThreadThatWentOnInTheStoreAsItIs) {
  write_foreign_folder(workspace_);
  EXPECT_EQ(import({"old"}).code, 0);
  workspace_.append(kNew, "went on here");
  EXPECT_EQ(import({"old"}).json().at("present").as_int64(), 2);
  EXPECT_THAT(workspace_.texts(kNew), ElementsAre("went on here"));
}

TEST_P(Importing, ReportsAConflictAndGoesOnWithTheRest) {
  write_foreign_folder(workspace_);
  EXPECT_EQ(import({"old/bob"}).code, 0);
  workspace_.append(kNew, "said here");
  const std::string file = std::string("old/bob/threads/") + kNew + ".jsonl";
  workspace_.write(file, workspace_.read(file) + R"({"role":"user","text":"said there"})" + "\n");
  const Ran ran = import({"old/bob", "old/alice"});
  EXPECT_EQ(ran.code, 4) << ran;
  EXPECT_EQ(ran.json().at("conflicts").as_int64(), 1);
  EXPECT_EQ(ran.json().at("imported").as_int64(), 1);
  EXPECT_THAT(workspace_.texts(kNew), ElementsAre("said here"));
}

TEST_P(Importing, ReportsUnreadableLinesWithFileAndLineAndTakesTheOthers) {
  write_foreign_folder(workspace_);
  const std::string file = std::string("old/bob/threads/") + kNew + ".jsonl";
  workspace_.write(file, workspace_.read(file) + "garbage\n" + R"({"role":"user","text":"good"})" +
                             "\n" + R"({"type":"dance"})" + "\n" + R"({"role":"us)");
  const Ran json = import({"old"});
  EXPECT_EQ(json.code, 1) << json;
  EXPECT_EQ(json.json().at("unreadable").as_int64(), 3);
  const auto problem = json.json().at("problems").as_array().at(0);
  EXPECT_EQ(problem.at("file").as_string(), file);
  EXPECT_EQ(problem.at("line").as_int64(), 2);
  const Ran text = workspace_.run({"import", "old"});
  EXPECT_THAT(text.err, HasSubstr(file + ":4: "));
  EXPECT_THAT(text.err, HasSubstr("(the line was cut off)"));
  EXPECT_THAT(workspace_.texts(kNew), ElementsAre("good"));
}

TEST_P(Importing, AFileWhoseManifestCannotBeReadStopsNothingElse) {
  write_foreign_folder(workspace_);
  workspace_.write("old/alice/threads/c1b2c3d4e5f6.jsonl", "{\"agentId\":7}\n");
  workspace_.write("old/alice/threads/d1b2c3d4e5f6.jsonl", "");
  const Ran ran = import({"old"});
  EXPECT_EQ(ran.code, 1) << ran;
  EXPECT_EQ(ran.json().at("failed").as_int64(), 1);
  EXPECT_EQ(ran.json().at("imported").as_int64(), 2);
}

TEST_P(Importing, ShowsProgressOnATerminalOnly) {
  write_foreign_folder(workspace_);
  EXPECT_THAT(workspace_.run_on_terminal({"import", "old"}).out, HasSubstr("importing ["));
  EXPECT_EQ(workspace_.run({"import", "old"}).err, "");
}

TEST_P(Importing, WhatIsNotThereIsNotFound) {
  EXPECT_EQ(import({"nowhere"}).code, 3);
  fs::create_directory(workspace_.path() / "empty");
  EXPECT_EQ(import({"empty"}).code, 3);
}

TEST_P(Importing, TakesCredentialsOutUnlessToldOtherwise) {
  const std::string key = std::string("ghp_") + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8";
  const std::string head =
      R"({"agentId":"eve","createdAt":"2025-01-01T00:00:00Z","updatedAt":"2025-01-01T00:00:00Z"})";
  const std::string file = std::string("old/eve/threads/") + kOld + ".jsonl";
  workspace_.write(file, head + "\n" + R"({"role":"user","text":"use )" + key + "\"}\n" +
                             R"({"type":"tool_use","name":"env","input":{"TOKEN":")" + key +
                             "\"}}\n");
  const Ran ran = import({"old"});
  EXPECT_EQ(ran.code, 0) << ran;
  EXPECT_EQ(ran.json().at("redacted").as_int64(), 2);
  const std::string all = workspace_.run({"export", "--all"}).out;
  EXPECT_THAT(all, HasSubstr("use [redacted:github-token]"));
  EXPECT_THAT(all, Not(HasSubstr(key)));
  EXPECT_EQ(import({"old"}).json().at("present").as_int64(), 1);

  EXPECT_EQ(workspace_.run({"thread", "delete", kOld, "--yes"}).code, 0);
  EXPECT_EQ(import({"old", "--no-redact"}).code, 0);
  EXPECT_THAT(workspace_.run({"export", "--all"}).out, HasSubstr("use " + key));
}

TEST_P(Importing, ALongThreadComesOverWhole) {
  constexpr int kEvents = 3500;
  std::string content =
      R"({"agentId":"a","createdAt":"2025-01-01T00:00:00Z","updatedAt":"2025-01-01T00:00:00Z"})"
      "\n";
  const auto line = [](int i) {
    return R"({"role":"user","text":")" + std::to_string(i) + "\"}\n";
  };
  for (int i = 1; i <= kEvents; ++i) content += line(i);
  const std::string file = std::string("old/a/threads/") + kOld + ".jsonl";
  workspace_.write(file, content);
  EXPECT_EQ(import({"old"}).json().at("importedEvents").as_int64(), kEvents);
  for (int i = kEvents + 1; i <= kEvents + 1500; ++i) content += line(i);
  workspace_.write(file, content);
  EXPECT_EQ(import({"old"}).json().at("newEvents").as_int64(), 1500);
  const auto texts = workspace_.texts(kOld);
  ASSERT_EQ(texts.size(), kEvents + 1500u);
  for (std::size_t i = 0; i < texts.size(); ++i) ASSERT_EQ(texts[i], std::to_string(i + 1));
}

}  // namespace
}  // namespace skein::test
