// Contexts of particular threads, on every backend. What holds for all threads is in
// tests/unit/context_property_test.cc.
#include <algorithm>

#include "contract.h"
#include "skein/context.h"
#include "skein/tokens.h"

namespace skein::test {
namespace {

class Contexts : public StoreContract {
 protected:
  Result<ContextWindow> context(ThreadId thread, std::uint64_t max_tokens,
                                ContextStrategy strategy = ContextStrategy::kRecent) {
    ContextRequest request;
    request.max_tokens = max_tokens;
    request.strategy = strategy;
    return make_context(store(), thread, request);
  }

  static std::vector<Seq> seqs(const ContextWindow& context) {
    std::vector<Seq> all;
    for (const Event& event : context.messages) all.push_back(event.seq);
    return all;
  }

  static std::string ledger(const ContextWindow& context) {
    std::string text;
    for (const LedgerEntry& entry : context.ledger) {
      const SeqRange range = entry.seqs.value_or(SeqRange{});
      text += std::to_string(range.first) + "-" + std::to_string(range.last) + " " +
              to_string(entry.what) + ": " + entry.why + "\n";
    }
    return text;
  }
};

INSTANTIATE_TEST_SUITE_P(, Contexts, testing::ValuesIn(backend_names()), backend_of);

Event call(std::string_view id) {
  return with_metadata(tool_use("look"), "{\"tool_call_id\":\"" + std::string(id) + "\"}");
}

Event response(std::string_view id, std::string_view text) {
  return with_metadata(message(text, Role::kTool),
                       "{\"tool_call_id\":\"" + std::string(id) + "\"}");
}

TEST_P(Contexts, OfAnEmptyThreadAreEmpty) {
  const auto window = must(context(create_thread(store()).id, 100));
  EXPECT_THAT(window.messages, IsEmpty());
  EXPECT_THAT(window.ledger, IsEmpty());
  EXPECT_EQ(to_json(window), R"({"messages":[],"ledger":[],"tokens":0,"strategy":"recent"})");
}

TEST_P(Contexts, AreRefusedForBudgetsOutOfBoundsAndUnknownThreads) {
  const ThreadId thread = create_thread(store(), "agent", {message("hello")}).id;
  EXPECT_TRUE(fails(context(thread, 0), ErrorCode::kInvalid, {"max_tokens", "0"}));
  EXPECT_TRUE(fails(context(thread, UINT64_MAX), ErrorCode::kInvalid, {"10000000"}));
  EXPECT_TRUE(fails(context(ThreadId::from_bits(5), 10), ErrorCode::kNotFound));
  EXPECT_TRUE(fails(context(thread, 4), ErrorCode::kInvalid, {"at least 5 tokens"}));
  EXPECT_EQ(must(context(thread, 5)).tokens, 5u);
  EXPECT_TRUE(fails(parse_context_strategy("newest"), ErrorCode::kInvalid, {"newest", "hybrid"}));
}

TEST_P(Contexts, FollowTheCurrentPath) {
  const ThreadId thread = create_thread(store(), "agent",
                                        {message("one"), message("two", Role::kAssistant),
                                         message("left"), with_base(message("three"), 2)})
                              .id;
  const auto window = must(context(thread, 100));
  EXPECT_THAT(seqs(window), ElementsAre(1, 2, 4));
  EXPECT_EQ(ledger(window),
            "1-2 in: recent\n3-3 left_out: not on the current path\n4-4 in: newest user message\n");
}

TEST_P(Contexts, KeepParallelCallsWithTheirResponses) {
  const ThreadId thread =
      create_thread(store(), "agent",
                    {message("old"), call("a"), call("b"), response("a", std::string(2000, 'x')),
                     response("b", "short"), message("now")})
          .id;
  // There is no room for the response of a, and so none for its call; b came later and is in.
  const auto window = must(context(thread, 60));
  EXPECT_THAT(seqs(window), ElementsAre(3, 5, 6));
}

TEST_P(Contexts, AreTheSameWhicheverOtherStrategyAThreadNeedsNot) {
  const ThreadId thread =
      create_thread(store(), "agent", {message("one"), message("two", Role::kAssistant)}).id;
  for (const auto strategy : {ContextStrategy::kSummary, ContextStrategy::kHybrid}) {
    EXPECT_THAT(seqs(must(context(thread, 1000, strategy))), ElementsAre(1, 2));
  }
}

TEST_P(Contexts, PutPinsDecisionsAndMatchesFirstInHybrid) {
  std::vector<Event> events = {message("The secret word is xylophone.", Role::kAssistant),
                               message("pin me"), message("we take B", Role::kAssistant)};
  events[2].memory_type = MemoryType::kDecisionPoint;
  for (int i = 0; i < 60; ++i) events.push_back(message("filler about the weather"));
  events.push_back(message("What was it with the xylophone?"));
  const ThreadId thread = create_thread(store(), "agent", events).id;
  must(store().update(thread, patch(R"({"pins":[2]})"), {}));
  const auto window = must(context(thread, 300, ContextStrategy::kHybrid));
  EXPECT_THAT(ledger(window),
              testing::StartsWith("1-1 in: matches the newest user message\n2-2 in: pinned\n"
                                  "3-3 in: decision\n"));
  EXPECT_LE(window.tokens, 300u);
}

TEST_P(Contexts, UseTheFinderThatIsHandedIn) {
  class Fixed final : public MessageFinder {
   public:
    Result<std::vector<Seq>> find(ThreadId, std::string_view question, std::size_t) override {
      asked = question;
      return std::vector<Seq>{3, 99, 1};
    }
    std::string asked;
  };
  std::vector<Event> events;
  for (int i = 0; i < 100; ++i) events.push_back(message("number " + std::to_string(i)));
  const ThreadId thread = create_thread(store(), "agent", events).id;
  Fixed finder;
  ContextRequest request{.max_tokens = 120, .strategy = ContextStrategy::kHybrid};
  request.finder = &finder;
  const auto window = must(make_context(store(), thread, request));
  EXPECT_EQ(finder.asked, "number 99");
  EXPECT_THAT(seqs(window), testing::IsSupersetOf({3, 99, 100, 1}));
}

TEST_P(Contexts, EstimateImagesAndSayThatTheyDid) {
  const ThreadId thread =
      create_thread(store(), "agent",
                    {with_extra(message("look"), R"({"content":[{"type":"image","data":"x"}]})"),
                     message("and?")})
          .id;
  const auto window = must(context(thread, 5000));
  EXPECT_EQ(window.ledger.front().tokens, kMessageOverhead + 1 + kImageTokens);
  EXPECT_TRUE(window.ledger.front().estimated);
  EXPECT_FALSE(window.ledger.back().estimated);
}

TEST_P(Contexts, CountTheTextAndNotWhatAWriterClaimed) {
  Event lie = message("hello");
  lie.tokens = 1'000'000;
  const ThreadId thread = create_thread(store(), "agent", {lie, message("again")}).id;
  const auto window = must(context(thread, 100));
  EXPECT_THAT(seqs(window), ElementsAre(1, 2));
  EXPECT_EQ(window.tokens, 10u);
}

TEST_P(Contexts, OfMessagesOfAMegabyteAreMadeOrSayWhatTheyNeed) {
  const std::string huge(1 << 20, 'a');
  const ThreadId thread =
      create_thread(store(), "agent", {message("small", Role::kAssistant), message(huge)}).id;
  EXPECT_TRUE(fails(context(thread, 8000), ErrorCode::kInvalid, {"131076"}));
  must_append(store(), thread, message("next"));
  const auto window = must(context(thread, 8000));
  EXPECT_THAT(seqs(window), ElementsAre(3));
  EXPECT_EQ(window.ledger.front().tokens, 131'076u + 5);
}

TEST_P(Contexts, SummariseInPassingWhatDoesNotFit) {
  std::vector<Event> events;
  for (int i = 0; i < 200; ++i) {
    events.push_back(message("We decided that topic_" + std::to_string(i) + " is done.",
                             i % 2 == 0 ? Role::kUser : Role::kAssistant));
  }
  const ThreadId thread = create_thread(store(), "agent", events).id;
  const auto window = must(context(thread, 500, ContextStrategy::kSummary));
  ASSERT_FALSE(window.messages.empty());
  EXPECT_EQ(window.messages.front().seq, 0u);
  EXPECT_EQ(window.messages.front().memory_type, MemoryType::kContextSummary);
  EXPECT_EQ(window.ledger.front().what, Disposition::kSummarised);
  EXPECT_EQ(get_thread(store(), thread).last_seq, 200u) << "nothing is stored";
}

}  // namespace
}  // namespace skein::test
