#include "contract/contract.h"

namespace skein::test {
namespace {

SKEIN_ON_EVERY_BACKEND(Together);

Append say(ThreadId thread, std::string text, std::optional<LeaseToken> fence = std::nullopt) {
  Append append;
  append.thread = thread;
  append.event = message(std::move(text));
  append.fence = fence;
  return append;
}

TEST_P(Together, EachWriteSeesThoseBeforeIt) {
  const ThreadId thread = create_thread(store()).id;
  std::vector<Result<Appended>> said;
  Result<Lease> lease = tl::unexpected(Error{});
  Result<Manifest> updated = tl::unexpected(Error{});
  Result<std::vector<Version>> written = tl::unexpected(Error{});
  Result<Lease> given_back = tl::unexpected(Error{});
  must(store().together([&](Writes& in) {
    lease = in.lease(thread, "me", 10s, std::nullopt);
    if (!lease) return;
    const std::vector<Append> appends{say(thread, "one", lease->token),
                                      say(thread, "two", lease->token)};
    said = in.append(appends);
    UpdateOptions fenced;
    fenced.fence = lease->token;
    updated = in.update(thread, patch(R"({"title":"t"})"), fenced);
    RecordWrite run = record("runs", "a", "b");
    run.fence = Fence{thread, lease->token};
    written = in.write(std::span(&run, 1));
    given_back = in.lease(thread, "me", 0ms, lease->token);
  }));
  ASSERT_THAT(said, SizeIs(2));
  EXPECT_EQ(must(said[0]).seq, 1U);
  EXPECT_EQ(must(said[1]).seq, 2U);
  EXPECT_EQ(must(updated).last_seq, 2U);
  EXPECT_NE(must(written).at(0), 0U);
  must(given_back);
  backend_.reopen();
  EXPECT_EQ(get_thread(store(), thread).title, "t");
  EXPECT_THAT(read_all(store(), thread), SizeIs(2));
  EXPECT_THAT(scan_all(store(), "runs"), SizeIs(1));
  must(store().lease(thread, "another", 10s, std::nullopt));
}

TEST_P(Together, ARefusalLeavesWhatCameBeforeAndWhatComesAfter) {
  const ThreadId thread = create_thread(store()).id;
  const std::vector<Append> before{say(thread, "before")};
  const std::vector<Append> fenced{say(thread, "refused", LeaseToken{77})};
  const std::vector<Append> after{say(thread, "after")};
  std::vector<Result<Appended>> refused;
  Result<Manifest> unknown = tl::unexpected(Error{});
  must(store().together([&](Writes& in) {
    in.append(before);
    refused = in.append(fenced);
    unknown = in.update(ThreadId::from_bits(7), patch("{}"), {});
    in.append(after);
  }));
  EXPECT_TRUE(fails(refused.at(0), ErrorCode::kFenced, {}));
  EXPECT_TRUE(fails(unknown, ErrorCode::kNotFound, {"000000000007"}));
  EXPECT_THAT(texts(read_all(store(), thread)), ElementsAre("before", "after"));
}

TEST_P(Together, AThreadIsRemovedAndMadeAgain) {
  const Manifest before = create_thread(store(), "a");
  std::string cursor;
  drain_text(store(), cursor);
  Result<Manifest> made = tl::unexpected(Error{});
  Result<Manifest> taken = tl::unexpected(Error{});
  NewThread again;
  again.agent_id = "b";
  again.id = before.id;
  must(store().together([&](Writes& in) {
    taken = in.create(again);
    UpdateOptions as_read;
    as_read.expect_version = before.version;
    const auto removed = in.remove(before.id, as_read);
    if (removed && *removed) made = in.create(again);
  }));
  EXPECT_TRUE(fails(taken, ErrorCode::kConflict, {"exists already"}));
  EXPECT_NE(must(made).version, before.version);
  EXPECT_THAT(drain_text(store(), cursor), SizeIs(2));
  backend_.reopen();
  EXPECT_EQ(get_thread(store(), before.id).agent_id, "b");
}

TEST_P(Together, NothingIsWrittenForNothing) {
  create_thread(store());
  const auto before = whole_feed();
  must(store().together([](Writes&) {}));
  EXPECT_EQ(whole_feed(), before);
}

TEST_P(Together, ItsChangesAreInTheFeedInTheirOrder) {
  const ThreadId thread = create_thread(store()).id;
  std::string cursor;
  drain_text(store(), cursor);
  const std::vector<Append> one{say(thread, "one")};
  must(store().together([&](Writes& in) {
    in.append(one);
    [[maybe_unused]] const auto titled = in.update(thread, patch(R"({"title":"t"})"), {});
    in.append(one);
  }));
  const std::vector<std::string> told = drain_text(store(), cursor);
  EXPECT_THAT(told, SizeIs(3));
}

TEST_P(Together, LeasesStayAsTheLastWriteLeftThem) {
  const ThreadId passed_on = create_thread(store()).id;
  const ThreadId taken_twice = create_thread(store()).id;
  const ThreadId given_back = create_thread(store()).id;
  const LeaseToken old = must(store().lease(passed_on, "one", 10s, std::nullopt)).token;
  const LeaseToken gone = must(store().lease(given_back, "one", 10s, std::nullopt)).token;
  LeaseToken next = 0;
  LeaseToken second = 0;
  must(store().together([&](Writes& in) {
    must(in.lease(passed_on, "one", 0ms, old));
    next = must(in.lease(passed_on, "two", 10s, std::nullopt)).token;
    EXPECT_TRUE(fails(in.lease(passed_on, "three", 10s, std::nullopt), ErrorCode::kBusy, {"two"}));
    const std::vector<Append> late{say(passed_on, "late", old)};
    EXPECT_TRUE(fails(in.append(late).front(), ErrorCode::kFenced));

    const LeaseToken first = must(in.lease(taken_twice, "one", 10s, std::nullopt)).token;
    must(in.update(taken_twice, patch(R"({"title":"t"})"), {.expect_version = {}, .fence = first}));
    must(in.lease(taken_twice, "one", 0ms, first));
    EXPECT_TRUE(fails(in.lease(taken_twice, "one", 10s, first), ErrorCode::kFenced));
    second = must(in.lease(taken_twice, "two", 10s, std::nullopt)).token;

    must(in.lease(given_back, "one", 10s, gone));
    must(in.lease(given_back, "one", 0ms, gone));
  }));
  for (int i = 0; i < 2; ++i) {
    EXPECT_TRUE(
        fails(store().lease(passed_on, "three", 10s, std::nullopt), ErrorCode::kBusy, {"two"}));
    EXPECT_TRUE(
        fails(store().lease(taken_twice, "three", 10s, std::nullopt), ErrorCode::kBusy, {"two"}));
    EXPECT_TRUE(fails(store().lease(given_back, "one", 10s, gone), ErrorCode::kFenced));
    backend_.reopen();
  }
  must(store().lease(passed_on, "two", 10s, next));
  must(store().lease(taken_twice, "two", 10s, second));
  must(store().lease(given_back, "three", 10s, std::nullopt));
}

TEST_P(Together, ALeaseGoesWithItsThread) {
  const ThreadId thread = create_thread(store()).id;
  LeaseToken token = 0;
  must(store().together([&](Writes& in) {
    token = must(in.lease(thread, "me", 10s, std::nullopt)).token;
    EXPECT_TRUE(must(in.remove(thread, {.expect_version = {}, .fence = token})));
    NewThread again;
    again.id = thread;
    again.agent_id = "agent";
    must(in.create(again));
    const std::vector<Append> late{say(thread, "late", token)};
    EXPECT_TRUE(fails(in.append(late).front(), ErrorCode::kFenced));
  }));
  backend_.reopen();
  EXPECT_TRUE(fails(store().lease(thread, "me", 10s, token), ErrorCode::kFenced));
  must(store().lease(thread, "another", 10s, std::nullopt));
}

}  // namespace
}  // namespace skein::test
