// skein thread context and skein thread summarize, as a user runs them.
#include <gmock/gmock.h>

#include "program.h"

namespace skein::test {
namespace {

using testing::HasSubstr;

class ContextCommands : public OnEveryBackend {
 protected:
  std::string make_thread(int messages) {
    const std::string thread = workspace_.create({"--message", "Where do we start?"});
    std::string lines;
    for (int i = 0; i < messages; ++i) {
      lines += R"({"role":"assistant","text":"We decided that part_)" + std::to_string(i) +
               R"( comes next."})" + "\n";
    }
    EXPECT_EQ(workspace_.run({"thread", "append", thread, "--jsonl"}, lines).code, 0);
    return thread;
  }
  Ran context(const std::string& thread, std::vector<std::string> more) {
    more.insert(more.begin(), {"thread", "context", thread});
    return workspace_.run(more);
  }
};

INSTANTIATE_ON_EVERY_BACKEND(ContextCommands);

TEST_P(ContextCommands, PrintMessagesLedgerTokensAndStrategyAsJson) {
  const std::string thread = make_thread(30);
  const Ran ran = context(thread, {"--max-tokens", "100", "--strategy", "recent", "--json"});
  ASSERT_EQ(ran.code, 0) << ran;
  const auto json = ran.json();
  EXPECT_EQ(json.at("strategy").as_string(), "recent");
  EXPECT_LE(json.at("tokens").as_int64(), 100);
  std::int64_t in = 0;
  for (const auto& entry : json.at("ledger").as_array()) {
    if (entry.at("what").as_string() == "in") in += entry.at("tokens").as_int64();
  }
  EXPECT_EQ(in, json.at("tokens").as_int64());
  EXPECT_EQ(json.at("messages").as_array().back().at("text").as_string(),
            "We decided that part_29 comes next.");
}

TEST_P(ContextCommands, GiveTheSameContextAgainAfterSummarizeAndUndo) {
  const std::string thread = make_thread(80);
  for (const char* strategy : {"recent", "summary", "hybrid"}) {
    const Ran before = context(thread, {"--max-tokens", "600", "--strategy", strategy, "--json"});
    const Ran made = workspace_.run({"thread", "summarize", thread, "--json"});
    ASSERT_EQ(made.code, 0) << made;
    EXPECT_TRUE(made.json().at("seq").is_int64());
    const Ran summarised = context(thread, {"--strategy", "summary", "--json"});
    EXPECT_THAT(summarised.out, HasSubstr("summarised"));
    ASSERT_EQ(workspace_.run({"thread", "summarize", thread, "--undo"}).code, 0);
    const Ran after = context(thread, {"--max-tokens", "600", "--strategy", strategy, "--json"});
    EXPECT_EQ(before.out, after.out);
  }
}

TEST_P(ContextCommands, SayWhatIsWrongAndWhatIsNeeded) {
  const std::string thread = make_thread(3);
  EXPECT_EQ(context(thread, {"--strategy", "newest"}).code, 2);
  EXPECT_EQ(context(thread, {"--max-tokens", "-1"}).code, 2);
  EXPECT_EQ(context(thread, {"--max-tokens", "0"}).code, 1);
  const Ran small = context(thread, {"--max-tokens", "3", "--json"});
  EXPECT_EQ(small.code, 1);
  EXPECT_THAT(small.err, HasSubstr("needs at least 9 tokens"));
  EXPECT_EQ(context("ffffffffffff", {}).code, 3);
  EXPECT_EQ(workspace_.run({"thread", "summarize", thread, "--undo"}).code, 3);
  EXPECT_EQ(workspace_.run({"thread", "summarize", thread, "--json"}).out, "{\"seq\":null}\n");
}

TEST_P(ContextCommands, PrintATableForPeople) {
  const std::string thread = make_thread(30);
  const Ran ran = context(thread, {"--max-tokens", "100"});
  EXPECT_THAT(ran.out, HasSubstr("of 100 tokens, strategy recent"));
  EXPECT_THAT(ran.out, HasSubstr("over the budget"));
}

}  // namespace
}  // namespace skein::test
