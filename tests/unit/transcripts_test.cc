// Rollouts of Codex and lists of messages become threads.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/transfer/transcripts/json_lines.h"
#include "transcript_fixture.h"

namespace skein::test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;
using testing::SizeIs;

// --- Codex ---

constexpr const char* kRollout = "0196d9f3-3a2b-7c11-9c5e-1f2e3d4c5b6a";

std::string codex(int second, const std::string& type, const std::string& payload) {
  return R"({"timestamp":"2026-01-23T14:30:)" + std::to_string(10 + second) + R"(.000Z","type":")" +
         type + R"(","payload":)" + payload + "}\n";
}

std::string codex_user(int second, const std::string& text) {
  return codex(second, "response_item",
               R"({"type":"message","role":"user","content":[{"type":"input_text","text":")" +
                   text + R"("}]})");
}

std::string codex_answer(int second, const std::string& text) {
  return codex(second, "response_item",
               R"({"type":"message","role":"assistant","content":[{"type":"output_text","text":")" +
                   text + R"("}]})");
}

class CodexRollouts : public Transcripts {
 protected:
  ImportSummary import_rollout(const std::string& text) {
    return import(
        put(std::string("sessions/2026/01/23/rollout-2026-01-23T14-30-00-") + kRollout + ".jsonl",
            text));
  }
  std::string head() const {
    return codex(0, "session_meta",
                 std::string(R"({"id":")") + kRollout +
                     R"(","timestamp":"2026-01-23T14:30:00.000Z","cwd":"/srv/app",)"
                     R"("cli_version":"0.65.0","git":{"branch":"main","commit_hash":"abc"}})");
  }
};

TEST_F(CodexRollouts, BecomeThreadsWithMessagesCallsAndTheirResults) {
  const ImportSummary summary = import_rollout(
      head() + codex_user(1, "<environment_context>\\n</environment_context>") +
      codex_user(2, "What is here?") +
      codex(2, "event_msg", R"({"type":"user_message","message":"What is here?"})") +
      codex(2, "turn_context", R"({"cwd":"/srv/app","model":"gpt-x"})") +
      codex(3, "response_item", R"({"type":"reasoning","summary":[],"encrypted_content":"x"})") +
      codex(
          4, "response_item",
          R"({"type":"function_call","name":"shell","arguments":"{\"command\":[\"ls\"]}","call_id":"c1"})") +
      codex(
          4, "event_msg",
          R"({"type":"token_count","info":{"last_token_usage":{"input_tokens":9,"cached_input_tokens":4,"output_tokens":3}}})") +
      codex(5, "response_item",
            R"({"type":"function_call_output","call_id":"c1","output":"README.md"})") +
      codex(
          6, "response_item",
          R"({"type":"custom_tool_call","name":"apply_patch","input":"*** Begin","call_id":"c2"})") +
      codex(
          7, "response_item",
          R"({"type":"custom_tool_call_output","call_id":"c2","output":{"content":"no","success":false}})") +
      codex_answer(8, "A README."));
  EXPECT_EQ(summary.imported, 1u) << testing::PrintToString(problems_);
  EXPECT_THAT(summary.ignored, ElementsAre(Pair("context message", 1), Pair("reasoning", 1),
                                           Pair("user_message", 1)));
  const Manifest manifest = thread(kRollout);
  EXPECT_EQ(manifest.agent_id, "codex");
  EXPECT_EQ(manifest.created_at.str(), "2026-01-23T14:30:00.000Z");
  EXPECT_THAT(manifest.metadata.text(),
              AllOf(HasSubstr(R"("git_branch":"main")"), HasSubstr(R"("version":"0.65.0")")));
  EXPECT_THAT(shapes(manifest.id),
              ElementsAre("user What is here?", "call shell", "tool README.md", "call apply_patch",
                          "tool no", "assistant A README."));
  const auto all = events(manifest.id);
  EXPECT_EQ(std::get<ToolUse>(all[1].payload).input.text(), R"({"command":["ls"]})");
  EXPECT_EQ(
      all[1].metadata.text(),
      R"({"source":"codex","model":"gpt-x","tokens":{"input":9,"output":3,"cacheRead":4},"tool_call_id":"c1"})");
  EXPECT_EQ(std::get<ToolUse>(all[3].payload).input.text(), R"({"input":"*** Begin"})");
  EXPECT_THAT(all[4].metadata.text(), HasSubstr(R"("is_error":true)"));
  EXPECT_EQ(all[5].timestamp.str(), "2026-01-23T14:30:18.000Z");
}

