// A thousand random threads, and what every context of each of them must keep to.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "skein/context.h"
#include "skein/tokens.h"
#include "support/backend.h"
#include "support/builders.h"
#include "support/expect.h"
#include "support/random_thread.h"

namespace skein::test {
namespace {

// What a context is compared with, found out from the events one by one.
class Oracle {
 public:
  Oracle(Store& store, ThreadId thread) : events_(read_all(store, thread)) {
    for (Seq seq = events_.size(); seq > 0;) {
      path_.insert(seq);
      seq = at(seq).base.value_or(seq - 1);
    }
    find_pairs();
    find_cancelled();
  }

  const Event& at(Seq seq) const { return events_.at(seq - 1); }
  Seq last() const { return events_.size(); }
  const std::set<Seq>& path() const { return path_; }
  const std::map<Seq, Seq>& pairs() const { return pairs_; }  // response → call
  const std::set<Seq>& cancelled() const { return cancelled_; }

  bool is(Seq seq, Role role) const {
    const Message* message = std::get_if<Message>(&at(seq).payload);
    return message != nullptr && message->role == role;
  }
  bool is_plain_system(Seq seq) const {
    return is(seq, Role::kSystem) && at(seq).memory_type != MemoryType::kContextSummary;
  }
  Seq newest_user() const {
    for (auto seq = path_.rbegin(); seq != path_.rend(); ++seq) {
      if (is(*seq, Role::kUser)) return *seq;
    }
    return 0;
  }
  // metadata of the shape {"covers":[[a,b],…]}
  std::set<Seq> covered_by(const Event& summary) const {
    std::set<Seq> all;
    std::string digits = summary.metadata.text();
    for (char& c : digits) c = std::isdigit(static_cast<unsigned char>(c)) != 0 ? c : ' ';
    std::istringstream numbers(digits);
    for (Seq first = 0, last = 0; numbers >> first >> last;) {
      for (Seq seq = first; seq <= last; ++seq) all.insert(seq);
    }
    return all;
  }

 private:
  void find_pairs() {
    std::map<std::string, std::vector<Seq>> open;
    for (const Seq seq : path_) {
      const std::string id = at(seq).metadata.text();  // nothing but the id is in there
      if (std::holds_alternative<ToolUse>(at(seq).payload)) open[id].push_back(seq);
      if (!is(seq, Role::kTool) || open[id].empty()) continue;
      pairs_[seq] = open[id].back();
      open[id].pop_back();
    }
  }
  void find_cancelled() {
    for (const Seq seq : path_) {
      const std::string& metadata = at(seq).metadata.text();
      if (!metadata.starts_with("{\"undoes\":")) continue;
      cancelled_.insert(seq);
      cancelled_.insert(std::stoull(metadata.substr(10)));
    }
  }

