// Moving over from other programs: folders as tests/moving/ makes them, and one command for each.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json/serialize.hpp>
#include <map>

#include "program.h"

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

constexpr const char* kNova = "make_nova.py --layout agent-store";
constexpr const char* kOlderNova = "make_nova.py --layout agents";

// Makes the folder `name`, and answers what an import has to find.
boost::json::object make(const Workspace& workspace, const std::string& arguments,
                         const std::string& name = "old") {
  const Ran made =
      workspace.shell("python3 '" SKEIN_SOURCE_DIR "/tests/moving/'" + arguments + " " + name);
  EXPECT_EQ(made.code, 0) << made;
  return made.json().as_object();
}

std::map<std::string, boost::json::object> kinds_of(const Ran& ran) {
  std::map<std::string, boost::json::object> kinds;
  const boost::json::value report = ran.json();
  for (const auto& row : report.at("kinds").as_array()) {
    kinds[std::string(row.at("kind").as_string())] = row.as_object();
  }
  return kinds;
}

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
  const auto expected = make(workspace_, GetParam().arguments);
  const Ran ran = workspace_.run({"import", "old", "--json"});
  EXPECT_EQ(ran.code, 0) << ran;
  expect_counts(ran, expected);
  EXPECT_THAT(ran.json().at("problems").as_array(), IsEmpty());
}

TEST_P(MovingOver, ASecondImportChangesNothingAndSaysSo) {
  const auto expected = make(workspace_, GetParam().arguments);
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
  const auto expected = make(workspace_, GetParam().arguments);
  const Ran dry = workspace_.run({"import", "old", "--dry-run", "--json"});
  EXPECT_EQ(dry.code, 0) << dry;
  expect_counts(dry, expected);
  EXPECT_EQ(workspace_.shell("ls -A . .skein").out, ".:\n.skein\nold\n\n.skein:\n");
  EXPECT_THAT(workspace_.run({"import", "old", "--dry-run"}).out,
              EndsWith("nothing was written (--dry-run)\n"));
}

TEST_P(MovingOver, ReportsWhatIsBrokenAndLosesNothingElse) {
  const auto expected = make(workspace_, GetParam().arguments + " --hostile");
  const std::string outside =
      workspace_.shell("find old old-outside -type f | sort | xargs -d '\\n' cksum").out;
  const Ran ran = workspace_.run({"import", "old", "--json"});
  EXPECT_EQ(ran.code, 1) << ran;
  expect_counts(ran, expected);
  EXPECT_THAT(ran.json().at("problems").as_array(), Not(IsEmpty()));
  EXPECT_EQ(workspace_.shell("find old old-outside -type f | sort | xargs -d '\\n' cksum").out,
            outside);
}

// --- What becomes of it ---

class MovingFromNova : public OnEveryBackend {
 protected:
  boost::json::array list(const std::string& what) const {
    return workspace_.run({what, "list", "--json"}).json().as_array();
  }
};
INSTANTIATE_ON_EVERY_BACKEND(MovingFromNova);

TEST_P(MovingFromNova, ThreadsUsageTasksAndTriggersAreThere) {
  const auto expected = make(workspace_, kOlderNova);
  ASSERT_EQ(workspace_.run({"import", "old"}).code, 0);
  // Tasks without a thread got one.
  const auto tasks = list("task");
  EXPECT_EQ(tasks.size(), expected.at("tasks").at("taken").as_int64());
  EXPECT_EQ(list("trigger").size(), expected.at("triggers").at("taken").as_int64());
  const auto usage = workspace_.run({"usage", "--json"}).json();
  EXPECT_EQ(usage.at("all").at("runs"), expected.at("usage records").at("taken"));
  std::size_t bound = 0;
  for (const auto& task : tasks) {
    const std::string thread(task.at("threadId").as_string());
    const auto shown = workspace_.run({"thread", "show", thread, "--json"}).json().as_object();
    bound += shown.contains("taskId") && shown.at("taskId") == task.at("id") ? 1 : 0;
  }
  EXPECT_GE(bound, tasks.size() / 2);
}

// Of one moment. Those of "205" and "673" have the same 20 bits of hash here.
std::string source_task(const std::string& id, const std::string& members = "") {
  return R"({"id":")" + id + R"(","title":"T)" + id +
         R"(","description":"Do it","owner":"nova","status":"active",)" + members +
         R"("createdAt":"2026-01-01T00:00:00.000Z"})";
}

TEST_P(MovingFromNova, TasksOfOneMomentGetDifferentIds) {
  workspace_.write("old/tasks/tasks.json",
                   R"({"tasks":[)" + source_task("205") + "," + source_task("673") + "]}");
  ASSERT_EQ(workspace_.run({"import", "old"}).code, 0);
  EXPECT_THAT(list("task"), SizeIs(2));
  EXPECT_THAT(workspace_.run({"import", "old"}).out, EndsWith("nothing changed\n"));
}