TEST_F(CodexRollouts, TwiceAreOnceAndGrowOnlyByWhatIsNew) {
  const std::string text = head() + codex_user(1, "One") + codex_answer(1, "Two");
  import_rollout(text);
  EXPECT_EQ(import_rollout(text).present, 1u);
  EXPECT_EQ(import_rollout(text + codex_user(1, "Three")).new_events, 1u);
  EXPECT_THAT(shapes(thread(kRollout).id), ElementsAre("user One", "assistant Two", "user Three"));
}

TEST_F(CodexRollouts, WhatWasRolledBackIsOffThePath) {
  import_rollout(head() + codex_user(1, "One") + codex_answer(2, "Two") + codex_user(3, "Three") +
                 codex_answer(4, "Four") +
                 codex(5, "event_msg", R"({"type":"thread_rolled_back","num_turns":1})") +
                 codex_user(6, "Five"));
  EXPECT_THAT(shapes(thread(kRollout).id, View::kPath),
              ElementsAre("user One", "assistant Two", "user Five <2"));
}

TEST_F(CodexRollouts, ACompactionIsASummaryOfWhatCameBefore) {
  import_rollout(head() + codex_user(1, "One") + codex_answer(2, "Two") +
                 codex(3, "compacted", R"({"message":"One and two."})") + codex_user(4, "Three"));
  const auto all = events(thread(kRollout).id);
  EXPECT_EQ(shape(all[2]), "system One and two.");
  EXPECT_THAT(all[2].metadata.text(), HasSubstr(R"("covers":[[1,2]])"));
}

TEST_F(CodexRollouts, OfSubagentsAndForksNameWhereTheyComeFrom) {
  const std::string parent = "0196d9f3-0000-7c11-9c5e-1f2e3d4c5b6a";
  import_rollout(codex(0, "session_meta",
                       std::string(R"({"id":")") + kRollout + R"(","parent_thread_id":")" + parent +
                           R"(","timestamp":"2026-01-23T14:30:00Z"})") +
                 codex_user(1, "Count"));
  EXPECT_THAT(thread(kRollout).metadata.text(),
              AllOf(HasSubstr("\"parent_session_id\":\"" + parent + "\""),
                    HasSubstr("\"parent_thread\":\"" +
                              transcript_thread_id("codex/" + parent).str() + "\"")));
}

TEST_F(CodexRollouts, OfTheFirstVersionsHadNoEnvelopes) {
  import_rollout(
      std::string(R"({"id":")") + kRollout +
      R"(","timestamp":"2025-05-01T10:00:00Z","instructions":null})" + "\n" +
      R"({"type":"message","role":"user","content":[{"type":"input_text","text":"One"}]})" + "\n" +
      R"({"record_type":"state"})" + "\n" +
      R"({"type":"local_shell_call","id":"l1","call_id":"c1","status":"completed","action":{"type":"exec","command":["ls"]}})" +
      "\n" +
      R"({"type":"message","role":"assistant","content":[{"type":"output_text","text":"Two"}]})" +
      "\n");
  EXPECT_THAT(shapes(thread(kRollout).id),
              ElementsAre("user One", "call local_shell", "assistant Two"));
}

// --- Lists of messages ---

class MessageListFiles : public Transcripts {};

