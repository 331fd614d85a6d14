#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <random>

#include "program.h"

namespace skein::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string message_line(const std::string& text) {
  return R"({"role":"user","text":")" + text + "\"}\n";
}

class AppendStream : public OnEveryBackend {};

INSTANTIATE_ON_EVERY_BACKEND(AppendStream);

TEST_P(AppendStream, AnswersEachLineBeforeTheNextIsSent) {
  const std::string id = workspace_.create();
  Running append = workspace_.start({"thread", "append", id, "--jsonl"});
  for (int i = 1; i <= 5; ++i) {
    append.send(message_line("m" + std::to_string(i)));
    EXPECT_EQ(append.read_line(), "{\"seq\":" + std::to_string(i) + "}");
    EXPECT_EQ(workspace_.events(id).size(), static_cast<std::size_t>(i));
  }
  const Ran ended = append.finish();
  EXPECT_EQ(ended.code, 0) << ended;
  EXPECT_EQ(ended.out, "");
}

TEST_P(AppendStream, TakesEventsOfEveryTypeWithTheirUnknownFields) {
  const std::string id = workspace_.create();
  const Ran ran = workspace_.run({"thread", "append", id, "--jsonl"},
                                 R"({"type":"tool_use","name":"search","input":{"q":1.0},"mine":[1]}
{"type":"assistant_text","text":"looking"}
{"type":"result","cost":0.25,"turns":2}
{"role":"assistant","text":"found","timestamp":"2026-01-02T03:04:05.678Z","base":1}
)");
  EXPECT_EQ(ran.code, 0) << ran;
  EXPECT_EQ(ran.out, "{\"seq\":1}\n{\"seq\":2}\n{\"seq\":3}\n{\"seq\":4}\n");
  const auto events = workspace_.events(id);
  EXPECT_EQ(events.at(0).at("mine").as_array().size(), 1u);
  EXPECT_EQ(events.at(2).at("cost").as_double(), 0.25);
  EXPECT_EQ(events.at(3).at("timestamp").as_string(), "2026-01-02T03:04:05.678Z");
  EXPECT_EQ(events.at(3).at("base").as_int64(), 1);
}

TEST_P(AppendStream, ARefusedLineSaysWhyAndStopsNothing) {
  const std::string id = workspace_.create();
  const Ran ran = workspace_.run({"thread", "append", id, "--jsonl"},
                                 message_line("a") + "not json\n\n{\"type\":\"dance\"}\n" +
                                     message_line("b") + R"({"role":"user","text":"last line"})");
  EXPECT_EQ(ran.code, 1) << ran;
  const auto answers = ran.json_lines();
  ASSERT_EQ(answers.size(), 5u);
  EXPECT_EQ(answers[0].at("seq").as_int64(), 1);
  EXPECT_EQ(answers[1].at("line").as_int64(), 2);
  EXPECT_EQ(answers[1].at("error").at("code").as_string(), "invalid");
  EXPECT_EQ(answers[2].at("line").as_int64(), 4);
  EXPECT_THAT(std::string(answers[2].at("error").at("message").as_string()), HasSubstr("dance"));
  EXPECT_EQ(answers[3].at("seq").as_int64(), 2);
  EXPECT_EQ(answers[4].at("seq").as_int64(), 3);
  EXPECT_THAT(workspace_.texts(id), ElementsAre("a", "b", "last line"));
}

TEST_P(AppendStream, TheSeqOfALineIsThePositionThatItMustGet) {
  const std::string id = workspace_.create();
  const Ran ran = workspace_.run({"thread", "append", id, "--jsonl"},
                                 R"({"seq":1,"role":"user","text":"first"})"
                                 "\n"
                                 R"({"seq":7,"role":"user","text":"not the next"})"
                                 "\n"
                                 R"({"seq":2,"role":"user","text":"second"})"
                                 "\n");
  EXPECT_EQ(ran.code, 1) << ran;
  const auto answers = ran.json_lines();
  ASSERT_EQ(answers.size(), 3u);
  EXPECT_EQ(answers[0].at("seq").as_int64(), 1);
  EXPECT_EQ(answers[1].at("error").at("code").as_string(), "conflict");
  EXPECT_EQ(answers[2].at("seq").as_int64(), 2);
  EXPECT_THAT(workspace_.texts(id), ElementsAre("first", "second"));
}

TEST_P(AppendStream, ALineThatWasCutOffIsRefused) {
  const std::string id = workspace_.create();
  const Ran ran =
      workspace_.run({"thread", "append", id, "--jsonl"}, message_line("a") + R"({"role":"us)");
  EXPECT_EQ(ran.code, 1) << ran;
  EXPECT_THAT(workspace_.texts(id), ElementsAre("a"));
}

