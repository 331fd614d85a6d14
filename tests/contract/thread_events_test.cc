// Live events of conversations: what is told, to whom, from where on.
#include <future>
#include <thread>

#include "contract/contract.h"
#include "skein/thread_manager.h"
#include "support/child.h"
#include "support/told.h"

namespace skein::test {
namespace {

class ThreadEvents : public StoreContract {
 protected:
  std::string start(std::string_view agent = "agent") {
    NewConversation made;
    made.agent_id = agent;
    return must(manager_.create(made)).id.str();
  }
  void say(const std::string& id, std::string_view text) {
    NewMessage message;
    message.text = text;
    must(manager_.add_message(id, message));
  }
  Subscription follow(Told& told, std::string_view since = Store::kNow,
                      ThreadEventFilter filter = {}) {
    SubscribeOptions options;
    options.since = since;
    options.filter = std::move(filter);
    return must(manager_.subscribe(std::move(options), told.callback()));
  }
  // Everything that there is, as a subscriber hears it who starts at the beginning.
  std::vector<std::string> all(std::size_t count) {
    Told told;
    const Subscription subscription = follow(told, "");
    return told.wait_for(count);
  }

  ThreadManager manager_{store(), {.clock = &clock()}};
};
INSTANTIATE_TEST_SUITE_P(, ThreadEvents, testing::ValuesIn(backend_names()), backend_of);

TEST_P(ThreadEvents, TellEachStepOfALifeOnceAndInOrder) {
  Told told;
  const Subscription subscription = follow(told);
  const std::string id = start();
  say(id, "hello");
  told.wait_for(2);
  must(manager_.update(id, ManifestPatch().title("t")));
  told.wait_for(3);
  must(manager_.close(id));
  told.wait_for(5);
  must(manager_.archive(id));
  told.wait_for(7);
  must(manager_.remove(id));
  EXPECT_THAT(told.wait_for(8), ElementsAre("created " + id, "message " + id + " hello",
                                            "updated " + id, "updated " + id, "closed " + id,
                                            "updated " + id, "archived " + id, "deleted " + id));
}

TEST_P(ThreadEvents, ArchivingAnOpenThreadTellsThatItWasClosedFirst) {
  const std::string id = start();
  must(manager_.archive(id));
  EXPECT_THAT(all(4),
              ElementsAre("created " + id, "updated " + id, "closed " + id, "archived " + id));
}

TEST_P(ThreadEvents, TellOfAClosedThreadThatChangesNotThatItIsClosedAgain) {
  const std::string id = start();
  must(manager_.close(id));
  Told told;
  const Subscription subscription = follow(told);
  must(manager_.update(id, ManifestPatch().title("later")));
  told.wait_for(1);
  must(manager_.archive(id));
  EXPECT_THAT(told.wait_for(3), ElementsAre("updated " + id, "updated " + id, "archived " + id));
}

TEST_P(ThreadEvents, TellOfAClosingThatItsMakerDiedBeforeAnnouncing) {
  const std::string id = start();
  must(store().update(must(ThreadId::parse(id)),
                      patch(R"({"status":"closed","closedAt":"2026-01-23T14:30:52Z"})"), {}));
  EXPECT_THAT(all(3), ElementsAre("created " + id, "updated " + id, "closed " + id));
  EXPECT_THAT(all(3), ElementsAre("created " + id, "updated " + id, "closed " + id));
}

TEST_P(ThreadEvents, TellEachArchivingButTheClosingOnce) {
  const std::string id = start();
  must(manager_.archive(id));
  clock().advance(1s);
  must(manager_.restore(id));
  Told told;
  const Subscription subscription = follow(told);
  must(manager_.archive(id));
  EXPECT_THAT(told.wait_for(2), ElementsAre("updated " + id, "archived " + id));
}

TEST_P(ThreadEvents, GoOnFromEveryCursorWithoutGapOrRepeat) {
  const std::string a = start();
  const std::string b = start();
  for (int i = 0; i < 5; ++i) {
    say(a, std::to_string(i));
    say(b, std::to_string(i));
  }
  must(manager_.close(a));
  const std::vector<std::string> whole = all(14);
  ASSERT_THAT(whole, SizeIs(14));
  std::string cursor;
  for (std::size_t told_before = 0; told_before < whole.size(); ++told_before) {
    SubscribeOptions options;
    options.since = cursor;
    std::promise<ThreadEvent> first;
    bool done = false;
    const Subscription subscription =
        must(manager_.subscribe(options, [&](const ThreadEvent& event) {
          if (!std::exchange(done, true)) first.set_value(event);
        }));
    const ThreadEvent next = first.get_future().get();
    std::string line = std::string(to_string(next.kind)).substr(7) + " " + next.thread.str();
    if (next.message) line += " " + text_of(*next.message);
    EXPECT_EQ(line, whole[told_before]);
    cursor = next.cursor;
  }
}

TEST_P(ThreadEvents, AreFilteredByKindAgentAndThread) {
  const std::string ours = start("ours");
  const std::string other = start("other");
  for (const std::string& id : {ours, other}) {
    say(id, "m");
    must(manager_.close(id));
  }
  must(manager_.remove(other));
  Told closed, of_agent, of_thread;
  const Subscription one = follow(closed, "", {{ThreadEventKind::kClosed}, {}, {}});
  const Subscription two = follow(of_agent, "", {{}, "ours", {}});
  const Subscription three = follow(of_thread, "", {{}, {}, must(ThreadId::parse(other))});
  EXPECT_THAT(of_agent.wait_for(4), ElementsAre("created " + ours, "message " + ours + " m",
                                                "updated " + ours, "closed " + ours));
  EXPECT_THAT(of_thread.wait_for(1), ElementsAre("deleted " + other));
  EXPECT_THAT(closed.wait_for(1), ElementsAre("closed " + ours));
  Told gone;
  const Subscription four = follow(gone, "", {{ThreadEventKind::kDeleted}, "other", {}});
  EXPECT_THAT(gone.wait_for(1), ElementsAre("deleted " + other));
}

TEST_P(ThreadEvents, OfOtherTypesThanMessagesAreNotTold) {
  const std::string id = start();
  const ThreadId thread = must(ThreadId::parse(id));
  must_append(store(), thread, tool_use("search"));
  must_append(store(), thread, message("found", Role::kTool));
  EXPECT_THAT(all(2), ElementsAre("created " + id, "message " + id + " found"));
}

TEST_P(ThreadEvents, ReachASlowSubscriberWholeAndMakeNobodyWait) {
  constexpr int kMany = 10'000;  // more than are kept in memory
  const ThreadId id = must(ThreadId::parse(start()));
  std::promise<void> let_go;
  std::shared_future<void> gate = let_go.get_future().share();
  Told slow, quick;
  const Subscription one = must(manager_.subscribe({}, [&, gate](const ThreadEvent& event) {
    gate.wait();
    slow.note(event);
  }));
  const Subscription two = follow(quick);
  std::vector<Append> batch;
  for (int i = 0; i < kMany; ++i) batch.push_back({id, message(std::to_string(i)), {}, {}});
  for (const auto& answer : store().append(batch)) must(answer);
  EXPECT_THAT(quick.wait_for(kMany), SizeIs(kMany));
  EXPECT_THAT(slow.lines(), IsEmpty());
  let_go.set_value();
  EXPECT_EQ(slow.wait_for(kMany), quick.lines());
  must_append(store(), id, message("and on"));
  EXPECT_EQ(slow.wait_for(kMany + 1).back(), "message " + id.str() + " and on");
}

TEST_P(ThreadEvents, EndWithTheSubscriptionAlsoFromWithinTheCallback) {
  const std::string id = start();
  Told told;
  auto self = std::make_shared<Subscription>();
  *self = must(manager_.subscribe({}, [&told, self](const ThreadEvent& event) {
    told.note(event);
    self->close();
  }));
  say(id, "one");
  told.wait_for(1);
  Told other;
  Subscription outside = follow(other);
  say(id, "two");
  other.wait_for(1);
  outside.close();
  say(id, "three");
  Told last;
  const Subscription witness = follow(last, other.cursor());
  last.wait_for(1);
  EXPECT_THAT(told.lines(), SizeIs(1));
  EXPECT_THAT(other.lines(), SizeIs(1));
}

TEST_P(ThreadEvents, EndWithTheManagerWhoeverStillListens) {
  Told told;
  Subscription outlives;
  {
    ThreadManager manager(store());
    outlives = must(manager.on(ThreadEventKind::kCreated, told.callback()));
    start();
    told.wait_for(1);
  }
  start();
  outlives.close();
  EXPECT_THAT(told.lines(), SizeIs(1));
}

TEST_P(ThreadEvents, AreRefusedFromACursorThatNobodyGave) {
  SubscribeOptions options;
  options.since = "nonsense";
  EXPECT_TRUE(fails(manager_.subscribe(options, [](const ThreadEvent&) {}), ErrorCode::kInvalid,
                    {"nonsense"}));
}

class ThreadEventsOfProcesses : public StoreContract {};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(ThreadEventsOfProcesses);
INSTANTIATE_TEST_SUITE_P(, ThreadEventsOfProcesses, testing::ValuesIn(persistent_backend_names()),
                         backend_of);

TEST_P(ThreadEventsOfProcesses, AreToldOfWhatAnotherProcessDoes) {
  const std::unique_ptr<Store> shared = must(open_store(backend_.url()));
  ThreadManager manager(*shared);
  const ThreadId id = create_thread(*shared).id;
  Told told;
  const Subscription subscription = must(manager.on(ThreadEventKind::kMessage, told.callback()));
  Child child({"append", backend_.url(), id.str(), "n", "3"});
  EXPECT_EQ(child.read_line(), "ready");
  child.send_line("go");
  EXPECT_THAT(told.wait_for(3),
              ElementsAre("message " + id.str() + " n-0", "message " + id.str() + " n-1",
                          "message " + id.str() + " n-2"));
  child.read_to_end();
  EXPECT_EQ(child.wait(), 0);
}

}  // namespace
}  // namespace skein::test
