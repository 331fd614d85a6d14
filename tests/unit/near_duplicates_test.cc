// How well texts that say nearly the same are told from texts that do not.
#include <gtest/gtest.h>

#include <fstream>

#include "work/item_view.h"

namespace skein::test {
namespace {

WorkItem open_item(std::string text) {
  WorkItem item;
  item.id = "t-1";
  item.text = std::move(text);
  return item;
}

bool alike(const std::string& a, const std::string& b) {
  const bool there = OpenWordings({open_item(b)}).find(a) != nullptr;
  const bool back = OpenWordings({open_item(a)}).find(b) != nullptr;
  EXPECT_EQ(there, back) << a << " | " << b;
  return there;
}

struct Counts {
  double found = 0;   // duplicates that are recognised
  double missed = 0;  // duplicates that are not
  double wrong = 0;   // others that are taken for duplicates

  double precision() const { return found / (found + wrong); }
  double recall() const { return found / (found + missed); }
};

TEST(NearDuplicates, KeepPrecisionAndRecallOnTheLabelledPairs) {
  std::ifstream file(SKEIN_SOURCE_DIR "/tests/fixtures/duplicate_pairs.tsv");
  Counts counts;
  std::size_t pairs = 0;
  for (std::string line; std::getline(file, line);) {
    const std::size_t first = line.find('\t');
    const std::size_t second = line.find('\t', first + 1);
    if (line.starts_with('#') || second == std::string::npos) continue;
    const std::string a = line.substr(first + 1, second - first - 1);
    const std::string b = line.substr(second + 1);
    const bool is_same = line.substr(0, first) == "same";
    const bool is_found = alike(a, b);
    if (is_same) ++(is_found ? counts.found : counts.missed);
    if (!is_same && is_found) ++counts.wrong;
    ++pairs;
  }
  EXPECT_EQ(pairs, 200u);
  RecordProperty("precision", std::to_string(counts.precision()));
  RecordProperty("recall", std::to_string(counts.recall()));
  EXPECT_GE(counts.precision(), 0.97);
  EXPECT_GE(counts.recall(), 0.92);
}

TEST(NearDuplicates, OneOtherContentWordIsADifference) {
  EXPECT_FALSE(alike("Deploy the API to staging", "Deploy the API to production"));
  EXPECT_FALSE(alike("Write tests for the parser", "Write tests for the lexer"));
  EXPECT_FALSE(alike("Fix the bug on iOS", "Fix the bug on Android"));
  EXPECT_FALSE(alike("Update the README", "Update the CHANGELOG"));
  EXPECT_FALSE(alike("Write tests for the parser", "Deploy the new parser tomorrow"));
  EXPECT_FALSE(alike("Port the tool to C++", "Port the tool to C#"));
  EXPECT_FALSE(alike("启用通知功能", "禁用通知功能"));
}

TEST(NearDuplicates, AntonymsAndNegationsDiffer) {
  EXPECT_FALSE(alike("Enable feature X", "Disable feature X"));
  EXPECT_FALSE(alike("Retry on 429", "Do not retry on 429"));
  EXPECT_FALSE(alike("OD-5: add index to users table", "OD-5: drop index from users table"));
}

TEST(NearDuplicates, StopWordsEndingsAndAbbreviationsDoNotCount) {
  EXPECT_TRUE(alike("Fix the login bug", "fix login bug"));
  EXPECT_TRUE(alike("Fix the login bug!", "FIX  THE LOGIN BUG"));
  EXPECT_TRUE(alike("Retry policy of the importer", "RETRY policy of importer"));
  EXPECT_TRUE(alike("Rotate prod DB creds", "Rotate the production database credentials"));
  EXPECT_TRUE(alike("Add caching to the search endpoint", "Search endpoint: add cache"));
  EXPECT_TRUE(alike("Исправить ошибку входа", "исправить ОШИБКУ входа."));
  EXPECT_TRUE(alike("修正登录页面的错误", "修正登录页面错误"));
}

TEST(NearDuplicates, WordsInOtherRolesDiffer) {
  EXPECT_FALSE(alike("Copy the tables from A to B", "Copy the tables from B to A"));
  EXPECT_FALSE(alike("Replace Redis with Postgres", "Replace Postgres with Redis"));
}

TEST(NearDuplicates, ASharedIssueKeyCountsMore) {
  EXPECT_TRUE(alike("Fix OD-692 login", "OD-692: login broken on Safari"));
  EXPECT_TRUE(alike("#44 cache search results", "Cache the search results (#44)"));
  EXPECT_FALSE(alike("Fix crash login", "login broken on Safari"));
  EXPECT_FALSE(alike("OD-692 write tests", "OD-692 update docs"));
  EXPECT_FALSE(alike("OD-692 tests for the parser", "OD-692 tests for the lexer"));
  EXPECT_FALSE(alike("Fix the flaky login test of OD-692", "Fix the flaky login test of OD-693"));
  EXPECT_FALSE(alike("Support SHA-256 in the parser", "Support SHA-256 in the lexer"));
}

TEST(NearDuplicates, ANumberThatDiffersTellsItemsApart) {
  EXPECT_FALSE(alike("Migrate the users of shard 12 now", "Migrate the users of shard 13 now"));
  EXPECT_FALSE(alike("Release version 2 of the client", "Release version 3 of the client"));
  EXPECT_FALSE(alike("Upgrade Python to 3.1", "Upgrade Python to 1.3"));
}

TEST(NearDuplicates, ASingleWordIsLikeItselfOnly) {
  EXPECT_TRUE(alike("Tests", "tests"));
  EXPECT_FALSE(alike("tests", "write tests"));
  EXPECT_FALSE(alike("OD-692", "OD-692 write tests"));
}

TEST(NearDuplicates, OfOneIssueMayGoOnDifferently) {
  EXPECT_TRUE(
      alike("OD-692: environment variables of the mail relay must be checked after the "
            "restart; its entry in the server list is still missing",
            "OD-692: environment variables of the mail relay must be checked, put off "
            "after the incident"));
  EXPECT_TRUE(alike("OD-100: set up migrations of the database for the new schema",
                    "OD-100: migrations of the database are blocked by missing rights"));
  EXPECT_FALSE(alike("OD-100: repair the login timeout", "OD-200: deploy the staging cluster"));
}

TEST(NearDuplicates, APartOfATextIsAnotherItem) {
  EXPECT_TRUE(alike("Repair auth retries", "Repair authentication retries"));
  EXPECT_FALSE(alike("Repair auth", "Repair auth retries in the container"));
  EXPECT_FALSE(alike("Repair auth retries", "Repair cache retries"));
  EXPECT_FALSE(alike("Try plan B", "Try plan C"));
  EXPECT_FALSE(alike("what is it", "it is what")) << "nothing is said in common";
}

// C11: fails on b39c6a2, where a key in small letters needs two digits everywhere.
TEST(NearDuplicates, AnIssueKeyInFrontCountsInSmallLetters) {
  EXPECT_TRUE(alike("od-123: rotate the keys", "OD-123: rotate keys"));
  EXPECT_TRUE(alike("od-7: rotate the keys", "OD-7: rotate keys"));
  EXPECT_FALSE(alike("step-1: rotate the keys", "step-2: rotate the keys"));
  EXPECT_FALSE(alike("Write step-1 of the guide", "Write step-2 of the guide"));
}

TEST(NearDuplicates, AreLookedForAmongOpenItemsOnly) {
  WorkItem resolved = open_item("X");
  resolved.status = ItemStatus::kResolved;
  EXPECT_EQ(OpenWordings({resolved}).find("X"), nullptr);
}

}  // namespace
}  // namespace skein::test