TEST_P(AppendStream, ALineBeyondTheLimitIsRefusedAndItsNeighboursAreNot) {
  const std::string id = workspace_.create();
  const std::string long_line = message_line(std::string(20 << 20, 'x'));
  const Ran ran = workspace_.run({"thread", "append", id, "--jsonl"},
                                 message_line("a") + long_line + message_line("b"));
  EXPECT_EQ(ran.code, 1) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("\"line\":2,\"error\""));
  EXPECT_THAT(workspace_.texts(id), ElementsAre("a", "b"));
}

TEST_P(AppendStream, ARepeatedKeyIsAnsweredAndNotAppended) {
  const std::string id = workspace_.create();
  const std::string line = R"({"role":"user","text":"pay","key":"k1"})"
                           "\n";
  const Ran ran = workspace_.run({"thread", "append", id, "--jsonl"}, line + line);
  EXPECT_EQ(ran.out, "{\"seq\":1}\n{\"seq\":1,\"repeated\":true}\n");
  EXPECT_EQ(workspace_.events(id).size(), 1u);
}

TEST_P(AppendStream, OptionsForOneMessageMakeNoSenseWithIt) {
  const std::string id = workspace_.create();
  EXPECT_EQ(workspace_.run({"thread", "append", id, "--jsonl", "--text", "x"}).code, 2);
}

TEST_P(AppendStream, AFastProducerGetsEveryAnswerInOrder) {
  constexpr int kLines = 3000;
  const std::string id = workspace_.create();
  std::string input;
  std::string expected;
  for (int i = 1; i <= kLines; ++i) {
    input += message_line(std::to_string(i));
    expected += "{\"seq\":" + std::to_string(i) + "}\n";
  }
  const Ran ran = workspace_.run({"thread", "append", id, "--jsonl"}, input);
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_EQ(ran.out, expected);
  EXPECT_EQ(workspace_.texts(id).back(), std::to_string(kLines));
}

TEST_P(AppendStream, SigtermEndsItAfterTheBatchAndLosesNothingAcknowledged) {
  const std::string id = workspace_.create();
  Running append = workspace_.start({"thread", "append", id, "--jsonl"});
  append.send(message_line("one"));
  ASSERT_EQ(append.read_line(), "{\"seq\":1}");
  append.signal(SIGTERM);
  // Its input stays open: only the signal can end it.
  EXPECT_EQ(append.read_line(), std::nullopt);
  const Ran ended = append.finish();
  EXPECT_EQ(ended.signal, SIGTERM) << ended;
  EXPECT_THAT(workspace_.texts(id), ElementsAre("one"));
}

// Kills the program at some moment of a stream, again and again; each time all that was answered
// must be there, in order, and the next round goes on after it.
TEST_P(AppendStream, NothingAcknowledgedIsLostWhenItIsKilledAtAnyMoment) {
  constexpr int kRounds = 12;
  const std::string id = workspace_.create();
  std::mt19937 random(20260123);
  std::size_t sent = 0;
  for (int round = 0; round < kRounds; ++round) {
    Running append = workspace_.start({"thread", "append", id, "--jsonl"});
    const std::size_t answers_wanted = 1 + random() % 40;
    const std::size_t ahead = 1 + random() % 30;
    std::size_t acknowledged = 0;
    for (std::size_t answers = 0; answers < answers_wanted; ++answers) {
      std::string lines;
      for (std::size_t i = 0; i < ahead; ++i) {
        lines += message_line(std::to_string(++sent) + std::string(random() % 500, 'x'));
      }
      append.send(lines);
      const auto answer = append.read_line();
      ASSERT_TRUE(answer && answer->starts_with("{\"seq\":")) << answer.value_or("nothing");
      acknowledged = std::stoul(answer->substr(7));
    }
    append.signal(SIGKILL);
    const Ran killed = append.finish();
    for (const auto& answer : killed.json_lines()) {
      acknowledged = static_cast<std::size_t>(answer.at("seq").as_int64());
    }
    const auto events = workspace_.events(id);
    ASSERT_GE(events.size(), acknowledged) << "in round " << round;
    for (std::size_t i = 0; i < events.size(); ++i) {
      ASSERT_EQ(events[i].at("seq").as_int64(), static_cast<std::int64_t>(i + 1));
      ASSERT_EQ(events[i].at("type").as_string(), "message") << "in round " << round;
    }
  }
}

}  // namespace
}  // namespace skein::test
