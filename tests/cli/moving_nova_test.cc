// What becomes of a Nova workspace.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json/serialize.hpp>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>

#include "api/service.h"
#include "moving.h"
#include "protocol/claude_code.h"
#include "support/expect.h"
#include "support/manual_clock.h"
#include "support/messages_api.h"

namespace skein::test {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

class MovingFromNova : public OnEveryBackend {
 protected:
  boost::json::array list(const std::string& what) const {
    return workspace_.run({what, "list", "--json"}).json().as_array();
  }
};
INSTANTIATE_ON_EVERY_BACKEND(MovingFromNova);

TEST_P(MovingFromNova, ThreadsUsageTasksAndTriggersAreThere) {
  const auto expected = make_folder(workspace_, kOlderNova);
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

// Older versions wrote no "agentId". In <agent>/threads/ the folder says whose a thread is; in the
// flat layout nothing does.
TEST_P(MovingFromNova, AFlatThreadWithoutAnAgentGoesToTheDefaultOne) {
  const std::string line = R"({"createdAt":"2026-01-01T00:00:00Z"})"
                           "\n";
  workspace_.write("nova/agent-store/mia.json", R"({"name":"Mia"})");
  workspace_.write("nova/threads/a00000000001.jsonl", line);
  workspace_.write("nova/agents/mia/threads/a00000000002.jsonl", line);
  workspace_.write(".nova/threads/a00000000003.jsonl", line);
  workspace_.write("lea/threads/a00000000004.jsonl", line);
  workspace_.write("agents-of-nova/agents/tom/triggers.json", "[]");
  workspace_.write("agents-of-nova/agents/tom/threads/a00000000005.jsonl", line);
  workspace_.write("agents-of-nova/threads/a00000000006.jsonl", line);
  workspace_.write("agents-of-nova/threads/a00000000007.jsonl",
                   R"({"agentId":"eve","createdAt":"2026-01-01T00:00:00Z"})"
                   "\n");

  const Ran ran = workspace_.run({"import", "nova", ".nova", "lea", "agents-of-nova/agents/tom",
                                  "agents-of-nova/threads/a00000000006.jsonl"});
  ASSERT_EQ(ran.code, 0) << ran;
  EXPECT_THAT(ran.out, HasSubstr("3 threads name no agent and belong to default "));
  const Ran named = workspace_.run({"import", "agents-of-nova", ".nova", "--agent", "other"});
  ASSERT_EQ(named.code, 0) << "a thread that was taken keeps its agent" << named;
  EXPECT_THAT(named.out, Not(HasSubstr("name no agent")));
  const std::map<std::string, std::string> owners = {
      {"a00000000001", "default"}, {"a00000000002", "mia"}, {"a00000000003", "default"},
      {"a00000000004", "lea"},     {"a00000000005", "tom"}, {"a00000000006", "default"},
      {"a00000000007", "eve"}};
  for (const auto& [thread, agent] : owners) {
    EXPECT_EQ(workspace_.run({"thread", "show", thread, "--json"}).json().at("agentId").as_string(),
              agent)
        << thread;
  }
}

TEST_P(MovingFromNova, AFlatThreadWithoutAnAgentGoesToTheOneThatIsNamed) {
  workspace_.write(".nova/threads/a00000000001.jsonl", R"({"createdAt":"2026-01-01T00:00:00Z"})"
                                                       "\n");
  const std::vector<std::string> command = {"import", ".nova", "--agent", "nova", "--json"};
  const Ran ran = workspace_.run(command);
  ASSERT_EQ(ran.code, 0) << ran;
  EXPECT_EQ(boost::json::serialize(ran.json().at("withoutAgent")),
            R"({"threads":1,"agent":"nova"})");
  EXPECT_EQ(workspace_.run(command).json().at("withoutAgent").at("threads"), 0);
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
  make_folder(workspace_, kNova);
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

// --- What it does then ---

// Variables of this process, and of those that it starts.
class Variables {
 public:
  ~Variables() {
    for (const auto& [name, value] : before_) {
      value ? ::setenv(name.c_str(), value->c_str(), 1) : ::unsetenv(name.c_str());
    }
  }
  void set(const std::string& name, const std::string& value) {
    const char* before = std::getenv(name.c_str());
    before_.emplace_back(name,
                         before != nullptr ? std::optional<std::string>(before) : std::nullopt);
    ::setenv(name.c_str(), value.c_str(), 1);
  }

 private:
  std::vector<std::pair<std::string, std::optional<std::string>>> before_;
};

// Does what a server does at the moment when the trigger is due; the thread of the run.
std::string fire_when_due(const SettingsRequest& workspace, const std::string& trigger) {
  const Settings settings = must(resolve_settings(workspace));
  const auto store = must(open_settled_store(settings, IfMissing::kRefuse));
  Service service(settings, *store);
  ManualClock clock;
  const Timestamp due = must(service.triggers().show(trigger)).next.value();
  clock.set_wall_by(std::chrono::milliseconds(due.ms() - clock.now().ms()));
  Scheduler scheduler(*store,
                      [&](const RunRequest& request) { return service.runner().start(request); },
                      {.clock = &clock, .signer = settings.signer});
  must(scheduler.tick());
  const Firing fired = must(service.triggers().show(trigger)).last.value();
  EXPECT_EQ(fired.status, FiringStatus::kStarted) << fired.error;
  must(service.runner().wait(fired.run_id));
  return fired.thread_id;
}

// Nova's agents become agents of the real Claude Code, here on an imitation of its API.
TEST_P(MovingFromNova, IsAtWorkOnceTrusted) {
  workspace_.write("old/agent-store/mia.json",
                   R"({"name":"Mia","identity":"You are Mia.","trust":"controlled"})");
  workspace_.write("old/threads/a1b2c3d4e5f6.jsonl",
                   R"({"agentId":"mia","createdAt":"2026-01-01T00:00:00Z"}
{"type":"message","role":"user","text":"My cat is called Ada.","timestamp":"2026-01-01T00:00:00Z"}
{"type":"message","role":"assistant","text":"Noted.","timestamp":"2026-01-01T00:00:01Z"}
)");
  workspace_.write("old/triggers.json",
                   R"([{"id":"daily","agentId":"mia","cron":"0 9 * * *","prompt":"Any news?"}])");
  workspace_.write("old/tasks/tasks.json",
                   R"({"tasks":[{"id":"1","title":"Notes","description":"Write the notes",)"
                   R"("owner":"mia","status":"active","createdAt":"2026-01-01T00:00:00Z"}]})");
  const MessagesApi api(R"([{"content": ["Hello Mia."]}, {"content": ["Ada."]},
                            {"content": ["Written."]}, {"content": ["No news."]}])");
  const TempDir user;
  const std::filesystem::path& home = user.path();
  std::filesystem::create_symlink(claude_program(), home / "claude");
  Variables variables;
  variables.set("PATH", home.string() + ":" + std::getenv("PATH"));
  variables.set("HOME", home.string());
  variables.set("CLAUDE_CONFIG_DIR", (home / ".claude").string());
  variables.set("ANTHROPIC_BASE_URL", api.url());
  variables.set("ANTHROPIC_API_KEY", "a-key-for-tests");
  variables.set("ANTHROPIC_AUTH_TOKEN", "");
  variables.set("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1");
  variables.set("DISABLE_AUTOUPDATER", "1");

  ASSERT_EQ(workspace_.run({"import", "old"}).code, 0);
  const std::string trigger(list("trigger").at(0).at("id").as_string());
  const std::string task(list("task").at(0).at("id").as_string());
  for (const std::vector<std::string>& command : std::vector<std::vector<std::string>>{
           {"run", "mia", "Hi"}, {"task", "run", task}, {"trigger", "enable", trigger}}) {
    EXPECT_NE(workspace_.run(command).code, 0) << "before trust: " << command[0];
  }
  ASSERT_TRUE(api.requests().empty()) << "nothing may be sent before trust";
  workspace_.trust();

  const auto answer = [&](std::vector<std::string> command) {
    const Ran ran = workspace_.run(std::move(command));
    EXPECT_EQ(ran.code, 0) << ran;
    return ran.out;
  };
  EXPECT_THAT(answer({"run", "mia", "Hi"}), HasSubstr("Hello Mia."));
  EXPECT_THAT(answer({"run", "mia", "Its name?", "--thread", "a1b2c3d4e5f6"}), HasSubstr("Ada."));
  EXPECT_THAT(answer({"task", "run", task}), HasSubstr("Written."));
  answer({"trigger", "enable", trigger});
  SettingsRequest request;
  request.store = workspace_.url(GetParam(), "store");
  request.workspace = workspace_.path().string();
  EXPECT_THAT(workspace_.texts(fire_when_due(request, trigger)), Contains("No news."));

  std::string asked;
  for (const std::string& sent : api.requests()) asked += sent + "\n";
  for (const char* part :
       {"You are Mia.", "My cat is called Ada.", "Write the notes", "Any news?"}) {
    EXPECT_THAT(asked, HasSubstr(part));
  }
}

}  // namespace
}  // namespace skein::test
