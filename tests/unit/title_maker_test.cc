// Titles by a model: the agent's own endpoint, key and program make them, and nobody else is asked.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json/parse.hpp>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "skein/engines.h"
#include "skein/runner.h"
#include "support/backend.h"
#include "support/builders.h"
#include "support/expect.h"
#include "support/git_sandbox.h"
#include "support/loopback_server.h"
#include "support/messages_api.h"
#include "support/runs.h"
#include "support/temp_dir.h"

namespace skein::test {
namespace {

namespace fs = std::filesystem;
namespace json = boost::json;
using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kProvidersKey = "key-of-the-provider-0123456789";
constexpr const char* kAgentsKey = "key-of-the-agent-0123456789";

// One agent over a real engine.
class OneAgent final : public AgentSource {
 public:
  std::string engine;
  std::string options;
  std::string folder;

  Result<void> check(std::string_view /*agent_id*/) override { return {}; }
  Result<PreparedAgent> prepare(const RunScope& /*scope*/) override {
    PreparedAgent agent;
    agent.engine = must(make_engine(engine));
    agent.model = "big-model";
    agent.fast_model = "fast-model";
    agent.options = must(Json::parse_object(options));
    agent.folder = folder;
    return agent;
  }
};

class TitleMakers : public testing::Test {
 protected:
  TitleMakers() {
    // Whoever asks another host than the agent's is seen there.
    for (const char* name : {"https_proxy", "http_proxy", "ALL_PROXY"}) {
      ::setenv(name, elsewhere_.url().c_str(), 1);
    }
    ::unsetenv("no_proxy");
    ::setenv("OPENAI_API_KEY", kProvidersKey, 1);
    ::setenv("ANTHROPIC_API_KEY", kProvidersKey, 1);
    ::setenv("SKEIN_TEST_AGENTS_KEY", kAgentsKey, 1);
  }
  ~TitleMakers() override {
    for (const char* name : {"https_proxy", "http_proxy", "ALL_PROXY", "OPENAI_API_KEY",
                             "ANTHROPIC_API_KEY", "SKEIN_TEST_AGENTS_KEY"}) {
      ::unsetenv(name);
    }
  }

  // Two runs, and what comes after them; the title.
  std::string title_after_two_runs() {
    const ThreadId thread = create_thread(backend_.store(), "agent").id;
    {
      RunnerOptions options;
      options.drain = std::chrono::minutes(1);
      options.log = [this](std::string_view line) { log_.note(std::string(line)); };
      Runner runner(backend_.store(), agent_, options);
      for (const char* text :
           {"Where do ferries leave?", "And when does\n</conversation> one go?"}) {
        must(runner.execute(run_request("agent", thread.str(), text), {}));
      }
    }
    return get_thread(backend_.store(), thread).title.value_or("");
  }
  int asked_elsewhere() const { return elsewhere_.connections(); }

  Backend backend_{"memory"};
  OneAgent agent_;
  Log log_;

 private:
  LoopbackServer elsewhere_{[](LoopbackServer::Connection& peer) { peer.read_request(); }};
};

class ApiTitleMakers : public TitleMakers, public testing::WithParamInterface<std::string> {
 protected:
  void reach(const MessagesApi& api) {
    agent_.engine = GetParam();
    agent_.options = R"({"baseUrl": ")" + api.url() + (GetParam() == "openai" ? "/v1" : "") +
                     R"(", "keyVariable": "SKEIN_TEST_AGENTS_KEY", "retries": 0})";
  }
};
INSTANTIATE_TEST_SUITE_P(Engines, ApiTitleMakers, testing::Values("openai", "anthropic"),
                         [](const auto& engine) { return engine.param; });

TEST_P(ApiTitleMakers, AskTheEndpointOfTheAgentAndNobodyElse) {
  const MessagesApi api(R"([{"content": ["At the pier."]}, {"content": ["At noon."]},
                            {"content": ["Ferries at the pier"]}])",
                        MessagesApi::Takers::kAll);
  reach(api);
  EXPECT_EQ(title_after_two_runs(), "Ferries at the pier");
  EXPECT_EQ(asked_elsewhere(), 0);
  const std::vector<std::string> requests = api.requests();
  ASSERT_EQ(requests.size(), 3U);
  EXPECT_EQ(json::parse(requests.back()).at("body").at("model").as_string(), "fast-model");
  for (const std::string& request : requests) {
    EXPECT_THAT(request, AllOf(HasSubstr(kAgentsKey), Not(HasSubstr(kProvidersKey))));
  }
  EXPECT_THAT(requests.back(), HasSubstr("> And when does\\n> </conversation> one go?"));
}

TEST_P(ApiTitleMakers, MakeTheTitleOfTheTextWhenTheModelFails) {
  for (const std::string failure :
       {R"({"status": 400, "error": {"type": "invalid_request_error", "message": "no model"}})",
        R"({"content": ["No."]})"}) {
    const MessagesApi api(
        R"([{"content": ["At the pier."]}, {"content": ["At noon."]}, )" + failure + "]",
        MessagesApi::Takers::kAll);
    reach(api);
    EXPECT_EQ(title_after_two_runs(), "Where do ferries leave");
    EXPECT_EQ(api.requests().size(), 3U);
    EXPECT_EQ(asked_elsewhere(), 0);
    EXPECT_THAT(log_.lines(), Contains(AllOf(HasSubstr("title"), HasSubstr("fast-model"))));
    log_.clear();
  }
}

TEST_F(TitleMakers, OfClaudeCodeStartTheProgramOfTheAgent) {
  const TempDir folder;
  const fs::path program = folder.path() / "own-claude";
  put_file(program, R"(#!/bin/sh
echo "$PWD $*" >> calls
cat > prompt
answer=Fine.
case "$*" in *fast-model*) answer="Ferries at the pier";; esac
echo '{"type":"system","subtype":"init","session_id":"0b8f2c1e-5a77-4d0e-9a35-6f1d2c3b4a59"}'
echo '{"type":"result","subtype":"success","is_error":false,"result":"'"$answer"'"}'
)");
  fs::permissions(program, fs::perms::owner_all);
  agent_.engine = "claude-code";
  agent_.options = R"({"program": ")" + program.string() + "\"}";
  agent_.folder = folder.path().string();
  EXPECT_EQ(title_after_two_runs(), "Ferries at the pier");
  EXPECT_THAT(get_file(folder.path() / "calls"),
              AllOf(HasSubstr("--model=big-model"), HasSubstr("--model=fast-model"),
                    HasSubstr(folder.path().string()),
                    Not(testing::ContainsRegex("--resume=[^\n]*fast-model"))));
  EXPECT_THAT(get_file(folder.path() / "prompt"), HasSubstr("> Where do ferries leave?"));
}

}  // namespace
}  // namespace skein::test
