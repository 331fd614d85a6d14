// Moving over from other programs: folders as tests/moving/ makes them, and one command for each.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json/serialize.hpp>

#include "moving.h"

namespace skein::test {
namespace {

using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

// A generator and its options.
struct Maker {
  std::string name;
  std::string arguments;
};

void expect_counts(const Ran& ran, const boost::json::object& expected) {
  const auto kinds = kinds_of(ran);
  EXPECT_EQ(kinds.size(), expected.size()) << ran;
  for (const auto& [kind, counts] : expected) {
    ASSERT_TRUE(kinds.contains(kind)) << kind << ran;
    const boost::json::object& row = kinds.at(kind);
    EXPECT_EQ(row.at("found").as_int64(), row.at("taken").as_int64() + row.at("there").as_int64() +
                                              row.at("leftOut").as_int64())
        << kind;
    for (const char* count : {"found", "taken", "leftOut"}) {
      EXPECT_EQ(row.at(count).as_int64(), counts.at(count).as_int64()) << kind << " " << count;
    }
  }
}

// Everything that the workspace can be asked for.
std::string all_of(const Workspace& workspace) {
  std::string all;
  for (const std::vector<std::string>& command :
       std::vector<std::vector<std::string>>{{"export", "--all"},
                                             {"usage", "--json"},
                                             {"task", "list", "--json"},
                                             {"trigger", "list", "--json"},
                                             {"agent", "list", "--json"},
                                             {"item", "list", "--json"},
                                             {"checkpoints", "list", "--json"}}) {
    all += workspace.run(command).out;
  }
  const auto latency = all.find("\"latency_ms\"");
  return latency == std::string::npos ? all : all.erase(latency, all.find('}', latency) - latency);
}

class MovingOver : public testing::TestWithParam<Maker> {
 protected:
  Workspace workspace_;
};

INSTANTIATE_TEST_SUITE_P(Folders, MovingOver,
                         testing::Values(Maker{"Nova", kNova}, Maker{"OlderNova", kOlderNova},
                                         Maker{"Gitmem", "make_gitmem.py"},
                                         Maker{"Hq", "make_hq.py"}),
                         [](const auto& maker) { return maker.param.name; });

TEST_P(MovingOver, TakesEverythingByOneCommandAndTheCountsAddUp) {
  const auto expected = make_folder(workspace_, GetParam().arguments);
  const Ran ran = workspace_.run({"import", "old", "--json"});
  EXPECT_EQ(ran.code, 0) << ran;
  expect_counts(ran, expected);
  EXPECT_THAT(ran.json().at("problems").as_array(), IsEmpty());
}

TEST_P(MovingOver, ASecondImportChangesNothingAndSaysSo) {
  const auto expected = make_folder(workspace_, GetParam().arguments);
  ASSERT_EQ(workspace_.run({"import", "old"}).code, 0);
  const std::string before = all_of(workspace_);
  const Ran again = workspace_.run({"import", "old", "--json"});
  EXPECT_EQ(again.code, 0) << again;
  for (const auto& [kind, row] : kinds_of(again)) {
    EXPECT_EQ(row.at("taken").as_int64(), 0) << kind;
    EXPECT_EQ(row.at("found"), expected.at(kind).at("found")) << kind;
    EXPECT_EQ(row.at("there"), expected.at(kind).at("taken")) << kind;
  }
  EXPECT_EQ(all_of(workspace_), before);
  EXPECT_THAT(workspace_.run({"import", "old"}).out, EndsWith("nothing changed\n"));
}

TEST_P(MovingOver, ADryRunSaysTheSameAndWritesNothing) {
  const auto expected = make_folder(workspace_, GetParam().arguments);
  const Ran dry = workspace_.run({"import", "old", "--dry-run", "--json"});
  EXPECT_EQ(dry.code, 0) << dry;
  expect_counts(dry, expected);
  EXPECT_EQ(workspace_.shell("ls -A . .skein").out, ".:\n.skein\nold\n\n.skein:\n");
  EXPECT_THAT(workspace_.run({"import", "old", "--dry-run"}).out,
              EndsWith("nothing was written (--dry-run)\n"));
}

TEST_P(MovingOver, ReportsWhatIsBrokenAndLosesNothingElse) {
  const auto expected = make_folder(workspace_, GetParam().arguments + " --hostile");
  const std::string outside =
      workspace_.shell("find old old-outside -type f | sort | xargs -d '\\n' cksum").out;
  const Ran ran = workspace_.run({"import", "old", "--json"});
  EXPECT_EQ(ran.code, 1) << ran;
  expect_counts(ran, expected);
  EXPECT_THAT(ran.json().at("problems").as_array(), Not(IsEmpty()));
  EXPECT_EQ(workspace_.shell("find old old-outside -type f | sort | xargs -d '\\n' cksum").out,
            outside);
}

// --- Sessions ---

TEST(MovingFromGitmem, SessionsBringTheirItemsToTheNextStart) {
  const Workspace workspace;
  workspace.write("old/.gitmem/sessions.json",
                  R"([{"id":"0b8f2c1e-5a77-4d0e-9a35-6f1d2c3b4a59","session_title":"Billing",)"
                  R"("close_compliance":{"close_type":"quick"},"decisions":["Keep it"],)"
                  R"("updated_at":")" +
                      std::string(workspace.shell("date -u +%FT%T.000Z").out_line()) +
                      R"(","open_threads":["Fix the printer"]}])");
  const Ran ran = workspace.run({"import", "old", "--json"});
  ASSERT_EQ(ran.code, 0) << ran;
  EXPECT_EQ(kinds_of(ran).at("sessions").at("taken").as_int64(), 1);
  const Ran started = workspace.run({"session", "start", "--json"});
  EXPECT_THAT(started.out, AllOf(HasSubstr("Fix the printer"), HasSubstr("Billing")));
}

