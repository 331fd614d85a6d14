#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json/parse.hpp>

#include "support/api_engine.h"

namespace skein::test {
namespace {

namespace json = boost::json;
using testing::SizeIs;

TEST(OpenAiEngine, SendsTheRequestAsTheApiWantsIt) {
  ApiEngine engine("openai", "[]");
  EngineRequest request;
  const ToolCall call{.id = "call.1", .name = "read", .input = must(Json::parse(R"({"a":1})"))};
  const ToolCall odd{.id = "call.2", .name = "read", .input = {}, .malformed = "{oops"};
  request.system = "Be kind.";
  request.max_output_tokens = 99;
  request.messages = {
      {.role = Role::kUser, .text = "one"},
      {.role = Role::kAssistant, .text = "", .calls = {call, odd}},
      {.role = Role::kTool, .text = "bad input", .tool_call_id = "call.2", .is_error = true},
      {.role = Role::kTool, .text = "done", .tool_call_id = "call.1"},
      {.role = Role::kSystem, .text = "A note."},
      {.role = Role::kUser, .text = "two"}};
  request.tools.push_back({.name = "read",
                           .description = "Reads",
                           .input_schema = must(Json::parse(R"({"type":"object"})"))});
  EXPECT_TRUE(ok(engine.run(request)));
  const json::value seen = engine.requests().at(0);
  EXPECT_EQ(seen.at("path").as_string(), "/v1/chat/completions");
  EXPECT_EQ(seen.at("headers").at("authorization").as_string(), std::string("Bearer ") + kTestKey);
  EXPECT_EQ(seen.at("body"), json::parse(R"({
      "model": "model-1",
      "messages": [
        {"role": "system", "content": "Be kind."},
        {"role": "user", "content": "one"},
        {"role": "assistant", "content": null, "tool_calls": [
          {"id": "call.1", "type": "function", "function": {"name": "read", "arguments": "{\"a\":1}"}},
          {"id": "call.2", "type": "function", "function": {"name": "read", "arguments": "{oops"}}]},
        {"role": "tool", "content": "done", "tool_call_id": "call.1"},
        {"role": "tool", "content": "bad input", "tool_call_id": "call.2"},
        {"role": "system", "content": "A note."},
        {"role": "user", "content": "two"}],
      "stream": true, "stream_options": {"include_usage": true},
      "tools": [{"type": "function", "function": {
        "name": "read", "description": "Reads", "parameters": {"type": "object"}}}],
      "max_tokens": 99})"));
}

TEST(OpenAiEngine, LeavesOutWhatAServerDoesNotTake) {
  ApiEngine engine("openai", "[]");
  EngineRequest request = asking("x");
  request.max_output_tokens = 5;
  EXPECT_TRUE(ok(
      engine.run(request, R"("includeUsage": false, "maxTokensField": "max_completion_tokens")")));
  EXPECT_FALSE(engine.body().as_object().contains("stream_options"));
  EXPECT_EQ(engine.body().at("max_completion_tokens").to_number<int>(), 5);
}

// How the servers differ, by what the imitation does.
class PeculiarServers : public testing::TestWithParam<const char*> {};

INSTANTIATE_TEST_SUITE_P(OpenAi, PeculiarServers,
                         testing::Values(R"({})", R"({"whole_calls": true})", R"({"ids": false})",
                                         R"({"whole_calls": true, "ids": false, "usage": false})",
                                         R"({"whole_calls": true, "index": "zero"})",
                                         R"({"whole_calls": true, "index": "zero", "ids": false})",
                                         R"({"whole_calls": true, "index": "none"})",
                                         R"({"whole_calls": true, "index": "none", "ids": false})",
                                         R"({"whole_calls": true, "objects": true})",
                                         R"({"index": "none"})",
                                         R"({"index": "none", "ids": false})",
                                         R"({"index": "zero"})"));

TEST_P(PeculiarServers, AllGiveTheSameCalls) {
  ApiEngine engine("openai", R"([{"content": ["Both.",
      {"type": "tool_use", "name": "first", "input": {"path": "a/long/path/to/a.txt"}},
      {"type": "tool_use", "name": "second", "input": {"n": 2}},
      {"type": "tool_use", "name": "second", "input": {"n": 3}}],
      "chat": )" + std::string(GetParam()) +
                                 "}]");
  const EngineTurn turn = must(engine.ask());
  EXPECT_EQ(turn.end, TurnEnd::kToolCalls);
  EXPECT_EQ(turn.text, "Both.");
  ASSERT_THAT(turn.calls, SizeIs(3));
  EXPECT_EQ(turn.calls[0].name, "first");
  EXPECT_EQ(turn.calls[0].input.text(), R"({"path": "a/long/path/to/a.txt"})");
  EXPECT_EQ(turn.calls[1].name, "second");
  EXPECT_EQ(turn.calls[1].input.text(), R"({"n": 2})");
  EXPECT_EQ(turn.calls[2].input.text(), R"({"n": 3})");
  EXPECT_FALSE(turn.calls[0].id.empty());
  EXPECT_NE(turn.calls[0].id, turn.calls[1].id);
  EXPECT_NE(turn.calls[1].id, turn.calls[2].id);
}

