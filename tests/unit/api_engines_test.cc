// What the engines over HTTP have in common: one list of cases for both.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json/serialize.hpp>
#include <thread>

#include "engine/api_stream.h"
#include "support/api_engine.h"

namespace skein::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;

class ApiEngines : public testing::TestWithParam<std::string> {
 protected:
  ApiEngine with(std::string_view script) { return ApiEngine(GetParam(), script); }
};

INSTANTIATE_TEST_SUITE_P(Engines, ApiEngines, testing::Values("openai", "anthropic"),
                         [](const auto& engine) { return engine.param; });

TEST_P(ApiEngines, StreamTheResponseAndCountItsTokens) {
  ApiEngine engine = with(
      R"([{"content": ["Hello, this is a longer text in pieces. äöü 😀"],
           "usage": {"input_tokens": 12, "output_tokens": 34}}])");
  const EngineTurn turn = must(engine.ask());
  EXPECT_EQ(turn.text, "Hello, this is a longer text in pieces. äöü 😀");
  EXPECT_EQ(engine.listener.text, turn.text);
  EXPECT_GT(engine.listener.told.size(), 2U);
  EXPECT_EQ(turn.end, TurnEnd::kDone);
  EXPECT_EQ(turn.model, "model-1");
  EXPECT_EQ(turn.usage.input_tokens, 12);
  EXPECT_EQ(turn.usage.output_tokens, 34);
  EXPECT_EQ(turn.usage.cost_usd, std::nullopt);
}

TEST_P(ApiEngines, KnowWhatATurnCostWhenTheyAreToldThePrices) {
  ApiEngine engine =
      with(R"([{"content": ["x"], "usage": {"input_tokens": 1000, "output_tokens": 100}}])");
  const auto turn = must(engine.ask(R"("prices": {"input": 3, "output": 15})"));
  EXPECT_DOUBLE_EQ(turn.usage.cost_usd.value_or(0), 0.0045);
}

TEST_P(ApiEngines, TellThoughtsApartFromTheResponse) {
  ApiEngine engine =
      with(R"([{"content": [{"type": "thinking", "thinking": "What do they mean?"}, "Hello."]}])");
  EXPECT_EQ(must(engine.ask()).text, "Hello.");
  EXPECT_EQ(engine.listener.thinking, "What do they mean?");
}

TEST_P(ApiEngines, GiveBackCallsOfToolsSeveralAtOnce) {
  ApiEngine engine = with(R"([{"content": ["I look.",
      {"type": "tool_use", "id": "c1", "name": "read", "input": {"path": "a/long/path/to/a.txt"}},
      {"type": "tool_use", "id": "c2", "name": "now", "input": {}}]}])");
  EngineRequest request = asking("Read it.");
  request.tools.push_back({.name = "read",
                           .description = "Reads a file",
                           .input_schema = must(Json::parse(R"({"type": "object"})"))});
  const EngineTurn turn = must(engine.run(request));
  EXPECT_EQ(turn.end, TurnEnd::kToolCalls);
  EXPECT_EQ(turn.text, "I look.");
  ASSERT_THAT(turn.calls, SizeIs(2));
  EXPECT_EQ(turn.calls[0].id, "c1");
  EXPECT_EQ(turn.calls[0].name, "read");
  EXPECT_EQ(turn.calls[0].input.text(), R"({"path": "a/long/path/to/a.txt"})");
  EXPECT_EQ(turn.calls[1].id, "c2");
  EXPECT_EQ(turn.calls[1].input.text(), "{}");
}

TEST_P(ApiEngines, GiveBackInputForAToolThatIsNoObjectAsItWasWritten) {
  ApiEngine engine = with(R"([{"content": [
      {"type": "tool_use", "id": "c1", "name": "read", "input": "{\"path\": \"a"},
      {"type": "tool_use", "id": "c2", "name": "read", "input": "[1]"}]}])");
  const EngineTurn turn = must(engine.ask());
  ASSERT_THAT(turn.calls, SizeIs(2));
  EXPECT_TRUE(turn.calls[0].input.empty());
  EXPECT_EQ(turn.calls[0].malformed, R"({"path": "a)");
  EXPECT_EQ(turn.calls[1].malformed, "[1]");
}

