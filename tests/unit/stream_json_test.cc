#include "engine/claude_code/stream_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "skein/engines.h"
#include "support/engine_listener.h"
#include "support/expect.h"

namespace skein::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class StreamJson : public testing::Test {
 protected:
  void take(std::initializer_list<std::string_view> lines) {
    for (const std::string_view line : lines) EXPECT_TRUE(ok(reader_.take(line))) << line;
  }

  EngineListener listener_;
  StreamJsonReader reader_{listener_};
};

constexpr std::string_view kInit =
    R"({"type":"system","subtype":"init","session_id":"s-1","model":"claude-x","tools":[]})";
constexpr std::string_view kMessageStart =
    R"({"type":"stream_event","event":{"type":"message_start"},"parent_tool_use_id":null})";

std::string delta(std::string_view kind, std::string_view name, std::string_view text) {
  return R"({"type":"stream_event","parent_tool_use_id":null,"event":{"type":"content_block_delta","delta":{"type":")" +
         std::string(kind) + R"(",")" + std::string(name) + R"(":")" + std::string(text) +
         R"("}}})";
}
std::string says(std::string_view block) {
  return R"({"type":"assistant","parent_tool_use_id":null,"message":{"model":"claude-x","content":[)" +
         std::string(block) + "]}}";
}
std::string ended(std::string_view more = R"("result":"All done.")") {
  return R"({"type":"result","subtype":"success","is_error":false,"session_id":"s-2","num_turns":2,
    "stop_reason":"end_turn","total_cost_usd":5.5,"usage":{"input_tokens":20,"output_tokens":10,
    "cache_creation_input_tokens":3,"cache_read_input_tokens":7},)" +
         std::string(more) + "}";
}

TEST_F(StreamJson, TellsATurnWithItsToolsAsItHappens) {
  take(
      {kInit, kMessageStart, delta("thinking_delta", "thinking", "Hm."),
       delta("text_delta", "text", "I will "), delta("text_delta", "text", "look."),
       says(R"({"type":"text","text":"I will look."})"),
       says(R"({"type":"tool_use","id":"t1","name":"Bash","input":{"command":"ls"}})"),
       R"({"type":"user","parent_tool_use_id":null,"message":{"content":[{"type":"tool_result","tool_use_id":"t1","content":"a.txt"}]}})",
       kMessageStart, delta("text_delta", "text", "All done."),
       says(R"({"type":"text","text":"All done."})"), ended()});
  EXPECT_THAT(listener_.told,
              ElementsAre("thinking Hm.", "text I will ", "text look.", "narration I will look.",
                          R"(use Bash {"command":"ls"})", "result Bash a.txt", "text All done."));
  EXPECT_TRUE(reader_.has_ended());
  const EngineTurn turn = must(reader_.finish());
  EXPECT_EQ(turn.text, "All done.");
  EXPECT_EQ(turn.session_id, "s-2");
  EXPECT_EQ(turn.model, "claude-x");
  EXPECT_EQ(turn.end, TurnEnd::kDone);
  EXPECT_EQ(turn.usage.input_tokens, 23);
  EXPECT_EQ(turn.usage.output_tokens, 10);
  EXPECT_EQ(turn.usage.cache_read_tokens, 7);
  EXPECT_EQ(turn.usage.turns, 2);
  EXPECT_EQ(turn.usage.cost_usd, 5.5);
}

TEST_F(StreamJson, TellsTextThatDidNotComeInPieces) {
  take({kInit, says(R"({"type":"text","text":"Whole."})"), ended(R"("result":"Whole.")")});
  EXPECT_THAT(listener_.told, ElementsAre("text Whole."));
  EXPECT_EQ(must(reader_.finish()).text, "Whole.");
}

TEST_F(StreamJson, TellsAResponseThatOnlyTheLastLineHas) {
  take({kInit, ended()});
  EXPECT_EQ(must(reader_.finish()).text, "All done.");
  EXPECT_THAT(listener_.told, ElementsAre("text All done."));
}

