#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "skein/context.h"
#include "skein/tokens.h"
#include "support/backend.h"
#include "support/builders.h"
#include "support/expect.h"
#include "thread/extract/sentences.h"

namespace skein::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

std::vector<SummaryPart> conversation(std::initializer_list<const char*> texts) {
  std::vector<SummaryPart> parts;
  for (const char* text : texts) {
    const Role role = parts.size() % 2 == 0 ? Role::kUser : Role::kAssistant;
    parts.push_back({parts.size() + 1, role, std::nullopt, text});
  }
  return parts;
}

std::string summary_of(const std::vector<SummaryPart>& parts, std::uint64_t max_tokens) {
  return must(extractive_summarizer().summarize(parts, max_tokens));
}

TEST(Sentences, EndAtMarksAndLinesInAnyScript) {
  EXPECT_THAT(split_sentences("One. Two!  Three?\n- four\n\n5. five"),
              ElementsAre("One.", "Two!", "Three?", "four", "five"));
  EXPECT_THAT(split_sentences("我们决定重试。为什么？因为慢"),
              ElementsAre("我们决定重试。", "为什么？", "因为慢"));
  EXPECT_THAT(split_sentences("\"Really?\" he said. (Yes.) No"),
              ElementsAre("\"Really?\"", "he said.", "(Yes.)", "No"));
}

TEST(Sentences, DoNotEndInNumbersNamesAndAbbreviations) {
  EXPECT_THAT(split_sentences("It is 3.14 in src/a.cc, e.g. by Dr. Who. Next"),
              ElementsAre("It is 3.14 in src/a.cc, e.g. by Dr. Who.", "Next"));
}

TEST(Sentences, LeaveCodeOut) {
  EXPECT_THAT(split_sentences("Before.\n```cpp\nint a = 1;\n```\nAfter."),
              ElementsAre("Before.", "After."));
}

TEST(ExtractiveSummary, KeepsDecisionsOpenQuestionsNamesAndNumbers) {
  const auto parts = conversation(
      {"Hello there.", "Hello! How can I help you today?", "The import job is slow again.",
       "It reads the whole file. That is usual for imports.",
       "Who will tell the customers in Denmark?", "Let me look at the import job first.", "Fine.",
       "We decided to use PostgreSQL 15 for the import queue.", "Good.",
       "The import job now takes 340 ms instead of 12 s."});
  const std::string summary = summary_of(parts, 100);
  EXPECT_THAT(summary, HasSubstr("8 assistant: We decided to use PostgreSQL 15"));
  EXPECT_THAT(summary, HasSubstr("5 user: Who will tell the customers in Denmark?"));
  EXPECT_THAT(summary, HasSubstr("340 ms"));
  EXPECT_THAT(summary, Not(HasSubstr("Hello there")));
  EXPECT_LE(count_tokens(summary), 100u);
}

TEST(ExtractiveSummary, CoversTheWholeAndNotItsBeginning) {
  std::vector<SummaryPart> parts;
  for (Seq seq = 1; seq <= 200; ++seq) {
    const std::string topic = seq <= 100 ? "cache eviction" : "billing export";
    parts.push_back({seq, Role::kUser, std::nullopt,
                     "Point " + std::to_string(seq) + " about " + topic + " came up."});
  }
  const std::string summary = summary_of(parts, 300);
  EXPECT_THAT(summary, HasSubstr("cache eviction"));
  EXPECT_THAT(summary, HasSubstr("billing export"));
}

TEST(ExtractiveSummary, IsTheSameForTheSamePartsAndNeverTooLong) {
  const auto parts = conversation({"Why is it slow? We must know by Friday.",
                                   "The lock in queue_7 is held for 40 ms.", "我们决定换掉它。"});
  for (std::uint64_t tokens = 0; tokens < 120; ++tokens) {
    const std::string summary = summary_of(parts, tokens);
    EXPECT_EQ(summary, summary_of(parts, tokens));
    EXPECT_LE(count_tokens(summary), tokens);
  }
  EXPECT_EQ(summary_of({}, 500), "");
}

class Summarizing : public testing::Test {
 protected:
  void say(int messages) {
    for (int i = 0; i < messages; ++i) {
      must_append(store_, thread_,
                  message("Message about topic_" + std::to_string(i) + " and the queue.",
                          i % 2 == 0 ? Role::kUser : Role::kAssistant));
    }
  }
  std::optional<Summary> summarize(std::uint64_t threshold, std::uint64_t keep_recent) {
    SummarizeRequest request;
    request.threshold = threshold;
    request.keep_recent = keep_recent;
    return must(summarize_thread(store_, thread_, request));
  }