TEST_P(ApiEngines, SayWhenTheResponseRanIntoALimitOrWasRefused) {
  ApiEngine engine = with(R"([
      {"content": ["cut o", {"type": "tool_use", "name": "read", "input": "{\"pa"}],
       "stop_reason": "max_tokens"},
      {"content": ["No."], "stop_reason": "refusal"}])");
  const EngineTurn cut = must(engine.ask());
  EXPECT_EQ(cut.end, TurnEnd::kLength);
  EXPECT_EQ(cut.text, "cut o");
  EXPECT_THAT(cut.calls, SizeIs(0));
  EXPECT_EQ(must(engine.ask()).end, TurnEnd::kRefused);
}

TEST_P(ApiEngines, TryAgainWhileNothingOfAResponseCame) {
  ApiEngine engine = with(R"([
      {"status": 429, "headers": {"retry-after": "0"}}, {"status": 529}, {"hang_up": true},
      {"status": 500}, {"content": ["At last."]}])");
  EXPECT_EQ(must(engine.ask()).text, "At last.");
  EXPECT_THAT(engine.requests(), SizeIs(5));
  EXPECT_EQ(engine.listener.text, "At last.");
}

TEST_P(ApiEngines, GiveUpWhenTheProviderStaysOverloaded) {
  ApiEngine engine = with(R"([{"status": 529, "error": {"message": "Overloaded"}},
                              {"status": 503, "error": {"message": "Still overloaded"}},
                              {"content": ["too late"]}])");
  EXPECT_TRUE(fails(engine.ask(R"("retries": 1)"), ErrorCode::kBusy, {"503", "Still overloaded"}));
  EXPECT_THAT(engine.requests(), SizeIs(2));
}

TEST_P(ApiEngines, DoNotWaitLongerThanTheyShould) {
  ApiEngine engine = with(R"([{"status": 429, "headers": {"retry-after": "3600"}}, {}])");
  EXPECT_TRUE(fails(engine.ask(), ErrorCode::kBusy, {"3600 s"}));
  EXPECT_THAT(engine.requests(), SizeIs(1));
}

TEST_P(ApiEngines, DoNotRepeatARequestThatCannotSucceed) {
  ApiEngine engine = with(R"([
      {"status": 400, "error": {"message": "max_tokens is too large"}},
      {"status": 401, "error": {"message": "wrong key: key-for-tests-0123456789abcdef"}},
      {"status": 404, "error": {"message": "no such model"}}])");
  EXPECT_TRUE(fails(engine.ask(), ErrorCode::kInvalid, {"400", "max_tokens is too large"}));
  const auto unauthorised = engine.ask();
  ASSERT_TRUE(fails(unauthorised, ErrorCode::kInvalid, {"401", "wrong key: [key]"}));
  EXPECT_THAT(unauthorised.error().message, Not(HasSubstr(kTestKey)));
  EXPECT_TRUE(fails(engine.ask(), ErrorCode::kNotFound, {"no such model"}));
  EXPECT_THAT(engine.requests(), SizeIs(3));
}

TEST_P(ApiEngines, FailWithoutAnotherTryWhenTheResponseIsCutOff) {
  ApiEngine engine = with(R"([{"content": ["This is text that ends in the mid"], "cut_after": 4},
                              {"content": ["never asked for"]}])");
  EXPECT_TRUE(fails(engine.ask(), ErrorCode::kIo, {"cut"}));
  EXPECT_THAT(engine.requests(), SizeIs(1));
  EXPECT_THAT(engine.listener.text, HasSubstr("This is text"));
}

