// Retention: what is due, what goes, and what is left on record.
#include "skein/retention.h"

#include "contract/contract.h"
#include "skein/thread_manager.h"

namespace skein::test {
namespace {

class Retention : public StoreContract {
 protected:
  std::string archived(std::optional<std::int64_t> days) {
    NewConversation made;
    made.agent_id = "agent";
    const std::string id = must(manager_.create(made)).id.str();
    must(manager_.archive(id, {.retention_days = days, .reason = "compliance"}));
    return id;
  }
  std::vector<std::string> due() {
    std::vector<std::string> ids;
    for (const DueThread& thread : must(due_threads(store(), clock().now()))) {
      ids.push_back(thread.manifest.id.str());
    }
    return ids;
  }
  std::vector<std::string> removals() {
    std::vector<std::string> all;
    must(read_removals(store(), [&](const Removal& removal) {
      all.push_back(removal.thread.str() + " " + removal.agent_id + " " + removal.reason);
      return true;
    }));
    return all;
  }

  ThreadManager manager_{store(), {.clock = &clock()}};
};
INSTANTIATE_TEST_SUITE_P(, Retention, testing::ValuesIn(backend_names()), backend_of);

TEST_P(Retention, IsOverAfterTheDaysAndNeverWithoutThem) {
  const std::string month = archived(30);
  const std::string day = archived(1);
  archived({});
  const std::string at_once = archived(0);
  archived(std::numeric_limits<std::int64_t>::max());
  EXPECT_THAT(due(), ElementsAre(at_once));
  clock().advance(24h - 1ms);
  EXPECT_THAT(due(), ElementsAre(at_once));
  clock().advance(1ms);
  EXPECT_THAT(due(), ElementsAre(at_once, day));
  clock().advance(24h * 29);
  EXPECT_THAT(due(), ElementsAre(at_once, day, month));
  clock().advance(24h * 100'000);
  EXPECT_THAT(due(), SizeIs(3));
}

TEST_P(Retention, SaysWhyAndLeavesARecordOfWhatWent) {
  const std::string id = archived(1);
  clock().advance(48h);
  const auto all = must(due_threads(store(), clock().now()));
  ASSERT_THAT(all, SizeIs(1));
  EXPECT_THAT(all[0].reason,
              testing::AllOf(testing::HasSubstr("1 days"), testing::HasSubstr("compliance")));
  EXPECT_TRUE(must(remove_due(store(), all[0], clock().now())));
  EXPECT_EQ(thread_count(), 0U);
  EXPECT_THAT(removals(), ElementsAre(id + " agent " + all[0].reason));
  EXPECT_FALSE(must(remove_due(store(), all[0], clock().now())));
  EXPECT_THAT(scan_all(store(), "status_changes"), IsEmpty());
}

TEST_P(Retention, FinishesAfterACrashBetweenTheRecordAndTheRemoval) {
  const std::string id = archived(0);
  must(store().write(std::vector{record("removals", id, R"({"agentId":"agent","reason":"x"})")}));
  const auto all = must(due_threads(store(), clock().now()));
  ASSERT_THAT(all, SizeIs(1));
  EXPECT_TRUE(must(remove_due(store(), all[0], clock().now())));
  EXPECT_THAT(removals(), SizeIs(1));
}

TEST_P(Retention, LeavesAloneWhatWasRestoredSinceItWasFoundDue) {
  const std::string id = archived(0);
  const auto all = must(due_threads(store(), clock().now()));
  ASSERT_THAT(all, SizeIs(1));
  must(manager_.restore(id));
  EXPECT_FALSE(must(remove_due(store(), all[0], clock().now())));
  EXPECT_TRUE(must(manager_.get(id)).has_value());
  EXPECT_THAT(removals(), IsEmpty());
}

TEST_P(Retention, ForgetsARemovalThatWasBegunAndThenRestored) {
  const std::string id = archived(0);
  must(store().write(std::vector{record("removals", id, R"({"agentId":"agent","reason":"x"})")}));
  must(manager_.restore(id));
  EXPECT_THAT(removals(), IsEmpty());
}

TEST_P(Retention, RecordsWhatWasRemovedByHandToo) {
  NewConversation made;
  made.agent_id = "agent";
  const std::string id = must(manager_.create(made)).id.str();
  EXPECT_TRUE(must(manager_.remove(id)));
  EXPECT_THAT(removals(), ElementsAre(id + " agent asked for"));
}

}  // namespace
}  // namespace skein::test
