// How an agent with a loop of its own reaches the task that it works on.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <filesystem>

#include "program.h"

namespace skein::test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

// Stands for Claude Code: keeps what it was started with, and calls the tools of its servers as the
// file "calls" says.
constexpr const char* kEngine = R"(#!/usr/bin/env python3
import json, os, shutil, subprocess, sys

sys.stdin.read()
open("words", "w").write("\n".join(sys.argv))
answers = []
for word in sys.argv:
    if not word.startswith("--mcp-config="):
        continue
    shutil.copy(word.split("=", 1)[1], "servers.json")
    server = json.load(open("servers.json"))["mcpServers"]["skein_task"]
    environment = {"PATH": os.environ["PATH"], **server["env"]}
    process = subprocess.Popen([server["command"], *server["args"]], env=environment, cwd="/",
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    def ask(method, params):
        process.stdin.write(json.dumps({"jsonrpc": "2.0", "id": 1, "method": method,
                                        "params": params}) + "\n")
        process.stdin.flush()
        return json.loads(process.stdout.readline())["result"]
    ask("initialize", {"protocolVersion": "2025-11-25", "capabilities": {},
                       "clientInfo": {"name": "t", "version": "1"}})
    answers.append([tool["name"] for tool in ask("tools/list", {})["tools"]])
    for name, arguments in json.load(open("calls")):
        answers.append(ask("tools/call", {"name": name, "arguments": arguments}))
    process.stdin.close()
    process.wait()
json.dump(answers, open("answers", "w"))
print(json.dumps({"type": "result", "subtype": "success", "result": "Fine."}))
)";

class TaskServer : public OnEveryBackend {
 protected:
  TaskServer() {
    workspace_.write("engine.py", kEngine);
    fs::permissions(workspace_.path() / "engine.py", fs::perms::owner_all);
    workspace_.write("agents/helper/agent.json",
                     R"({"engine":"claude-code","options":{"program":"./engine.py"}})");
    workspace_.write("calls", "[]");
    workspace_.trust();
  }

  // Makes a task and runs it; as it is then.
  boost::json::value task() const {
    const Ran created = workspace_.run({"task", "create", "helper", "Write it"});
    EXPECT_EQ(created.code, 0) << created;
    return workspace_.run({"task", "list", "--json"}).json().at(0);
  }
  boost::json::value shown(const boost::json::value& task) const {
    return workspace_.run({"task", "show", std::string(task.at("id").as_string()), "--json"})
        .json();
  }
  boost::json::value answers() const { return boost::json::parse(workspace_.read("answers")); }
};
INSTANTIATE_ON_EVERY_BACKEND(TaskServer);

TEST_P(TaskServer, LetsAnAgentReadPlanAndCompleteTheTaskOfItsRun) {
  workspace_.write("calls", R"([["get_task",{}],
      ["update_task_steps",{"steps":[{"title":"Draft","done":true}]}],
      ["complete_task",{"note":"Sent"}]])");
  const Ran created = workspace_.run({"task", "create", "helper", "Write it"});
  ASSERT_EQ(created.code, 0) << created;
  const auto done = workspace_.run({"task", "history", "--json"}).json().at(0);
  EXPECT_EQ(done.at("status"), "done") << done;
  EXPECT_EQ(done.at("note"), "Sent");
  EXPECT_EQ(done.at_pointer("/steps/0/title"), "Draft");
  const auto answered = answers();
  EXPECT_EQ(answered.at(0),
            boost::json::parse(R"(["get_task","update_task_steps","complete_task"])"));
  EXPECT_THAT(boost::json::serialize(answered.at(1)), HasSubstr("Write it"));
  // What the store's URL may hold is for nobody who lists processes.
  EXPECT_THAT(workspace_.read("words"), Not(HasSubstr(GetParam() + ":")));
  const auto server =
      boost::json::parse(workspace_.read("servers.json")).at_pointer("/mcpServers/skein_task");
  EXPECT_THAT(boost::json::serialize(server.at("args")), Not(HasSubstr(GetParam() + ":")));
}

TEST_P(TaskServer, IsThereForTheThreadOfTheTaskAlone) {
  const auto own = task();
  ASSERT_TRUE(fs::remove(workspace_.path() / "servers.json"));
  EXPECT_EQ(workspace_.run({"run", "helper", "Hello"}).code, 0);
  // One that only names the task is not the one that it is worked on in.
  const std::string other =
      workspace_.create({"--agent", "helper", "--task-id", std::string(own.at("id").as_string())});
  EXPECT_EQ(workspace_.run({"run", "helper", "--thread", other, "Hello"}).code, 0);
  EXPECT_FALSE(fs::exists(workspace_.path() / "servers.json"));
  EXPECT_EQ(answers().as_array().size(), 0U);
}

TEST_P(TaskServer, DoesNothingAfterItsRunOrForAnotherTask) {
  const auto first = task();
  EXPECT_EQ(first.at("status"), "open") << first;
  const std::string run(first.at_pointer("/lastRun/runId").as_string());
  // While another task runs, its server is asked to complete the first one.
  workspace_.write(
      "calls", R"([["complete_task",{"id":")" + std::string(first.at("id").as_string()) + "\"}]]");
  ASSERT_EQ(workspace_.run({"task", "create", "helper", "Another"}).code, 0);
  EXPECT_EQ(shown(first).at("status"), "open");

  const std::string call =
      R"({"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25",)"
      R"("capabilities":{},"clientInfo":{"name":"t","version":"1"}}})"
      "\n"
      R"({"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"complete_task","arguments":{}}})"
      "\n";
  const Ran late = workspace_.run(
      {"mcp", "--task", std::string(first.at("id").as_string()), "--run", run}, call);
  EXPECT_THAT(late.out, HasSubstr("\"isError\":true")) << late;
  EXPECT_THAT(late.out, HasSubstr("success"));
  EXPECT_EQ(shown(first).at("status"), "open");
  EXPECT_EQ(workspace_.run({"mcp", "--task", "task-0000000000000000"}).code, 2);
}

}  // namespace
}  // namespace skein::test