TEST_P(ApiEngines, FailOnAnEventThatIsNotJson) {
  ApiEngine engine =
      with(R"([{"content": ["fine so far, and then"], "insert": [4, "data: {oops\n\n"]}])");
  EXPECT_TRUE(fails(engine.ask(), ErrorCode::kIo, {"oops"}));
}

TEST_P(ApiEngines, PassOverWhatIsNoEvent) {
  ApiEngine engine = with(
      R"([{"content": ["Fine."], "insert": [3, ": comment\nunknown: field\n\r\n\r\nevent: x\n\n"]}])");
  EXPECT_EQ(must(engine.ask()).text, "Fine.");
}

TEST_P(ApiEngines, TakeTheirTimeWhenTheProviderDoes) {
  ApiEngine engine = with(R"([{"content": ["Slow but steady."], "pause_ms": 20}])");
  EXPECT_EQ(must(engine.ask(R"("idleTimeoutMs": 20000)")).text, "Slow but steady.");
}

TEST_P(ApiEngines, FailWhenNothingComesForTooLong) {
  ApiEngine engine = with(R"([{"content": ["This is text."], "stall_after": 4}])");
  EXPECT_TRUE(fails(engine.ask(R"("idleTimeoutMs": 300)"), ErrorCode::kIo, {"300 ms"}));
}

TEST_P(ApiEngines, StopInTheMiddleOfAResponse) {
  ApiEngine engine = with(R"([{"content": ["This is text that goes on."], "stall_after": 4}])");
  std::stop_source stop;
  engine.listener.go_on = [&] {
    stop.request_stop();
    return true;
  };
  EXPECT_TRUE(fails(engine.run(asking("Go"), "", stop.get_token()), ErrorCode::kIo, {"stopped"}));
}

TEST_P(ApiEngines, StopWhileTheyWaitToTryAgain) {
  ApiEngine engine = with(R"([{"status": 429, "headers": {"retry-after": "100"}}])");
  std::stop_source stop;
  const std::jthread stopper([&] {
    while (!engine.was_asked()) std::this_thread::yield();
    stop.request_stop();
  });
  EXPECT_TRUE(fails(engine.run(asking("Go"), "", stop.get_token()), ErrorCode::kIo, {"stopped"}));
}

TEST_P(ApiEngines, EndWhenTheListenerHasEnough) {
  ApiEngine engine = with(R"([{"content": ["This is text that goes on."], "stall_after": 6}])");
  engine.listener.go_on = [] { return false; };
  EXPECT_FALSE(engine.ask().has_value());
  EXPECT_THAT(engine.listener.told, SizeIs(1));
  EXPECT_THAT(engine.requests(), SizeIs(1));
}

TEST_P(ApiEngines, HaveALimitOnTheText) {
  ApiEngine engine = with(R"([{"content": [")" + std::string(100'000, 'x') +
                          R"("], "piece": 100000, "repeat": 50}])");
  EXPECT_TRUE(fails(engine.ask(), ErrorCode::kIo, {"4194304 bytes of text"}));
}

TEST_P(ApiEngines, HaveALimitOnOneEvent) {
  ApiEngine engine =
      with(R"([{"content": [")" + std::string(9, 'x') + R"("], "insert": [3, "data: )" +
           std::string(limits::kMaxStreamEventBytes + 100, 'x') + R"("]}])");
  EXPECT_TRUE(fails(engine.ask(), ErrorCode::kIo, {"8388608 bytes"}));
}

TEST_P(ApiEngines, SendTheKeyToNobodyWhoWasNotNamed) {
  ApiEngine engine = with("[]");
  ::setenv("OPENAI_API_KEY", kTestKey, 1);
  ::setenv("ANTHROPIC_API_KEY", kTestKey, 1);
  EngineRequest request = engine.prepared(asking("Hello?"));
  JsonFields fields(request.options.text());
  fields.take_string("keyVariable");
  request.options = fields.rest();
  EXPECT_TRUE(ok(must(make_engine(GetParam()))->run(request, engine.listener, {})));
  EXPECT_THAT(boost::json::serialize(engine.requests().at(0)), Not(HasSubstr(kTestKey)));
  EXPECT_TRUE(ok(engine.ask()));
  EXPECT_THAT(boost::json::serialize(engine.requests().at(1)), HasSubstr(kTestKey));
}