// --- Several at once, and in place ---

TEST(MovingOverAtOnce, AFolderThatIsAllThreeIsTakenByOneCommand) {
  const Workspace workspace;
  boost::json::object expected;
  for (const char* maker : {kNova, "make_gitmem.py", "make_hq.py"}) {
    for (const auto& [kind, counts] : make_folder(workspace, maker, "part"))
      expected[kind] = counts;
    ASSERT_EQ(workspace.shell("mkdir -p old && cp -r part/. old/ && rm -r part").code, 0);
  }
  const Ran ran = workspace.run({"import", "old", "--json"});
  EXPECT_EQ(ran.code, 0) << ran;
  expect_counts(ran, expected);
  EXPECT_THAT(
      boost::json::serialize(ran.json().at("sources")),
      AllOf(HasSubstr("Nova workspace"), HasSubstr("gitmem project"), HasSubstr("HQ folder")));
}

TEST(MovingOverInPlace, AnHqFolderThatIsTheWorkspaceStaysAsItIs) {
  const Workspace workspace;
  make_folder(workspace, "make_hq.py");
  const auto files = [&] { return workspace.shell("cd old && find workspace -type f | sort").out; };
  const std::string before = files();
  const Ran ran = workspace.run({"--workspace", "old", "import", "old", "--json"});
  EXPECT_EQ(ran.code, 0) << ran;
  EXPECT_EQ(kinds_of(ran).at("checkpoints").at("taken").as_int64(), 0);
  EXPECT_EQ(files(), before);
}

// --- Links ---

TEST(MovingOverLinks, NothingIsReadFromOutsideTheFolder) {
  const Workspace workspace;
  workspace.write(
      "secret/threads/a1b2c3d4e5f6.jsonl",
      R"({"agentId":"a","createdAt":"2026-01-01T00:00:00Z","updatedAt":"2026-01-01T00:00:00Z"})"
      "\n");
  workspace.write("secret/usage.jsonl",
                  R"({"timestamp":"2026-01-01T00:00:00.000Z","agentId":"a","inputTokens":5})"
                  "\n");
  workspace.write("secret/items/threads.json", R"(["stolen"])");
  workspace.write("secret/store/a.json", R"({"name":"A"})");
  workspace.write("old/triggers.json", "[]");
  ASSERT_EQ(
      workspace
          .shell("cd old && ln -s ../secret agents && ln -s ../secret/threads threads && "
                 "ln -s ../secret/usage.jsonl usage.jsonl && ln -s ../secret/items .gitmem && "
                 "ln -s ../secret/store agent-store && mkdir workspace && "
                 "ln -s ../../secret workspace/threads")
          .code,
      0);
  const Ran ran = workspace.run({"import", "old", "--json"});
  EXPECT_EQ(ran.code, 1) << ran;
  for (const auto& [kind, row] : kinds_of(ran)) EXPECT_EQ(row.at("taken").as_int64(), 0) << kind;
  EXPECT_GE(ran.json().at("problems").as_array().size(), 5U) << ran;
  EXPECT_EQ(workspace.run({"thread", "list", "--json"}).out, "[]\n");
  EXPECT_THAT(workspace.run({"item", "list"}).out, Not(HasSubstr("stolen")));
}

TEST(MovingOverLinks, NothingIsWrittenThroughALinkOfTheWorkspace) {
  const Workspace workspace;
  workspace.write("old/agent-store/nova.json", R"({"name":"Nova"})");
  ASSERT_EQ(workspace.shell("mkdir -p elsewhere ws && ln -s ../elsewhere ws/agents").code, 0);
  const Ran ran = workspace.run({"--workspace", "ws", "import", "old", "--json"});
  EXPECT_EQ(ran.code, 1) << ran;
  EXPECT_EQ(workspace.shell("ls -A elsewhere").out, "");
}

TEST(MovingOverLinks, WhatIsInThePlaceOfACheckpointIsReported) {
  const Workspace workspace;
  make_folder(workspace, "make_hq.py");
  const Ran put = workspace.shell(
      "set -e\n"
      "mkdir -p workspace/threads\n"
      "names=$(cd old/workspace/threads && ls T-*.json | grep -Ev 'changeset|cut|huge|link' | head "
      "-2)\n"
      "set -- $names\n"
      "ln -s archive/gone.json \"workspace/threads/$1\"\n"
      "mkdir \"workspace/threads/$2\"\n");
  ASSERT_EQ(put.code, 0) << put;
  const Ran ran = workspace.run({"import", "old", "--json"});
  EXPECT_EQ(ran.code, 1) << ran;
  EXPECT_GE(kinds_of(ran).at("checkpoints").at("leftOut").as_int64(), 2) << ran;
  EXPECT_GT(kinds_of(ran).at("checkpoints").at("taken").as_int64(), 0) << ran;
  EXPECT_THAT(ran.out, HasSubstr("is not a regular file"));
}

TEST(MovingOverProgress, IsShownOnATerminal) {
  const Workspace workspace;
  make_folder(workspace, kNova);
  EXPECT_THAT(workspace.run_on_terminal({"import", "old"}).out, HasSubstr("importing ["));
}

}  // namespace
}  // namespace skein::test
