// An agent that nobody trusts does nothing, whoever asks a server for it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <thread>

#include "api/signing_secret.h"
#include "api/unsigned_records.h"
#include "runner/trigger_records.h"
#include "serving.h"
#include "store/record_access.h"
#include "support/builders.h"
#include "support/expect.h"

namespace skein::test {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

// `helper` executes a program that leaves a mark; `sender` sends to a server that is not there.
class UntrustedAgents : public testing::Test {
 protected:
  UntrustedAgents() {
    workspace_.write("engine.sh", "#!/bin/sh\ntouch ran\n");
    fs::permissions(workspace_.path() / "engine.sh", fs::perms::owner_all);
    workspace_.write("agents/helper/agent.json",
                     R"({"engine":"claude-code","options":{"program":"./engine.sh"}})");
    workspace_.write("agents/sender/agent.json",
                     R"({"engine":"openai","model":"m","titleModel":"m",
                         "options":{"baseUrl":"http://127.0.0.1:9"}})");
  }

  bool ran() const { return fs::exists(workspace_.path() / "ran"); }
  std::string url() const { return "sqlite:" + (workspace_.path() / ".skein/skein.db").string(); }
  static std::string text(const char* body, const std::string& agent) {
    std::string text(body);
    for (std::size_t at = text.find('@'); at != std::string::npos; at = text.find('@')) {
      text.replace(at, 1, agent);
    }
    return text;
  }
  // A trigger of the user's own that has been due every minute for three minutes.
  void write_due_trigger(const std::string& agent) const {
    Trigger trigger;
    trigger.id = "trigger-0000000000000001";
    trigger.agent_id = agent;
    trigger.cron = "* * * * *";
    trigger.zone = "UTC";
    trigger.text = "hi";
    trigger.created_at = {system_clock().now().us - 180'000'000};
    Settings settings;
    settings.workspace = workspace_.path();
    settings.store_url = url();
    const auto signer = workspace_signer(settings);
    must(must(open_store(url()))
             ->write(std::vector{must(put_signed(signer.get(), kTriggers, trigger.id,
                                                 trigger_json(trigger), Version{0}))}));
  }
  std::vector<Firing> ended_firings() const {
    std::vector<Firing> firings;
    for (const Record& record : scan_all(*must(open_store(url())), kFirings)) {
      firings.push_back(must(parse_firing(record)));
      if (firings.back().status == FiringStatus::kClaimed) firings.pop_back();
    }
    return firings;
  }

  const Workspace workspace_;
};

TEST_F(UntrustedAgents, AreInertOverRest) {
  Serving server(workspace_);
  for (const std::string agent : {"helper", "sender"}) {
    for (const char* target : {"/v1/runs?wait=true", "/v1/runs"}) {
      const Answered run =
          server.ask("POST", target, text(R"({"agentId":"@","text":"hi"})", agent));
      EXPECT_GE(run.status, 400) << target << run;
      EXPECT_THAT(run.body, AllOf(HasSubstr("agent \\\"" + agent), HasSubstr("skein trust")));
    }
    const Answered task =
        server.ask("POST", "/v1/tasks", text(R"({"agentId":"@","text":"hi"})", agent));
    if (task.status < 300) {
      const std::string id(task.json().at("id").as_string());
      const Answered run = server.ask("POST", "/v1/tasks/" + id + "/runs", "{}");
      EXPECT_GE(run.status, 400) << run;
      EXPECT_THAT(run.body, HasSubstr("skein trust"));
    }
  }
  server.stop();
  EXPECT_FALSE(ran());
}

TEST_F(UntrustedAgents, AreInertOverLangGraph) {
  Serving server(workspace_);
  for (const std::string agent : {"helper", "sender"}) {
    const std::string body = text(R"({"assistant_id":"@","input":{"messages":"hi"}})", agent);
    const std::string thread(
        server.ask("POST", "/threads", "{}").json().at("thread_id").as_string());
    const std::string on_thread = "/threads/" + thread + "/runs";
    for (const std::string& target :
         std::vector<std::string>{"/runs/wait", "/runs/stream", "/runs", on_thread + "/wait",
                                  on_thread + "/stream", on_thread}) {
      const Answered run = server.ask("POST", target, body);
      EXPECT_GE(run.status, 400) << target << run;
      EXPECT_THAT(run.body, AllOf(HasSubstr("agent \\\"" + agent), HasSubstr("skein trust")))
          << target;
    }
  }
  server.stop();
  EXPECT_FALSE(ran());
}

