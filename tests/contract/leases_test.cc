#include "contract/contract.h"

namespace skein::test {
namespace {

class Leases : public StoreContract {
 protected:
  Result<Lease> take(std::string_view holder, std::chrono::milliseconds ttl = 10s) {
    return store().lease(id_, holder, ttl, std::nullopt);
  }
  Result<Lease> renew(LeaseToken token, std::chrono::milliseconds ttl = 10s) {
    return store().lease(id_, "holder", ttl, token);
  }
  Result<Appended> append_as(LeaseToken token) {
    Append append;
    append.thread = id_;
    append.event = message("by the holder");
    append.fence = token;
    return append_one(store(), append);
  }
  Result<Manifest> update_as(LeaseToken token) {
    UpdateOptions options;
    options.fence = token;
    return store().update(id_, ManifestPatch().title(std::to_string(++titles_)), options);
  }
  Result<std::vector<Version>> write_as(LeaseToken token) {
    RecordWrite write = record("runs", "run", std::to_string(++titles_));
    write.fence = Fence{id_, token};
    return store().write(std::span(&write, 1));
  }
  void expect_writes(LeaseToken token) {
    EXPECT_TRUE(ok(append_as(token)));
    EXPECT_TRUE(ok(update_as(token)));
    EXPECT_TRUE(ok(write_as(token)));
  }
  void expect_fenced(LeaseToken token) {
    const std::vector<std::string> feed = whole_feed();
    const std::string before = describe(get_thread(store(), id_));
    EXPECT_TRUE(fails(append_as(token), ErrorCode::kFenced, {id_.str()}));
    EXPECT_TRUE(fails(update_as(token), ErrorCode::kFenced, {id_.str()}));
    EXPECT_TRUE(fails(write_as(token), ErrorCode::kFenced, {id_.str()}));
    EXPECT_TRUE(fails(renew(token), ErrorCode::kFenced, {id_.str()}));
    EXPECT_TRUE(fails(renew(token, 0ms), ErrorCode::kFenced, {id_.str()}));
    EXPECT_EQ(describe(get_thread(store(), id_)), before);
    EXPECT_EQ(whole_feed(), feed);
  }

