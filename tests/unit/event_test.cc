#include "skein/event.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "skein/limits.h"
#include "store/codec.h"
#include "support/builders.h"
#include "support/expect.h"

namespace skein::test {
namespace {

Event read_as(std::string_view text, EventSource source) {
  Event event;
  EXPECT_TRUE(ok(EventReader().read(text, source, event))) << text;
  return event;
}

bool is_unreadable(const Event& event) { return std::holds_alternative<Unreadable>(event.payload); }

TEST(ParseEvent, ReadsEachType) {
  const Event said = must(parse_event(
      R"({"type":"message","role":"tool","text":"t","timestamp":"2026-01-23T14:30:52.123Z",)"
      R"("memoryType":"tool_result","metadata":{"tool_call_id":"c"},"base":0,"key":"k","x":[1]})"));
  EXPECT_EQ(std::get<Message>(said.payload).role, Role::kTool);
  EXPECT_EQ(text_of(said), "t");
  EXPECT_EQ(said.timestamp.str(), "2026-01-23T14:30:52.123Z");
  EXPECT_EQ(said.memory_type, MemoryType::kToolResult);
  EXPECT_TRUE(same_json(said.metadata, json(R"({"tool_call_id":"c"})")));
  EXPECT_EQ(said.base, 0U);
  EXPECT_EQ(said.key, "k");
  EXPECT_TRUE(same_json(said.extra, json(R"({"x":[1]})")));

  const Event used = must(parse_event(R"({"type":"tool_use","name":"n","input":{"a":1}})"));
  EXPECT_EQ(std::get<ToolUse>(used.payload).name, "n");
  EXPECT_EQ(text_of(must(parse_event(R"({"type":"assistant_text","text":"a"})"))), "a");
  const Event cost = must(parse_event(
      R"({"type":"result","cost":0.5,"durationMs":1.5,"turns":2,"inputTokens":3,"outputTokens":4,)"
      R"("cacheReadTokens":5})"));
  const auto& result = std::get<RunResult>(cost.payload);
  EXPECT_EQ(result.cost, 0.5);
  EXPECT_EQ(result.duration_ms, 1.5);
  EXPECT_EQ(result.turns, 2);
  EXPECT_EQ(result.input_tokens, 3);
  EXPECT_EQ(result.output_tokens, 4);
  EXPECT_EQ(result.cache_read_tokens, 5);
}

TEST(ParseEvent, TakesALineWithoutTypeForAMessage) {
  const Event event = must(parse_event(R"({"role":"assistant","text":"old"})"));
  EXPECT_STREQ(type_name(event), "message");
  EXPECT_EQ(std::get<Message>(event.payload).role, Role::kAssistant);
}

TEST(ParseEvent, TakesSeqAsAClaim) {
  EXPECT_EQ(must(parse_event(R"({"role":"user","text":"x","seq":7})")).seq, 7U);
}

TEST(ParseEvent, NamesTheRuleAndTheValue) {
  struct Case {
    std::string_view text;
    std::initializer_list<std::string_view> mentions;
  };
  for (const Case& wrong : std::initializer_list<Case>{
           {R"({"type":"msg"})",
            {"type", "message", "tool_use", "assistant_text", "result", "msg"}},
           {R"({"role":"bot","text":"x"})", {"role", "user", "assistant", "bot"}},
           {R"({"role":"user"})", {"text"}},
           {R"({"role":"user","text":5})", {"text", "5"}},
           {R"({"type":"tool_use","name":"n","input":"i"})", {"input", "object"}},
           {R"({"type":"tool_use","name":"","input":{}})", {"name"}},
           {R"({"role":"user","text":"x","metadata":[1]})", {"metadata", "object", "[1]"}},
           {R"({"role":"user","text":"x","timestamp":"noon"})", {"timestamp", "noon"}},
           {R"({"role":"user","text":"x","memoryType":"dream"})", {"memoryType", "dream"}},
           {R"({"role":"user","text":"x","base":-1})", {"base", "-1"}},
           {R"({"role":"user","text":"x","base":1.5})", {"base", "1.5"}},
           {R"({"role":"user","text":"x","key":1})", {"key"}},
           {R"({"type":"result","cost":"much"})", {"cost", "much"}},
           {R"({"type":"result","turns":-1})", {"turns", "-1"}},
           {R"({"type":"result","turns":1e30})", {"turns"}},
           {R"({"role":"user","text":"x","crc":1})", {"crc"}},
           {R"({"role":"user","text":"\ud800"})", {"JSON"}},
           {"[]", {"object"}},
           {"{\"role\"", {"JSON"}}}) {
    EXPECT_TRUE(fails(parse_event(wrong.text), ErrorCode::kInvalid, wrong.mentions)) << wrong.text;
  }
  EXPECT_TRUE(fails(parse_event(std::string(limits::kMaxEventBytes + 1, ' ')), ErrorCode::kInvalid,
                    {std::to_string(limits::kMaxEventBytes)}));
}

TEST(EventJson, IsOneLineThatReadsBackAsTheSame) {
  Event event = message("two\nlines \x01 \xe2\x80\xa8");
  event.timestamp = Timestamp::from_ms(1);
  event.base = 3;
  event.key = "k";
  event.metadata = json(R"({"a":12345678901234567890123})");
  event.extra = json(R"({"x":{"y":null}})");
  event.memory_type = MemoryType::kDecisionPoint;
  const std::vector<Event> events{event, tool_use("n", R"({"q":[]})"), assistant_text(""),
                                  run_result(1e-300, 1)};
  for (const Event& each : events) {
    const std::string text = to_json(each);
    EXPECT_EQ(text.find('\n'), std::string::npos);
    EXPECT_TRUE(same_event(must(parse_event(text)), each)) << text;
    EXPECT_EQ(must(parse_event(text)).timestamp, each.timestamp);
  }
  event.seq = 9;
  EXPECT_EQ(must(parse_event(to_json(event))).seq, 9U);
}

TEST(EventReaders, AreLenientTowardsStoredText) {
  const Event odd = read_as(
      R"({"type":"result","cost":"free","turns":2,"timestamp":5,"metadata":"m","memoryType":"z"})",
      EventSource::kForeign);
  EXPECT_EQ(std::get<RunResult>(odd.payload).turns, 2);
  EXPECT_FALSE(std::get<RunResult>(odd.payload).cost.has_value());
  EXPECT_FALSE(odd.timestamp.is_set());
  EXPECT_TRUE(same_json(odd.extra,
                        json(R"({"cost":"free","timestamp":5,"metadata":"m","memoryType":"z"})")));
}

TEST(EventReaders, GiveWhatIsNoEventAsUnreadableWithItsBytes) {
  for (const std::string_view text :
       {R"({"type":"summary","text":"x"})", R"({"role":"robot","text":"x"})", R"({"a":1})",
        R"({"role":"user","text":["x"]})", "[1]", "17", "garbage", "{\"role\":\"user\",", ""}) {
    const Event event = read_as(text, EventSource::kForeign);
    ASSERT_TRUE(is_unreadable(event)) << text;
    EXPECT_EQ(std::get<Unreadable>(event.payload).raw, text);
    EXPECT_FALSE(std::get<Unreadable>(event.payload).reason.empty());
    EXPECT_TRUE(fails(validate(event), ErrorCode::kInvalid));
  }
}

TEST(EventReaders, TakeTheStoresOwnFieldsFromOurLinesOnly) {
  constexpr std::string_view kText =
      R"({"role":"user","text":"x","base":1,"seq":5,"key":"k","tokenCount":7,"crc":9})";
  const Event line = read_as(kText, EventSource::kLine);
  EXPECT_EQ(line.seq, 5U);
  EXPECT_EQ(line.key, "k");
  EXPECT_EQ(line.tokens, 7U);
  EXPECT_EQ(line.base, 1U);
  EXPECT_TRUE(line.extra.empty());
  const Event body = read_as(kText, EventSource::kBody);
  EXPECT_EQ(body.base, 1U);
  EXPECT_EQ(body.seq, 0U);
  EXPECT_TRUE(same_json(body.extra, json(R"({"seq":5,"key":"k","tokenCount":7,"crc":9})")));
  const Event foreign = read_as(kText, EventSource::kForeign);
  EXPECT_FALSE(foreign.base.has_value());
  EXPECT_TRUE(
      same_json(foreign.extra, json(R"({"base":1,"seq":5,"key":"k","tokenCount":7,"crc":9})")));
}

TEST(EventReaders, LeaveNothingOfTheEventBefore) {
  EventReader reader;
  Event event;
  const auto read = [&](std::string_view text) {
    EXPECT_TRUE(ok(reader.read(text, EventSource::kLine, event)));
  };
  read(R"({"role":"user","text":"long text","timestamp":"2026-01-23T14:30:52Z","base":1,"seq":5,)"
       R"("key":"k","tokenCount":7,"metadata":{"a":1},"memoryType":"tool_result","x":1})");
  read(R"({"type":"message","role":"assistant","text":""})");
  EXPECT_EQ(describe(event), R"({"type":"message","role":"assistant","text":""})");
  EXPECT_FALSE(event.tokens.has_value());
  read(R"({"type":"result","cost":1,"turns":2,"inputTokens":3})");
  read(R"({"type":"result","durationMs":1})");
  EXPECT_EQ(describe(event), R"({"type":"result","durationMs":1})");
  read(R"({"type":"tool_use","name":"n","input":{"a":1}})");
  read(R"({"type":"tool_use","name":"m"})");
  EXPECT_EQ(describe(event), R"({"type":"tool_use","name":"m","input":{}})");
}

TEST(EventReaders, TakeTheLastOfRepeatedNames) {
  const Event event =
      read_as(R"({"role":"user","text":"a","x":1,"text":"b","x":2})", EventSource::kBody);
  EXPECT_EQ(text_of(event), "b");
}

TEST(SameEvent, IgnoresSeqTimeAndTokensOnly) {
  const Event event = with_metadata(with_key(message("m"), "k"), R"({"a":1})");
  Event other = event;
  other.seq = 5;
  other.timestamp = Timestamp::from_ms(7);
  other.tokens = 3;
  EXPECT_TRUE(same_event(event, other));
  EXPECT_FALSE(same_event(event, with_base(event, 0)));
  EXPECT_FALSE(same_event(event, with_key(event, "other")));
  EXPECT_FALSE(same_event(event, with_metadata(event, R"({"a":2})")));
  EXPECT_FALSE(same_event(event, with_extra(event, R"({"x":1})")));
  EXPECT_FALSE(same_event(message("m"), assistant_text("m")));
  EXPECT_FALSE(same_event(message("m"), message("m", Role::kTool)));
  EXPECT_FALSE(same_event(run_result(1, 1), run_result(1, 2)));
  EXPECT_FALSE(same_event(tool_use("a"), tool_use("b")));
  EXPECT_FALSE(same_event(tool_use("a", R"({"x":1})"), tool_use("a", R"({"x":2})")));
}

TEST(Roles, HaveNames) {
  for (const Role role : {Role::kUser, Role::kAssistant, Role::kSystem, Role::kTool}) {
    EXPECT_EQ(must(parse_role(to_string(role))), role);
  }
  EXPECT_TRUE(fails(parse_role("User"), ErrorCode::kInvalid, {"User"}));
  EXPECT_TRUE(fails(parse_role(""), ErrorCode::kInvalid));
}

}  // namespace
}  // namespace skein::test