TEST_F(StreamJson, CountsWhatTheTurnItselfCost) {
  take({kInit, ended(R"("result":"x","model_usage_since_last_result":{
      "a":{"costUSD":0.25},"b":{"costUSD":0.5},"c":3})")});
  EXPECT_EQ(must(reader_.finish()).usage.cost_usd, 0.75);
}

TEST_F(StreamJson, TellsResultsOfToolsInEveryForm) {
  take({kInit, says(R"({"type":"tool_use","id":"t1","name":"A","input":{}},
                       {"type":"tool_use","id":"t2","name":"B","input":[]})"),
        R"({"type":"user","message":{"content":[
            {"type":"tool_result","tool_use_id":"t2","is_error":true,
             "content":[{"type":"text","text":"one"},{"type":"image","source":{}},{"type":"text","text":"two"}]},
            {"type":"tool_result","tool_use_id":"t1"},
            {"type":"tool_result","tool_use_id":"unknown","content":"x"},
            {"type":"text","text":"not a result"}, 3]}})"});
  EXPECT_THAT(listener_.told,
              ElementsAre("use A {}", "use B {}", "error B one\n[image]\ntwo", "result A "));
}

TEST_F(StreamJson, PassesOverWhatItDoesNotKnow) {
  take({"", "not json", "{\"type\":", "[1,2]", "3", "null", "{}", R"({"type":7})",
        R"({"type":"novel","message":{}})", R"({"type":"assistant"})",
        R"({"type":"assistant","message":{"content":"text"}})", R"({"type":"user","message":[]})",
        R"({"type":"stream_event"})", R"({"type":"stream_event","event":{"type":"novel"}})",
        R"({"type":"system","subtype":"status"})", "\xFF\xFE{\"type\":\"result\"}",
        R"({"type":"assistant","message":{"content":[{"type":"tool_use","name":"no id"}]}})"});
  EXPECT_THAT(listener_.told, IsEmpty());
  EXPECT_FALSE(reader_.has_ended());
}

TEST_F(StreamJson, KeepsSubagentsToThemselves) {
  take(
      {kInit,
       R"({"type":"assistant","parent_tool_use_id":"t1","message":{"content":[{"type":"text","text":"inner"}]}})",
       R"({"type":"stream_event","parent_tool_use_id":"t1","event":{"type":"content_block_delta","delta":{"type":"text_delta","text":"inner"}}})"});
  EXPECT_THAT(listener_.told, IsEmpty());
}

TEST_F(StreamJson, FailsWithWhatTheProgramReports) {
  const std::string key = "sk-ant-api03-" + std::string(40, 'a') + "1B2c3D4e5F6g";
  take(
      {kInit,
       R"({"type":"assistant","message":{"model":"<synthetic>","content":[{"type":"text","text":"API Error"}]}})",
       R"({"type":"result","subtype":"success","is_error":true,"api_error_status":401,"result":"Invalid key )" +
           key + R"("})"});
  EXPECT_THAT(listener_.told, IsEmpty());
  const auto failed = reader_.finish();
  ASSERT_TRUE(fails(failed, ErrorCode::kInvalid, {"Invalid key"}));
  EXPECT_THAT(failed.error().message, Not(HasSubstr(key)));
}

TEST_F(StreamJson, NamesTheKindOfAFailureThatHasNoWords) {
  take({kInit, R"({"type":"result","subtype":"error_max_turns","is_error":false})"});
  EXPECT_TRUE(fails(reader_.finish(), ErrorCode::kIo, {"error_max_turns"}));
}

TEST_F(StreamJson, NamesTheErrorsThatTheProgramLists) {
  take(
      {R"({"type":"result","subtype":"error_during_execution","is_error":true,"errors":["No conversation found"]})"});
  EXPECT_TRUE(fails(reader_.finish(), ErrorCode::kIo, {"No conversation found"}));
  EXPECT_TRUE(reader_.session_may_be_dead());
}

TEST_F(StreamJson, HasALimitOnTheText) {
  const std::string piece = delta("text_delta", "text", std::string(1'000'000, 'x'));
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(ok(reader_.take(piece)));
  EXPECT_TRUE(fails(reader_.take(piece), ErrorCode::kIo, {"4194304 bytes"}));
}

TEST_F(StreamJson, EndsWhenTheListenerHasEnough) {
  listener_.go_on = [] { return false; };
  EXPECT_FALSE(reader_.take(delta("text_delta", "text", "x")).has_value());
}

}  // namespace
}  // namespace skein::test