  ThreadId id_ = create_thread(store()).id;
  int titles_ = 0;
};
INSTANTIATE_TEST_SUITE_P(, Leases, testing::ValuesIn(backend_names()), backend_of);

TEST_P(Leases, GiveTheirHolderATokenThatWrites) {
  const Lease lease = must(take("one", 1500ms));
  EXPECT_NE(lease.token, 0U);
  EXPECT_LT(lease.token, 1ULL << 53) << "it fits a JSON number";
  EXPECT_EQ(lease.remaining, 1500ms);
  expect_writes(lease.token);
}

TEST_P(Leases, AreBusyForOthersAndNameTheHolder) {
  must(take("the first one"));
  EXPECT_TRUE(fails(take("two"), ErrorCode::kBusy, {"the first one"}));
  EXPECT_TRUE(fails(take("the first one"), ErrorCode::kBusy));
  clock().advance(9'999ms);
  EXPECT_TRUE(fails(take("two"), ErrorCode::kBusy));
}

TEST_P(Leases, HoldForOneThreadOnly) {
  const LeaseToken token = must(take("one")).token;
  const ThreadId other = create_thread(store()).id;
  const Lease second = must(store().lease(other, "one", 10s, std::nullopt));
  EXPECT_NE(second.token, token);
  expect_fenced(second.token);
}

TEST_P(Leases, CanBeRenewed) {
  const LeaseToken token = must(take("one")).token;
  clock().advance(9s);
  const Lease renewed = must(renew(token));
  EXPECT_EQ(renewed.token, token);
  EXPECT_EQ(renewed.remaining, 10s);
  clock().advance(9s);
  EXPECT_TRUE(fails(take("two"), ErrorCode::kBusy));
  expect_writes(token);
}

TEST_P(Leases, GivenBackAreFreeAtOnceAndTheTokenIsWorthless) {
  const LeaseToken token = must(take("one")).token;
  EXPECT_TRUE(ok(renew(token, 0ms)));
  expect_fenced(token);
  const LeaseToken next = must(take("two")).token;
  EXPECT_NE(next, token);
  expect_fenced(token);
  expect_writes(next);
}

TEST_P(Leases, ThatRanOutStillWriteAndRenewUntilSomebodyTakesThem) {
  const LeaseToken token = must(take("one")).token;
  clock().advance(1h);
  backend_.reopen();
  expect_writes(token);
  EXPECT_EQ(must(renew(token)).token, token);
  EXPECT_TRUE(fails(take("two"), ErrorCode::kBusy));
}

TEST_P(Leases, TakenOverRefuseEveryWriteWithTheOldToken) {
  const LeaseToken old = must(take("one")).token;
  expect_writes(old);
  clock().advance(10s);
  const LeaseToken fresh = must(take("two")).token;
  EXPECT_NE(fresh, old);
  for (int round = 0; round < 2; ++round) {
    expect_fenced(old);
    expect_writes(fresh);
    backend_.reopen();
  }
}

TEST_P(Leases, OutliveTheProcessThatTookThem) {
  const LeaseToken token = must(take("one")).token;
  backend_.reopen();
  EXPECT_TRUE(fails(take("two"), ErrorCode::kBusy, {"one"}));
  expect_writes(token);
}

TEST_P(Leases, OfAnEarlierBootMayBeTakenBeforeTheyRanOut) {
  const LeaseToken old = must(take("one", 1h)).token;
  clock().reboot();
  backend_.reopen();
  expect_writes(old);
  const LeaseToken fresh = must(take("two")).token;
  expect_fenced(old);
  expect_writes(fresh);
}

TEST_P(Leases, DoNotHeedTheWallClock) {
  must(take("one"));
  clock().set_wall_by(24h);
  EXPECT_TRUE(fails(take("two"), ErrorCode::kBusy));
  clock().set_wall_by(-48h);
  clock().advance(10s);
  EXPECT_TRUE(ok(take("two")));
}

TEST_P(Leases, DoNotKeepOutWritesWithoutAToken) {
  must(take("one"));
  EXPECT_EQ(must_append(store(), id_, message("a person speaks up")), 1U);
  EXPECT_TRUE(ok(store().update(id_, patch(R"({"title":"x"})"), {})));
}

TEST_P(Leases, ThatWereNeverTakenFenceEveryToken) {
  expect_fenced(1);
  expect_fenced((1ULL << 53) - 1);
}

TEST_P(Leases, LookAtTheTokenBeforeAnythingElse) {
  UpdateOptions options;
  options.fence = 5;
  options.expect_version = 123456;
  EXPECT_TRUE(fails(store().update(id_, patch(R"({"title":"x"})"), options), ErrorCode::kFenced));
  Append append;
  append.thread = id_;
  append.event = message("x");
  append.fence = 5;
  append.expect_seq = 99;
  EXPECT_TRUE(fails(append_one(store(), append), ErrorCode::kFenced));
  append.event.base = 1;
  EXPECT_TRUE(fails(append_one(store(), append), ErrorCode::kFenced));
}

TEST_P(Leases, FenceTheWholeBatchOfRecords) {
  const LeaseToken token = must(take("one")).token;
  std::vector<RecordWrite> batch{record("runs", "a", "1"), record("runs", "b", "1")};
  batch[1].fence = Fence{id_, token + 1};
  EXPECT_TRUE(fails(store().write(batch), ErrorCode::kFenced));
  EXPECT_THAT(scan_all(store(), "runs"), IsEmpty());
  batch[1].fence->token = token;
  EXPECT_TRUE(ok(store().write(batch)));
  EXPECT_THAT(scan_all(store(), "runs"), SizeIs(2));
}

TEST_P(Leases, FenceRecordsOfAThreadThatIsGone) {
  const LeaseToken token = must(take("one")).token;
  must(store().remove(id_));
  EXPECT_FALSE(write_as(token).has_value());
  EXPECT_THAT(scan_all(store(), "runs"), IsEmpty());
}

TEST_P(Leases, FenceTheRemovalOfTheirThread) {
  const LeaseToken token = must(take("one")).token;
  EXPECT_TRUE(
      fails(store().remove(id_, {.expect_version = {}, .fence = token + 1}), ErrorCode::kFenced));
  EXPECT_TRUE(exists(store(), id_));
  EXPECT_TRUE(must(store().remove(id_, {.expect_version = {}, .fence = token})));
}

TEST_P(Leases, LeaveManifestAndFeedAlone) {
  const std::string before = describe(get_thread(store(), id_));
  const std::vector<std::string> feed = whole_feed();
  clock().advance(1s);
  const LeaseToken token = must(take("one")).token;
  must(renew(token));
  must(renew(token, 0ms));
  EXPECT_EQ(describe(get_thread(store(), id_)), before);
  EXPECT_EQ(whole_feed(), feed);
}

TEST_P(Leases, OfAnUnknownThreadAreRefused) {
  id_ = ThreadId::from_bits(8);
  EXPECT_TRUE(fails(take("one"), ErrorCode::kNotFound, {"000000000008"}));
  EXPECT_EQ(thread_count(), 1U);
}

TEST_P(Leases, RefuseTimesAndHoldersThatBreakTheRules) {
  EXPECT_TRUE(fails(take("one", 0ms), ErrorCode::kInvalid));
  EXPECT_TRUE(fails(take("one", -1ms), ErrorCode::kInvalid, {"-1"}));
  EXPECT_TRUE(fails(take("one", std::chrono::milliseconds(limits::kMaxLeaseMs + 1)),
                    ErrorCode::kInvalid, {std::to_string(limits::kMaxLeaseMs)}));
  EXPECT_TRUE(fails(take(std::string(limits::kMaxKeyBytes + 1, 'h')), ErrorCode::kInvalid,
                    {std::to_string(limits::kMaxKeyBytes)}));
  EXPECT_TRUE(fails(take("\xff"), ErrorCode::kInvalid));
  EXPECT_TRUE(ok(take("still free", std::chrono::milliseconds(limits::kMaxLeaseMs))));
}

}  // namespace
}  // namespace skein::test