  Backend backend_{"memory"};
  Store& store_ = backend_.store();
  const ThreadId thread_ = create_thread(store_, "agent", {message("Be kind.", Role::kSystem)}).id;
};

TEST_F(Summarizing, DoesNothingUpToTheThreshold) {
  say(50);
  EXPECT_FALSE(summarize(50, 10));
  say(1);
  const auto summary = summarize(50, 10);
  ASSERT_TRUE(summary);
  EXPECT_EQ(summary->seq, 53u);
  EXPECT_THAT(summary->covers, ElementsAre(SeqRange{2, 42}));
  const Event event = read_all(store_, thread_).back();
  EXPECT_EQ(std::get<Message>(event.payload).role, Role::kSystem);
  EXPECT_EQ(event.memory_type, MemoryType::kContextSummary);
  EXPECT_EQ(event.metadata.text(), "{\"covers\":[[2,42]]}");
}

TEST_F(Summarizing, CoversEarlierSummariesWhichComeBackWhenTheLaterIsUndone) {
  say(20);
  const auto first = summarize(10, 5);
  say(20);
  const auto second = summarize(10, 5);
  ASSERT_TRUE(first && second);
  EXPECT_THAT(second->covers, ElementsAre(SeqRange{2, second->seq - 6}));
  ContextRequest request;
  request.strategy = ContextStrategy::kSummary;
  const auto shown = [&] {
    std::vector<Seq> seqs;
    for (const Event& event : must(make_context(store_, thread_, request)).messages) {
      if (event.memory_type == MemoryType::kContextSummary) seqs.push_back(event.seq);
    }
    return seqs;
  };
  EXPECT_THAT(shown(), ElementsAre(second->seq));
  EXPECT_EQ(must(undo_summary(store_, thread_, {})), second->seq);
  EXPECT_THAT(shown(), ElementsAre(first->seq));
  EXPECT_TRUE(fails(undo_summary(store_, thread_, {.seq = second->seq}), ErrorCode::kNotFound));
  EXPECT_EQ(must(undo_summary(store_, thread_, {})), first->seq);
  EXPECT_TRUE(fails(undo_summary(store_, thread_, {}), ErrorCode::kNotFound, {"no summary"}));
}

TEST_F(Summarizing, KeepsACallWithItsResponse) {
  say(10);
  const Seq call =
      must_append(store_, thread_, with_metadata(tool_use("look"), R"({"tool_call_id":"a"})"));
  say(4);
  must_append(store_, thread_,
              with_metadata(message("found", Role::kTool), R"({"tool_call_id":"a"})"));
  const auto summary = summarize(3, 2);
  ASSERT_TRUE(summary);
  EXPECT_THAT(summary->covers, ElementsAre(SeqRange{2, call - 1}));
}

class FixedSummarizer final : public Summarizer {
 public:
  explicit FixedSummarizer(std::string text) : text_(std::move(text)) {}
  Result<std::string> summarize(const std::vector<SummaryPart>& parts, std::uint64_t) override {
    parts_ = parts;
    return text_;
  }
  std::vector<SummaryPart> parts_;

 private:
  std::string text_;
};

TEST_F(Summarizing, AsksTheSummarizerThatItIsGivenAndRefusesWhatIsTooLong) {
  say(20);
  FixedSummarizer fixed("All is well.");
  SummarizeRequest request;
  request.threshold = 5;
  request.keep_recent = 5;
  request.summarizer = &fixed;
  EXPECT_EQ(must(summarize_thread(store_, thread_, request))->text, "All is well.");
  EXPECT_EQ(fixed.parts_.size(), 15u);
  EXPECT_EQ(fixed.parts_.front().seq, 2u);

  FixedSummarizer endless(std::string(10'000, 'x'));
  request.summarizer = &endless;
  say(20);
  const Seq last = get_thread(store_, thread_).last_seq;
  EXPECT_TRUE(fails(summarize_thread(store_, thread_, request), ErrorCode::kInvalid, {"600"}));
  EXPECT_EQ(get_thread(store_, thread_).last_seq, last);
}

TEST_F(Summarizing, RefusesAThreadThatIsClosedAndOneThatIsNotThere) {
  say(20);
  must(store_.update(thread_, patch(R"({"status":"closed"})"), {}));
  SummarizeRequest request;
  request.threshold = 1;
  EXPECT_TRUE(fails(summarize_thread(store_, thread_, request), ErrorCode::kConflict, {"closed"}));
  EXPECT_TRUE(
      fails(summarize_thread(store_, ThreadId::from_bits(9), request), ErrorCode::kNotFound));
}

}  // namespace
}  // namespace skein::test