TEST_P(ApiEngines, NameTheVariableThatIsMissing) {
  ApiEngine engine = with("[]");
  ::unsetenv("SKEIN_TEST_KEY");
  EXPECT_TRUE(fails(engine.ask(), ErrorCode::kInvalid, {"SKEIN_TEST_KEY"}));
  ::setenv("SKEIN_TEST_KEY", "two words", 1);
  const auto odd = engine.ask();
  ASSERT_TRUE(fails(odd, ErrorCode::kInvalid, {"SKEIN_TEST_KEY"}));
  EXPECT_THAT(odd.error().message, Not(HasSubstr("two words")));
  EXPECT_THAT(engine.requests(), SizeIs(0));
}

TEST_P(ApiEngines, TellWhatIsWrongWithTheirOptions) {
  const auto wrong = check_engine_options(
      GetParam(),
      must(Json::parse(R"({"baseUrl": "ftp://x", "keyVariable": "not a name", "retries": -1,
                           "request": {"messages": [], "temperature": 0.5}, "prices": {"in": 1},
                           "headers": {"x-team": "blue", "X-Api-Key": "k"}, "color": "red"})")),
      "options");
  std::vector<std::string> fields;
  for (const FieldProblem& problem : wrong) fields.push_back(problem.field);
  EXPECT_THAT(fields,
              ElementsAre("options.baseUrl", "options.keyVariable", "options.headers.X-Api-Key",
                          "options.retries", "options.request.messages", "options.prices.in",
                          "options.color"));
}

TEST_P(ApiEngines, AddTheFieldsThatTheOptionsName) {
  ApiEngine engine = with("[]");
  EXPECT_TRUE(ok(engine.ask(R"("request": {"temperature": 0.5}, "headers": {"x-team": "blue"})")));
  EXPECT_EQ(engine.body().at("temperature").as_double(), 0.5);
  EXPECT_EQ(engine.requests().at(0).at("headers").at("x-team").as_string(), "blue");
}

TEST_P(ApiEngines, NeedAModel) {
  EngineListener listener;
  EXPECT_TRUE(fails(must(make_engine(GetParam()))->run(asking("x"), listener, {}),
                    ErrorCode::kInvalid, {"model"}));
}

TEST(Backoff, DoublesWithJitterUpToHalfAMinute) {
  using namespace std::chrono_literals;
  EXPECT_EQ(backoff(500ms, 0, 0), 500ms);
  EXPECT_EQ(backoff(500ms, 0, 250), 250ms);
  EXPECT_EQ(backoff(500ms, 0, 251), 500ms);
  EXPECT_EQ(backoff(500ms, 3, 0), 4000ms);
  EXPECT_EQ(backoff(500ms, 1000, 0), 30'000ms);
}

TEST(ProviderMessages, AreFoundInTheUsualForms) {
  EXPECT_EQ(provider_message(R"({"error": {"message": "a", "type": "b"}})"), "a");
  EXPECT_EQ(provider_message(R"({"error": "model not found"})"), "model not found");
  EXPECT_EQ(provider_message(R"({"detail": "not here"})"), "not here");
  EXPECT_EQ(provider_message("<html>Bad Gateway</html>"), "<html>Bad Gateway</html>");
  EXPECT_EQ(provider_message(""), "(nothing)");
  EXPECT_LT(provider_message(std::string(100'000, 'x')).size(), 600U);
  EXPECT_TRUE(valid_utf8(provider_message("\xFF\xFE")));
}

}  // namespace
}  // namespace skein::test