TEST_F(UntrustedAgents, AreInertWhenATriggerIsDue) {
  workspace_.create();
  write_due_trigger("helper");
  Serving server(workspace_);
  while (ended_firings().empty()) std::this_thread::sleep_for(10ms);
  const Ran ran = server.stop();
  EXPECT_THAT(ended_firings().front().error, HasSubstr("skein trust"));
  EXPECT_FALSE(this->ran()) << ran;
}

// As by a git pull.
TEST_F(UntrustedAgents, DefinitionThatChangesUnderAServerIsInert) {
  workspace_.create();
  workspace_.trust();
  Serving server(workspace_);
  workspace_.write("theirs.sh", "#!/bin/sh\ntouch ran\n");
  fs::permissions(workspace_.path() / "theirs.sh", fs::perms::owner_all);
  workspace_.write("agents/helper/agent.json",
                   R"({"engine":"claude-code","options":{"program":"./theirs.sh"}})");
  write_due_trigger("helper");
  while (ended_firings().empty()) std::this_thread::sleep_for(10ms);
  const Ran stopped = server.stop();
  EXPECT_FALSE(ran());
  EXPECT_EQ(ended_firings().front().status, FiringStatus::kFailed);
  const std::string notice = "changed since it was trusted";
  const std::size_t at = stopped.err.find(notice);
  ASSERT_NE(at, std::string::npos) << stopped;
  EXPECT_THAT(stopped.err, AllOf(HasSubstr("agents/helper/agent.json"), HasSubstr("skein trust")));
  EXPECT_EQ(stopped.err.find(notice, at + 1), std::string::npos) << stopped;
}

TEST_F(UntrustedAgents, ProgramThatChangesUnderAServerIsInert) {
  workspace_.trust();
  Serving server(workspace_);
  workspace_.write("engine.sh", "#!/bin/sh\ntouch ran # theirs\n");
  const Answered run =
      server.ask("POST", "/v1/runs?wait=true", R"({"agentId":"helper","text":"hi"})");
  EXPECT_THAT(run.body, AllOf(HasSubstr("engine.sh"), HasSubstr("skein trust"))) << run;
  server.stop();
  EXPECT_FALSE(ran());
}

TEST_F(UntrustedAgents, DefinitionThatIsTrustedAgainNeedsARestartOfTheServer) {
  workspace_.trust();
  Serving server(workspace_);
  workspace_.write("agents/helper/agent.json",
                   R"({"engine":"claude-code","options":{"program":"/bin/true"}})");
  workspace_.trust();
  const Answered run =
      server.ask("POST", "/v1/runs?wait=true", R"({"agentId":"helper","text":"hi"})");
  EXPECT_THAT(run.body, AllOf(HasSubstr("agents/helper/agent.json"), HasSubstr("restart"))) << run;
  EXPECT_FALSE(ran());
}

TEST_F(UntrustedAgents, DefinitionThatIsRemovedUnderAServerIsInert) {
  workspace_.trust();
  Serving server(workspace_);
  fs::remove_all(workspace_.path() / "agents/helper");
  const Answered run =
      server.ask("POST", "/v1/runs?wait=true", R"({"agentId":"helper","text":"hi"})");
  EXPECT_THAT(run.body, HasSubstr("was removed")) << run;
  EXPECT_FALSE(ran());
}

// The same for definitions in the configuration.
TEST_F(UntrustedAgents, ConfiguredDefinitionThatChangesUnderAServerIsInert) {
  const auto configure = [&](const std::string& program) {
    workspace_.write(".skein/config.json",
                     R"({"agents":{"coder":{"engine":"claude-code","options":{"program":")" +
                         program + R"("}}}})");
  };
  configure("/bin/true");
  workspace_.trust();
  Serving server(workspace_);
  configure("./engine.sh");
  const Answered run =
      server.ask("POST", "/v1/runs?wait=true", R"({"agentId":"coder","text":"hi"})");
  EXPECT_THAT(run.body, AllOf(HasSubstr("config.json"), HasSubstr("skein trust"))) << run;
  server.stop();
  EXPECT_FALSE(ran());
}

}  // namespace
}  // namespace skein::test
