#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "program.h"

namespace skein::test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::StartsWith;

constexpr const char* kAlias = "6f1c2f0e-9a57-4b0e-8f5e-0c1d2e3f4a5b";

class Exporting : public OnEveryBackend {
 protected:
  // A thread with everything that could get lost on the way.
  std::string make_rich_thread() const {
    const std::string id =
        workspace_.create({"--agent", "rich", "--title", "Émile \"x\"", "--alias", kAlias,
                           "--metadata", R"({"k":[1,{"a":null}]})"});
    const Ran ran =
        workspace_.run({"thread", "append", id, "--jsonl"},
                       R"({"role":"user","text":"a\u0000b\nc","key":"k-1","metadata":{"source":"x"}}
{"type":"tool_use","name":"run","input":{"code":"```sh\nls\n```"},"unknown":1.0}
{"type":"result","cost":0.1,"durationMs":12}
{"role":"user","text":"instead","base":1,"memoryType":"decision_point"}
)");
    EXPECT_EQ(ran.code, 0) << ran;
    return id;
  }

  std::vector<std::string> others() const {
    return GetParam() == "sqlite" ? std::vector<std::string>{"jsonl", "sqlite"}
                                  : std::vector<std::string>{"sqlite", "jsonl"};
  }
};

INSTANTIATE_ON_EVERY_BACKEND(Exporting);

TEST_P(Exporting, JsonlHasTheManifestOnLineOneAndAnEventALine) {
  const std::string id = make_rich_thread();
  const Ran ran = workspace_.run({"export", id});
  EXPECT_EQ(ran.code, 0) << ran;
  const auto lines = ran.json_lines();
  ASSERT_EQ(lines.size(), 5u);
  EXPECT_EQ(lines[0].at("threadId").as_string(), id);
  EXPECT_EQ(lines[0].at("agentId").as_string(), "rich");
  EXPECT_EQ(lines[1].at("key").as_string(), "k-1");
  EXPECT_EQ(lines[4].at("base").as_int64(), 1);
}

TEST_P(Exporting, WhatIsImportedAgainIsTheSame) {
  const std::string id = make_rich_thread();
  const std::string fork = workspace_.run({"thread", "fork", id, "--at", "2"}).out_line();
  const std::string all = workspace_.run({"export", "--all"}).out;
  EXPECT_EQ(workspace_.run({"export", "--all", "--output", "all.jsonl"}).code, 0);
  EXPECT_EQ(workspace_.read("all.jsonl"), all);
  EXPECT_EQ(workspace_.run({"export", "--all", "--output", "folder/"}).code, 0);
  EXPECT_TRUE(fs::exists(workspace_.path() / "folder" / "rich" / "threads" / (id + ".jsonl")));

  for (const std::string& backend : others()) {
    for (const std::string source : {"all.jsonl", "folder"}) {
      const std::string store = workspace_.url(backend, "copy-" + source);
      const Ran ran = workspace_.run({"import", source, "--no-redact", "--store", store});
      EXPECT_EQ(ran.code, 0) << ran;
      EXPECT_THAT(ran.out, HasSubstr("\nthreads  2      2      0 "));
      EXPECT_THAT(ran.out, HasSubstr("\nevents   6      6      0 "));
      EXPECT_EQ(workspace_.run({"export", "--all", "--store", store}).out, all) << store;
      EXPECT_THAT(workspace_.run({"import", source, "--no-redact", "--store", store}).out,
                  HasSubstr("\nthreads  2      0      2 "));
    }
  }
  EXPECT_EQ(workspace_
                .run({"thread", "show", fork, "--store",
                      workspace_.url(others()[0], "copy-all.jsonl"), "--json"})
                .json()
                .at("parent")
                .at("threadId")
                .as_string(),
            id);
}

TEST_P(Exporting, AFolderOfJsonlIsAStoreThatOpens) {
  const std::string id = make_rich_thread();
  EXPECT_EQ(workspace_.run({"export", id, "--output", "folder/"}).code, 0);
  const std::string store = "jsonl:" + (workspace_.path() / "folder").string();
  EXPECT_EQ(workspace_.run({"thread", "events", id, "--json", "--store", store}).out,
            workspace_.run({"thread", "events", id, "--json"}).out);
}

TEST(ImportingAStore, TheFolderOfAJsonlStoreComesOverAsItIs) {
  const Workspace workspace("jsonl");
  const std::string id = workspace.create({"--agent", "a", "--title", "T", "--message", "one"});
  const Ran appended =
      workspace.run({"thread", "append", id, "--text", "two", "--key", "k", "--base", "0"});
  EXPECT_EQ(appended.code, 0) << appended;
  const std::string copy = workspace.url("sqlite", "copy");
  const Ran ran = workspace.run({"import", "store", "--store", copy});
  EXPECT_EQ(ran.code, 0) << ran;
  EXPECT_EQ(workspace.run({"export", "--all", "--store", copy}).out,
            workspace.run({"export", "--all"}).out);
}

TEST_P(Exporting, SelectsByIdOrAgentAndRefusesAnUnknownThread) {
  const std::string a = workspace_.create({"--agent", "a"});
  const std::string b = workspace_.create({"--agent", "b"});
  EXPECT_THAT(workspace_.run({"export", "--agent", "a"}).out, StartsWith("{\"threadId\":\"" + a));
  EXPECT_EQ(workspace_.run({"export", a, b}).json_lines().size(), 2u);
  EXPECT_EQ(workspace_.run({"export", a, "0123456789ab", "--output", "out.jsonl"}).code, 3);
  EXPECT_FALSE(fs::exists(workspace_.path() / "out.jsonl"));
  const Ran json = workspace_.run({"export", a, "--output", "out.jsonl", "--json"});
  EXPECT_EQ(json.out, "{\"exported\":1,\"output\":\"out.jsonl\"}\n");
}

TEST_P(Exporting, MarkdownIsForPeopleAndNothingInItEscapesItsFence) {
  const std::string id = make_rich_thread();
  const Ran ran = workspace_.run({"export", id, "--format", "markdown"});
  EXPECT_EQ(ran.code, 0) << ran;
  EXPECT_THAT(ran.out, StartsWith("# Émile \"x\"\n\n- thread: " + id + "\n- agent: rich\n"));
  EXPECT_THAT(ran.out, HasSubstr("\n## 1. user · 20"));
  EXPECT_THAT(ran.out, HasSubstr("\n## 2. tool run · "));
  EXPECT_THAT(ran.out, HasSubstr("\n````json\n{\"code\":\"```sh"));
  EXPECT_THAT(ran.out, HasSubstr("continues from 1"));
  EXPECT_THAT(ran.out, HasSubstr("\ninstead\n"));
  EXPECT_EQ(workspace_.run({"export", id, "--format", "markdown", "--output", "notes/"}).code, 0);
  EXPECT_EQ(workspace_.read("notes/rich/" + id + ".md"), ran.out);
}

}  // namespace
}  // namespace skein::test