TEST(OpenAiEngine, DoesWithoutUsageWhereThereIsNone) {
  ApiEngine engine("openai", R"([{"content": ["x"], "chat": {"usage": false}}])");
  const EngineTurn turn = must(engine.ask());
  EXPECT_EQ(turn.usage.input_tokens, std::nullopt);
  EXPECT_EQ(turn.usage.output_tokens, std::nullopt);
}

TEST(OpenAiEngine, CountsTokensOfTheCacheApart) {
  ApiEngine engine("openai",
                   R"([{"content": ["x"], "usage": {"input_tokens": 10}, "chat": {"cached": 4}}])");
  const EngineTurn turn = must(engine.ask());
  EXPECT_EQ(turn.usage.input_tokens, 6);
  EXPECT_EQ(turn.usage.cache_read_tokens, 4);
}

TEST(OpenAiEngine, TakesAStreamWithoutItsEndForACut) {
  ApiEngine engine("openai", R"([{"content": ["whole?"], "chat": {"done": false}}])");
  EXPECT_TRUE(fails(engine.ask(), ErrorCode::kIo, {"cut"}));
}

TEST(OpenAiEngine, KnowsThoughtsByTheirOtherName) {
  ApiEngine engine("openai", R"([{"content": [{"type": "thinking", "thinking": "hm"}, "x"],
                                  "chat": {"reasoning": "reasoning"}}])");
  EXPECT_EQ(must(engine.ask()).text, "x");
  EXPECT_EQ(engine.listener.thinking, "hm");
}

TEST(OpenAiEngine, FailsWithWhatTheStreamSaysIsWrong) {
  ApiEngine engine("openai", R"([
      {"content": ["x"], "insert": [3, "data: {\"error\":{\"message\":\"out of memory\",\"code\":500}}\n\n"]},
      {"content": ["x"], "insert": [0, "data: {\"error\":\"busy\",\"code\":1}\n\n"]},
      {"content": ["x"], "insert": [0, "data: {\"error\":{\"message\":\"slow down\",\"type\":\"rate_limit_exceeded\"}}\n\n"]},
      {"content": ["Better."]}])");
  EXPECT_TRUE(fails(engine.ask(), ErrorCode::kBusy, {"out of memory"}));
  EXPECT_TRUE(fails(engine.ask(), ErrorCode::kIo, {"busy"}));
  EXPECT_EQ(must(engine.ask()).text, "Better.");
}

TEST(OpenAiEngine, SaysWhenItGotNoStreamAtAll) {
  ApiEngine engine("openai",
                   R"([{"content": [], "insert": [0, "{\"choices\": []}\n"], "cut_after": 1}])");
  EXPECT_FALSE(engine.ask(R"("retries": 0)").has_value());
}

}  // namespace
}  // namespace skein::test