TEST_P(MovingFromNova, TasksKeepTheirIdsWhenTheyMoveToTheHistory) {
  workspace_.write("old/tasks/tasks.json",
                   R"({"tasks":[)" + source_task("205") + "," + source_task("673") + "]}");
  ASSERT_EQ(workspace_.run({"import", "old"}).code, 0);
  workspace_.write("old/tasks/tasks.json", R"({"tasks":[)" + source_task("673") + "," +
                                               source_task("9", R"("parentTaskId":"205",)") + "]}");
  workspace_.write("old/tasks/history.jsonl", source_task("205") + "\n");
  ASSERT_EQ(workspace_.run({"import", "old"}).code, 0);
  std::map<std::string, boost::json::object> tasks;
  for (const auto& task : list("task")) {
    tasks[std::string(task.at("title").as_string())] = task.as_object();
  }
  ASSERT_THAT(tasks, SizeIs(3));
  EXPECT_EQ(tasks["T9"].at("parentTaskId"), tasks["T205"].at("id"));
}

TEST_P(MovingFromNova, ReportsATaskIdThatIsThereTwice) {
  workspace_.write("old/tasks/history.jsonl", source_task("7") + "\n" + source_task("7") + "\n");
  const Ran ran = workspace_.run({"import", "old"});
  EXPECT_THAT(ran.out + ran.err, HasSubstr(R"(duplicate task id "7" (line 2); remove one)"));
  EXPECT_THAT(list("task"), SizeIs(1));
}

// Version 0.1 imported threads and left tasks out.
TEST_P(MovingFromNova, AThreadThatWasImportedBeforeNamesTheTaskHere) {
  workspace_.write("old/threads/a1b2c3d4e5f6.jsonl",
                   R"({"id":"a1b2c3d4e5f6","agentId":"nova","taskId":"7",)"
                   R"("createdAt":"2026-01-01T00:00:00Z","updatedAt":"2026-01-01T00:00:00Z"})"
                   "\n");
  ASSERT_EQ(workspace_.run({"import", "old"}).code, 0);
  const auto task_of_thread = [&] {
    return workspace_.run({"thread", "show", "a1b2c3d4e5f6", "--json"}).json().at("taskId");
  };
  ASSERT_EQ(task_of_thread(), "7");
  workspace_.write("old/tasks/tasks.json",
                   R"({"tasks":[{"id":"7","title":"T","description":"Do it","owner":"nova",)"
                   R"("status":"active","threadId":"a1b2c3d4e5f6",)"
                   R"("createdAt":"2026-01-01T00:00:00.000Z"}],"nextId":8})");
  ASSERT_EQ(workspace_.run({"import", "old"}).code, 0);
  EXPECT_EQ(task_of_thread(), list("task").at(0).at("id"));
}

TEST_P(MovingFromNova, AThreadOfATaskNamesTheTaskHere) {
  workspace_.write("old/tasks/tasks.json",
                   R"({"tasks":[{"id":"7","title":"T","description":"Do it","owner":"nova",)"
                   R"("createdBy":"user","status":"active","threadId":"a1b2c3d4e5f6",)"
                   R"("createdAt":"2026-01-01T00:00:00.000Z"}],"nextId":8})");
  workspace_.write("old/threads/a1b2c3d4e5f6.jsonl",
                   R"({"id":"a1b2c3d4e5f6","agentId":"nova","taskId":"7",)"
                   R"("createdAt":"2026-01-01T00:00:00Z","updatedAt":"2026-01-01T00:00:00Z"})"
                   "\n");
  ASSERT_EQ(workspace_.run({"import", "old"}).code, 0);
  const auto tasks = list("task");
  ASSERT_THAT(tasks, SizeIs(1));
  EXPECT_EQ(workspace_.run({"thread", "show", "a1b2c3d4e5f6", "--json"}).json().at("taskId"),
            tasks[0].at("id"));
}

TEST_P(MovingFromNova, AgentsTriggersAndTasksAreInactiveUntilTrusted) {
  make(workspace_, kNova);
  const Ran ran = workspace_.run({"import", "old"});
  ASSERT_EQ(ran.code, 0) << ran;
  EXPECT_THAT(ran.out,
              AllOf(HasSubstr("inactive until you review them"), HasSubstr("skein trust")));
  const Ran refused = workspace_.run({"run", "nova", "hi"});
  EXPECT_EQ(refused.code, 1) << refused;
  EXPECT_THAT(refused.err, HasSubstr("not trusted"));
  for (const auto& trigger : list("trigger")) {
    EXPECT_THAT(std::string(trigger.at("problem").as_string()), HasSubstr("never fires"));
  }
  const std::string task(list("task")[0].at("id").as_string());
  EXPECT_EQ(workspace_.run({"task", "run", task}).code, 4);
  EXPECT_THAT(workspace_.run({"trust", "--print"}).out, Not(IsEmpty()));
}

