#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "skein/engines.h"
#include "support/engine_listener.h"
#include "support/expect.h"

namespace skein::test {
namespace {

using testing::ElementsAre;

class EchoEngine : public testing::Test {
 protected:
  Result<EngineTurn> run(const EngineRequest& request, std::stop_token stop = {}) {
    return engine_->run(request, listener_, stop);
  }
  Result<EngineTurn> run(std::string text, std::string_view options) {
    EngineRequest request = asking(std::move(text));
    request.options = must(Json::parse_object(options));
    return run(request);
  }

  std::shared_ptr<Engine> engine_ = must(make_engine("echo"));
  EngineListener listener_;
};

TEST_F(EchoEngine, SaysTheNewestUserMessageWordByWord) {
  EngineRequest request = asking("older");
  request.messages.push_back({.role = Role::kAssistant, .text = "older"});
  request.messages.push_back({.role = Role::kUser, .text = "one two\n three"});
  const EngineTurn turn = must(run(request));
  EXPECT_EQ(turn.text, "one two\n three");
  EXPECT_EQ(turn.end, TurnEnd::kDone);
  EXPECT_EQ(turn.model, "echo");
  EXPECT_EQ(turn.usage.input_tokens, 5);
  EXPECT_EQ(turn.usage.output_tokens, 3);
  EXPECT_EQ(turn.session_id, std::nullopt);
  EXPECT_THAT(listener_.told, ElementsAre("text one ", "text two\n ", "text three"));
}

TEST_F(EchoEngine, HasNothingToSayWhenItWasToldNothing) {
  EXPECT_EQ(must(run(EngineRequest{})).text, "");
  EXPECT_TRUE(listener_.told.empty());
}

TEST_F(EchoEngine, CallsToolsWhenToldToAndThenSaysTheirResults) {
  EngineRequest request = asking("/tool add {\"a\": 1}\n/tool now");
  const EngineTurn turn = must(run(request));
  EXPECT_EQ(turn.end, TurnEnd::kToolCalls);
  ASSERT_EQ(turn.calls.size(), 2U);
  EXPECT_EQ(turn.calls[0].name, "add");
  EXPECT_EQ(turn.calls[0].input.text(), "{\"a\": 1}");
  EXPECT_EQ(turn.calls[1].name, "now");
  EXPECT_EQ(turn.calls[1].input.text(), "{}");
  EXPECT_NE(turn.calls[0].id, turn.calls[1].id);

  request.messages.push_back({.role = Role::kAssistant, .text = "", .calls = turn.calls});
  for (const ToolCall& call : turn.calls) {
    request.messages.push_back(
        {.role = Role::kTool, .text = "did " + call.name, .tool_call_id = call.id});
  }
  const EngineTurn answer = must(run(request));
  EXPECT_EQ(answer.text, "did add\ndid now");
  EXPECT_TRUE(answer.calls.empty());
}

TEST_F(EchoEngine, CallsAToolInEveryTurnWhenToldTo) {
  EngineRequest request = asking("/again poke {}");
  request.messages.push_back({.role = Role::kTool, .text = "ouch", .tool_call_id = "x"});
  EXPECT_EQ(must(run(request)).end, TurnEnd::kToolCalls);
}

TEST_F(EchoEngine, TellsOfInputForAToolThatIsNoObject) {
  const EngineTurn turn = must(run(asking("/tool add {\"a\":")));
  ASSERT_EQ(turn.calls.size(), 1U);
  EXPECT_TRUE(turn.calls[0].input.empty());
  EXPECT_EQ(turn.calls[0].malformed, "{\"a\":");
}

TEST_F(EchoEngine, FailsWhenToldTo) {
  EXPECT_TRUE(fails(run(asking("/fail no luck")), ErrorCode::kIo, {"no luck"}));
  EXPECT_TRUE(fails(run("a b c", R"({"failAfter": 2})"), ErrorCode::kIo));
  EXPECT_THAT(listener_.told, ElementsAre("text a ", "text b "));
}

TEST_F(EchoEngine, DoesAsItsOptionsSay) {
  const EngineTurn turn =
      must(run("x", R"({"repeat": 3, "reply": "la ", "thinking": "hm", "costUsd": 0.5})"));
  EXPECT_EQ(turn.text, "la la la ");
  EXPECT_EQ(turn.usage.cost_usd, 0.5);
  EXPECT_EQ(listener_.thinking, "hm");
  EXPECT_TRUE(fails(run("x", R"({"repeat": 0})"), ErrorCode::kInvalid, {"options.repeat"}));
  EXPECT_TRUE(fails(run("x", R"({"repat": 2})"), ErrorCode::kInvalid, {"repat"}));
}

TEST_F(EchoEngine, HasALimitOnWhatItSays) {
  EXPECT_TRUE(
      fails(run(std::string(100'000, 'x'), R"({"repeat": 1000})"), ErrorCode::kIo, {"bytes"}));
}

TEST_F(EchoEngine, StopsWhileItWaits) {
  EngineRequest request = asking("one two");
  request.options = must(Json::parse_object(R"({"delayMs": 60000})"));
  std::stop_source stop;
  const std::jthread stopper([&] { stop.request_stop(); });
  EXPECT_FALSE(run(request, stop.get_token()).has_value());
}

TEST_F(EchoEngine, EndsWhenItsListenerHasEnough) {
  listener_.go_on = [&] { return listener_.told.size() < 2; };
  EXPECT_FALSE(run(asking("one two three")).has_value());
  EXPECT_EQ(listener_.told.size(), 2U);
}

TEST(Engines, AreMadeByName) {
  for (const std::string& name : engine_names()) {
    EXPECT_EQ(must(make_engine(name))->name(), name);
  }
  EXPECT_TRUE(fails(make_engine("magic"), ErrorCode::kNotFound, {"magic", "echo"}));
}

}  // namespace
}  // namespace skein::test
