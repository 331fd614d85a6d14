// How many conversations of one user may be active at once.
#include <atomic>
#include <thread>

#include "contract/contract.h"
#include "skein/thread_manager.h"
#include "support/child.h"

namespace skein::test {
namespace {

class ActiveThreads : public StoreContract {
 protected:
  Result<Manifest> start(std::string_view user, ThreadManager* manager = nullptr) {
    NewConversation made;
    made.agent_id = "agent";
    made.metadata = json(R"({"user_id":)" + std::string(user) + "}");
    return (manager == nullptr ? manager_ : *manager).create(made);
  }
  ThreadManagerOptions options(std::size_t max_active) {
    return {.clock = &clock(), .active_limits = {{"user_id", max_active}}};
  }
  std::size_t active() {
    ListQuery query;
    query.status = ThreadStatus::kActive;
    return must(manager_.list(query)).size();
  }

  ThreadManager manager_{store(), options(2)};
};
INSTANTIATE_TEST_SUITE_P(, ActiveThreads, testing::ValuesIn(backend_names()), backend_of);

TEST_P(ActiveThreads, BeyondTheLimitAreRefusedNamingLimitKeyAndValue) {
  must(start(R"("u1")"));
  must(start(R"("u1")"));
  EXPECT_TRUE(fails(start(R"("u1")"), ErrorCode::kConflict, {"2", "user_id", "u1", "close"}));
  EXPECT_EQ(thread_count(), 2U);
}

TEST_P(ActiveThreads, AreCountedByValueAndOnlyWhereTheKeyIs) {
  must(start("1"));
  must(start("1.0"));
  EXPECT_TRUE(fails(start("1"), ErrorCode::kConflict));
  EXPECT_TRUE(ok(start(R"("1")")));
  NewConversation nobody;
  nobody.agent_id = "agent";
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(ok(manager_.create(nobody)));
}

TEST_P(ActiveThreads, MakeRoomWhenOneIsPausedOrClosed) {
  const std::string first = must(start(R"("u")")).id.str();
  must(start(R"("u")"));
  must(manager_.update_status(first, ThreadStatus::kPaused));
  EXPECT_TRUE(ok(start(R"("u")")));
  EXPECT_TRUE(fails(manager_.update_status(first, ThreadStatus::kActive), ErrorCode::kConflict,
                    {"user_id"}));
  EXPECT_EQ(get_thread(store(), must(ThreadId::parse(first))).status, ThreadStatus::kPaused);
}

TEST_P(ActiveThreads, CannotBeMovedToAUserWhoHasEnough) {
  must(start(R"("u")"));
  must(start(R"("u")"));
  const std::string other = must(start(R"("v")")).id.str();
  EXPECT_TRUE(fails(manager_.update(other, ManifestPatch().metadata(json(R"({"user_id":"u"})"))),
                    ErrorCode::kConflict, {"user_id"}));
  EXPECT_TRUE(
      ok(manager_.update(other, ManifestPatch().metadata(json(R"({"user_id":"v","n":1})")))));
}

TEST_P(ActiveThreads, LeaveNoReservationBehind) {
  const auto reserved = [this] { return scan_all(store(), "thread_limits").at(0).bytes; };
  must(start(R"("u")"));
  EXPECT_EQ(reserved(), "{}");
  must(start(R"("u")"));
  EXPECT_TRUE(fails(start(R"("u")"), ErrorCode::kConflict));
  EXPECT_EQ(reserved(), "{}");
}

TEST_P(ActiveThreads, ReservedByWhoDiedCountForAMinute) {
  must(start(R"("u")"));
  const std::string until = Timestamp{clock().now().us + 60'000'000}.str();
  must(store().write(std::vector{
      record("thread_limits", R"(user_id="u")", R"({"0123456789ab":")" + until + R"("})")}));
  EXPECT_TRUE(fails(start(R"("u")"), ErrorCode::kConflict));
  clock().advance(61s);
  EXPECT_TRUE(ok(start(R"("u")")));
}

TEST_P(ActiveThreads, OfManyWhoStartAtOnceTheLimitHolds) {
  ThreadManager manager(store(), options(5));
  std::atomic<int> started{0};
  {
    std::vector<std::jthread> clients;
    for (int i = 0; i < 8; ++i) {
      clients.emplace_back([&] {
        for (int n = 0; n < 3; ++n) started += start(R"("u")", &manager) ? 1 : 0;
      });
    }
  }
  EXPECT_EQ(started, 5);
  EXPECT_EQ(active(), 5U);
}

SKEIN_ON_PERSISTENT_BACKENDS(ActiveThreadsOfProcesses);

TEST_P(ActiveThreadsOfProcesses, KeepToTheLimitTogether) {
  std::vector<std::unique_ptr<Child>> children;
  for (int i = 0; i < 4; ++i) {
    children.push_back(std::make_unique<Child>(
        std::vector<std::string>{"start_limited", backend_.url(), "5", "4"}));
    EXPECT_EQ(children.back()->read_line(), "ready");
  }
  for (const auto& child : children) child->send_line("go");
  int started = 0;
  for (const auto& child : children) {
    for (const std::string& answer : child->read_to_end()) started += answer == "started" ? 1 : 0;
    EXPECT_EQ(child->wait(), 0);
  }
  EXPECT_EQ(started, 5);
  EXPECT_EQ(thread_count(), 5U);
}

}  // namespace
}  // namespace skein::test
