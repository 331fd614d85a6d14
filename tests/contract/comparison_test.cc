// Random sequences of all operations give the same answers on each backend as on memory:.
//
// SKEIN_SEED=N repeats one sequence, SKEIN_STEPS=N makes them longer.
#include "support/comparison.h"

#include <cstdlib>

#include "contract/contract.h"
#include "support/broken_store.h"

namespace skein::test {
namespace {

std::uint64_t number_from_environment(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::stoull(text);
}

std::vector<std::uint64_t> seeds(std::uint64_t count) {
  if (std::getenv("SKEIN_SEED") != nullptr) return {number_from_environment("SKEIN_SEED", 0)};
  std::vector<std::uint64_t> all;
  for (std::uint64_t seed = 1; seed <= count; ++seed) all.push_back(seed);
  return all;
}

std::size_t steps() { return number_from_environment("SKEIN_STEPS", 800); }

class Comparison : public testing::TestWithParam<std::string> {};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(Comparison);
INSTANTIATE_TEST_SUITE_P(, Comparison, testing::ValuesIn(persistent_backend_names()), backend_of);

TEST_P(Comparison, RandomOperationsGiveTheSameAnswersAsOnMemory) {
  const bool feed_in_order = GetParam() != "jsonl";
  const MakeWorld memory = [=] { return std::make_unique<World>("memory", feed_in_order); };
  const MakeWorld tested = [=] { return std::make_unique<World>(GetParam(), feed_in_order); };
  for (const std::uint64_t seed : seeds(3)) {
    std::vector<Operation> operations = random_operations(seed, steps());
    const std::optional<Difference> difference = compare(operations, memory, tested);
    if (!difference) continue;
    operations.resize(difference->step + 1);
    FAIL() << "SKEIN_SEED=" << seed << " SKEIN_STEPS=" << difference->step + 1
           << "\nexpected: " << difference->expected << "\nfound:    " << difference->found
           << "\n\nThe shortest way there that was found:\n"
           << narrate(shrink(operations, memory, tested), memory, tested);
  }
}

// The comparison itself: it must find what is wrong with a store that is.
class BrokenStore : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(, BrokenStore, testing::ValuesIn(bug_names()), backend_of);

TEST_P(BrokenStore, IsFoundByTheComparison) {
  const MakeWorld memory = [] { return std::make_unique<World>("memory", true); };
  const MakeWorld broken = [] {
    return std::make_unique<World>("memory", true,
                                   [](Store& inner) { return break_store(inner, GetParam()); });
  };
  for (const std::uint64_t seed : {1, 2, 3}) {
    std::vector<Operation> operations = random_operations(seed, 800);
    ASSERT_FALSE(compare(operations, memory, memory).has_value()) << "memory: differs from itself";
    const std::optional<Difference> difference = compare(operations, memory, broken);
    if (!difference) continue;
    operations.resize(difference->step + 1);
    const std::vector<Operation> shortest = shrink(operations, memory, broken);
    EXPECT_TRUE(compare(shortest, memory, broken).has_value()) << "what was left shows it too";
    EXPECT_LE(shortest.size(), 40U) << narrate(shortest, memory, broken);
    return;
  }
  FAIL() << "not found by the sequences that a backend is tested with";
}

TEST(ComparisonOfWorlds, MeetsEveryOperationWithSuccessAndRefusal) {
  World world("memory", true);
  std::map<std::string, int> seen;
  for (const Operation& operation : random_operations(1, 3000)) {
    const std::string story = world.perform(operation);
    for (const std::string word : {"invalid", "not_found", "conflict", "busy", "fenced"}) {
      if (story.find(word) != std::string::npos) ++seen[story.substr(0, story.find(' ')) + word];
    }
    if (story.find("repeated") != std::string::npos) ++seen["repeated"];
    if (story.find("version #4") != std::string::npos) ++seen["version"];
  }
  for (const std::string_view what :
       {"createinvalid", "createconflict", "forknot_found", "forkinvalid", "updateinvalid",
        "updatenot_found", "updateconflict", "updatefenced", "repeated", "leasebusy", "leasefenced",
        "leasenot_found", "writeconflict", "writefenced", "writeinvalid", "version"}) {
    EXPECT_GT(seen[std::string(what)], 0) << what;
  }
}

}  // namespace
}  // namespace skein::test