TEST_P(MovingFromNova, ReportsWhatOfAnAgentHasNoCounterpart) {
  workspace_.write(
      "old/agent-store/nova.json",
      R"({"id":"nova","name":"Nova","identity":"You are Nova.","instructions":"Be brief.",)"
      R"("responsibilities":[{"title":"Mail","content":"Sort it"}],"trust":"unrestricted",)"
      R"("model":"opus","skills":["review"],"capabilities":{"audio":{}},"mood":"calm"})");
  const Ran ran = workspace_.run({"import", "old"});
  EXPECT_EQ(ran.code, 0) << ran;
  EXPECT_THAT(ran.out, AllOf(HasSubstr("capabilities.audio"), HasSubstr("skills"),
                             HasSubstr("mood"), HasSubstr("trust: unrestricted")));
  const auto agent = workspace_.run({"agent", "show", "nova", "--json"}).json();
  EXPECT_EQ(agent.at("engine").as_string(), "claude-code");
  EXPECT_EQ(agent.at("model").as_string(), "opus");
  EXPECT_THAT(
      std::string(agent.at("system").as_string()),
      AllOf(HasSubstr("You are Nova."), HasSubstr("Be brief."), HasSubstr("Mail: Sort it")));
  EXPECT_EQ(agent.at("options").at("permissionMode").as_string(), "dontAsk");
}

TEST_P(MovingFromNova, AnAgentMayDoWhatItsLevelAllowsAndNoMoreThanTheSecond) {
  for (const char* level : {"sandbox", "controlled", "unrestricted"}) {
    workspace_.write("old/agent-store/" + std::string(level) + ".json",
                     R"({"name":"A","trust":")" + std::string(level) + R"("})");
  }
  ASSERT_EQ(workspace_.run({"import", "old"}).code, 0);
  const auto options = [this](const char* agent) {
    return boost::json::serialize(
        workspace_.run({"agent", "show", agent, "--json"}).json().at("options"));
  };
  for (const char* agent : {"sandbox", "controlled", "unrestricted"}) {
    EXPECT_THAT(options(agent),
                AllOf(HasSubstr(R"("permissionMode":"dontAsk")"), HasSubstr("WebSearch"),
                      HasSubstr(R"("disallowedTools":["Bash","Task"])")))
        << agent;
  }
  EXPECT_THAT(options("sandbox"), Not(HasSubstr("Write")));
  EXPECT_THAT(options("controlled"), AllOf(HasSubstr("Read"), HasSubstr("Write")));
  EXPECT_THAT(options("unrestricted"), Not(HasSubstr("Write"))) << "it arrives as sandbox";
}

TEST_P(MovingFromNova, LeavesADefinitionThatIsThereAsItIs) {
  ASSERT_EQ(workspace_.run({"agent", "add", "nova", "--engine", "echo"}).code, 0);
  const std::string before = workspace_.read("agents/nova/agent.json");
  workspace_.write("old/agent-store/nova.json", R"({"name":"Nova"})");
  const Ran ran = workspace_.run({"import", "old"});
  EXPECT_EQ(ran.code, 4) << ran;
  EXPECT_EQ(workspace_.read("agents/nova/agent.json"), before);
}

TEST_P(MovingFromNova, TriggersWithoutAZoneGetThatOfTheSystem) {
  workspace_.write("old/triggers.json",
                   R"([{"id":"daily","agentId":"nova","cron":"0 9 * * *","prompt":"Report"}])");
  const Ran ran = workspace_.shell("TZ=:Europe/Berlin skein import old");
  ASSERT_EQ(ran.code, 0) << ran;
  EXPECT_EQ(list("trigger").at(0).at("zone").as_string(), "Europe/Berlin");
}

TEST_P(MovingFromNova, UsageThatWasImportedTwiceCountsOnce) {
  const std::string line =
      R"({"timestamp":"2026-01-01T00:00:00.000Z","agentId":"nova","inputTokens":5,"outputTokens":1})"
      "\n";
  workspace_.write("old/usage.jsonl", line + line);  // two runs that look the same
  ASSERT_EQ(workspace_.run({"import", "old"}).code, 0);
  workspace_.write("old/usage.jsonl", line + line + line);
  EXPECT_EQ(kinds_of(workspace_.run({"import", "old", "--json"})).at("usage records").at("taken"),
            1);
  EXPECT_EQ(workspace_.run({"usage", "--json"}).json().at("all").at("inputTokens"), 15);
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
    for (const auto& [kind, counts] : make(workspace, maker, "part")) expected[kind] = counts;
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
  make(workspace, "make_hq.py");
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
  make(workspace, "make_hq.py");
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
  make(workspace, kNova);
  EXPECT_THAT(workspace.run_on_terminal({"import", "old"}).out, HasSubstr("importing ["));
}

}  // namespace
}  // namespace skein::test