  std::vector<Event> events_;
  std::set<Seq> path_;
  std::map<Seq, Seq> pairs_;
  std::set<Seq> cancelled_;
};

std::uint64_t plain_cost(const Event& event) {
  if (const auto* call = std::get_if<ToolUse>(&event.payload)) {
    return kMessageOverhead + count_tokens(call->name) + count_tokens(call->input.text());
  }
  return kMessageOverhead + count_tokens(text_of(event));
}

// Everything is said once of every event, and the tokens of what is in add up.
void check_ledger(const Oracle& oracle, const ContextWindow& context, std::set<Seq>& in) {
  std::set<Seq> listed;
  std::uint64_t tokens = 0;
  Seq before = 0;
  for (const LedgerEntry& entry : context.ledger) {
    if (entry.what == Disposition::kIn) tokens += entry.tokens;
    EXPECT_FALSE(entry.why.empty());
    if (!entry.seqs) continue;
    EXPECT_GT(entry.seqs->first, before);
    EXPECT_LE(entry.seqs->first, entry.seqs->last);
    before = entry.seqs->last;
    for (Seq seq = entry.seqs->first; seq <= entry.seqs->last; ++seq) {
      listed.insert(seq);
      if (entry.what == Disposition::kIn) in.insert(seq);
      EXPECT_TRUE(entry.what == Disposition::kLeftOut || oracle.path().contains(seq)) << seq;
    }
  }
  EXPECT_EQ(tokens, context.tokens);
  for (Seq seq = 1; seq <= oracle.last(); ++seq) {
    EXPECT_NE(listed.contains(seq), oracle.cancelled().contains(seq)) << seq;
  }
}

void check_messages(const Oracle& oracle, const ContextWindow& context, const std::set<Seq>& in) {
  std::set<Seq> shown;
  std::set<Seq> covered;
  Seq before = 0;
  std::uint64_t tokens = 0;
  for (const Event& event : context.messages) {
    const bool summary = event.memory_type == MemoryType::kContextSummary;
    if (event.extra.empty()) tokens += plain_cost(event);
    if (!event.extra.empty())
      tokens += kMessageOverhead + count_tokens(text_of(event)) + kImageTokens;
    if (summary) covered.merge(oracle.covered_by(event));
    if (event.seq == 0) continue;
    shown.insert(event.seq);
    EXPECT_EQ(to_json(event), to_json(oracle.at(event.seq)));
    if (summary) continue;
    EXPECT_GT(event.seq, before);
    before = event.seq;
  }
  EXPECT_EQ(shown, in);
  EXPECT_EQ(tokens, context.tokens);
  for (const LedgerEntry& entry : context.ledger) {
    if (entry.what != Disposition::kSummarised) continue;
    for (Seq seq = entry.seqs->first; seq <= entry.seqs->last; ++seq) {
      EXPECT_TRUE(covered.contains(seq)) << seq << " is said to be summarised";
    }
  }
}

void check_promises(const Oracle& oracle, const std::set<Seq>& in) {
  for (const auto& [response, call] : oracle.pairs()) {
    EXPECT_EQ(in.contains(response), in.contains(call)) << call << " and " << response;
  }
  for (const Seq seq : oracle.path()) {
    if (oracle.is_plain_system(seq)) EXPECT_TRUE(in.contains(seq)) << seq;
  }
  if (oracle.newest_user() != 0) EXPECT_TRUE(in.contains(oracle.newest_user()));
}

// What must be in at least, by system messages and the newest user message alone.
std::uint64_t least_tokens(const Oracle& oracle) {
  std::uint64_t tokens = 0;
  for (const Seq seq : oracle.path()) {
    if (oracle.is_plain_system(seq)) tokens += plain_cost(oracle.at(seq));
  }
  if (oracle.newest_user() != 0) tokens += plain_cost(oracle.at(oracle.newest_user()));
  return tokens;
}

TEST(ContextProperties, HoldForAThousandRandomThreadsAndAllStrategies) {
  Backend backend("memory");
  Store& store = backend.store();
  std::mt19937_64 random(2026);
  std::uint64_t contexts = 0;
  std::uint64_t refusals = 0;
  std::uint64_t with_summary = 0;
  for (int round = 0; round < 1000; ++round) {
    const ThreadId thread = make_random_thread(store, random);
    const Oracle oracle(store, thread);
    for (const auto strategy :
         {ContextStrategy::kRecent, ContextStrategy::kSummary, ContextStrategy::kHybrid}) {
      for (const std::uint64_t budget :
           {1 + random() % 100, 1 + random() % 1000, 1 + random() % 9000}) {
        SCOPED_TRACE(testing::Message()
                     << "round " << round << ", budget " << budget << ", " << to_string(strategy));
        ContextRequest request;
        request.max_tokens = budget;
        request.strategy = strategy;
        const auto context = make_context(store, thread, request);
        if (!context) {
          EXPECT_TRUE(fails(context, ErrorCode::kInvalid, {"needs at least"}));
          ++refusals;
          continue;
        }
        ++contexts;
        EXPECT_LE(context->tokens, budget);
        EXPECT_GE(budget, least_tokens(oracle));
        std::set<Seq> in;
        check_ledger(oracle, *context, in);
        check_messages(oracle, *context, in);
        check_promises(oracle, in);
        with_summary += std::any_of(
            context->messages.begin(), context->messages.end(),
            [](const Event& event) { return event.memory_type == MemoryType::kContextSummary; });
        if (testing::Test::HasFailure()) return;
      }
    }
    must(store.remove(thread));
  }
  // The test must have seen what it is about.
  EXPECT_GT(contexts, 5000u);
  EXPECT_GT(refusals, 300u);
  EXPECT_GT(with_summary, 500u);
}

// By each strategy; or why there is none.
std::vector<std::string> contexts_of(Store& store, ThreadId thread, std::uint64_t budget) {
  std::vector<std::string> all;
  for (const auto strategy :
       {ContextStrategy::kRecent, ContextStrategy::kSummary, ContextStrategy::kHybrid}) {
    ContextRequest request;
    request.max_tokens = budget;
    request.strategy = strategy;
    const auto context = make_context(store, thread, request);
    all.push_back(context ? to_json(*context) : context.error().message);
  }
  return all;
}

TEST(ContextProperties, TheSameContextComesBackWhenASummaryIsUndone) {
  Backend backend("memory");
  Store& store = backend.store();
  std::mt19937_64 random(7);
  int summarised = 0;
  for (int round = 0; round < 300; ++round) {
    const ThreadId thread = make_random_thread(store, random);
    const std::uint64_t budget = 200 + random() % 3000;
    const std::vector<std::string> before = contexts_of(store, thread, budget);
    SummarizeRequest summarize;
    summarize.threshold = random() % 10;
    summarize.keep_recent = random() % 10;
    const auto summary = must(summarize_thread(store, thread, summarize));
    if (!summary) continue;
    ++summarised;
    EXPECT_EQ(must(undo_summary(store, thread, {})), summary->seq);
    ASSERT_EQ(contexts_of(store, thread, budget), before) << "round " << round;
  }
  EXPECT_GT(summarised, 100);
}

}  // namespace
}  // namespace skein::test