TEST_F(MessageListFiles, OfOpenAiHaveCallsInTheirAnswers) {
  const auto path = put("talk.json", R"([
    {"role":"system","content":"Be brief."},
    {"role":"user","content":[{"type":"text","text":"Weather?"},{"type":"image_url","image_url":{}}]},
    {"role":"assistant","content":null,"tool_calls":[
      {"id":"c1","type":"function","function":{"name":"weather","arguments":"{\"city\":\"Oslo\"}"}}]},
    {"role":"tool","tool_call_id":"c1","content":"rain"},
    {"role":"assistant","content":"Rain."}
  ])");
  EXPECT_EQ(import(path, {.default_agent = "support"}).imported, 1u);
  ASSERT_THAT(threads(), SizeIs(1));
  const ThreadId id = threads()[0].id;
  EXPECT_EQ(threads()[0].agent_id, "support");
  EXPECT_THAT(shapes(id), ElementsAre("system Be brief.", "user Weather?\n\n[image]",
                                      "call weather", "tool rain", "assistant Rain."));
  EXPECT_EQ(std::get<ToolUse>(events(id)[2].payload).input.text(), R"({"city":"Oslo"})");
  EXPECT_EQ(events(id)[3].metadata.text(),
            R"({"source":"messages","tool_call_id":"c1","tool_name":"weather"})");
  EXPECT_EQ(import(path).present, 1u);
}

TEST_F(MessageListFiles, OfLangGraphAreFoundInTheStateOfAThread) {
  const auto path = put("state.json", R"({"values":{"messages":[
      {"type":"human","content":"Weather?","id":"h1"},
      {"type":"ai","content":"Looking.","tool_calls":[{"name":"weather","args":{"city":"Oslo"},"id":"c1"}],
       "usage_metadata":{"input_tokens":8,"output_tokens":2},"response_metadata":{"model_name":"gpt-x"}},
      {"type":"tool","content":"rain","tool_call_id":"c1","status":"error"},
      {"lc":1,"type":"constructor","id":["langchain_core","messages","AIMessage"],"kwargs":{"content":"Rain."}},
      {"type":"human","data":{"content":"Thanks"}}]},
    "created_at":"2026-01-23T14:30:52.000Z",
    "checkpoint":{"thread_id":"0a1b2c3d-1111-4222-8333-444455556666"}})");
  import(path);
  const Manifest manifest = thread("0a1b2c3d-1111-4222-8333-444455556666");
  EXPECT_EQ(manifest.created_at.str(), "2026-01-23T14:30:52.000Z");
  EXPECT_THAT(shapes(manifest.id),
              ElementsAre("user Weather?", "narration Looking.", "call weather", "tool rain",
                          "assistant Rain.", "user Thanks"));
  EXPECT_THAT(events(manifest.id)[1].metadata.text(),
              HasSubstr(R"("model":"gpt-x","tokens":{"input":8,"output":2})"));
}

TEST_F(MessageListFiles, OnLinesAreAThreadEach) {
  const auto path =
      put("tuning.jsonl",
          R"({"messages":[{"role":"user","content":"a"}]})"
          "\n"
          R"({"messages":[{"role":"user","content":"b"},{"role":"assistant","content":"c"}]})"
          "\n");
  const ImportSummary summary = import(path);
  EXPECT_EQ(summary.imported, 2u);
  EXPECT_EQ(summary.imported_events, 3u);
  EXPECT_EQ(import(path).present, 2u);
}

TEST_F(MessageListFiles, ThatGrowAreExtendedAndThatChangedAreConflicts) {
  const auto list = [](const std::string& more) {
    return R"([{"role":"user","content":"a"},{"role":"assistant","content":"b"})" + more + "]";
  };
  const auto path = put("talk.json", list(""));
  import(path);
  put("talk.json", list(R"(,{"role":"user","content":"c"})"));
  EXPECT_EQ(import(path).new_events, 1u);
  put("talk.json", R"([{"role":"user","content":"other"}])");
  EXPECT_EQ(import(path).conflicts, 1u);
  EXPECT_THAT(shapes(threads()[0].id), ElementsAre("user a", "assistant b", "user c"));
}

TEST(Surrogates, AreMendedWhereOnlyHalfIsLeft) {
  EXPECT_EQ(with_whole_surrogates(R"("\ud83d\ude00 \ud83d x \ude00 \\ud83d")"),
            R"("\ud83d\ude00 \ufffd x \ufffd \\ud83d")");
}

}  // namespace
}  // namespace skein::test
