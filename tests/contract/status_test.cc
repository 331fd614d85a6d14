// The status of conversations, and what it lets in; also with others at work.
#include <atomic>
#include <thread>

#include "contract/contract.h"
#include "skein/thread_manager.h"

namespace skein::test {
namespace {

class Status : public StoreContract {
 protected:
  Manifest in(ThreadStatus status) {
    NewConversation made;
    made.agent_id = "agent";
    const std::string id = must(manager_.create(made)).id.str();
    return must(manager_.update_status(id, status));
  }
  Result<ThreadMessage> say(ThreadId id, std::string_view text = "x") {
    NewMessage message;
    message.text = text;
    return manager_.add_message(id.str(), message);
  }

  ThreadManager manager_{store(), {.clock = &clock()}};
};
INSTANTIATE_TEST_SUITE_P(, Status, testing::ValuesIn(backend_names()), backend_of);

constexpr ThreadStatus kAll[] = {ThreadStatus::kActive, ThreadStatus::kPaused,
                                 ThreadStatus::kClosed, ThreadStatus::kArchived};

TEST_P(Status, ChangesAlongTheRulesAndNoOtherWay) {
  for (const ThreadStatus from : kAll) {
    for (const ThreadStatus to : kAll) {
      const Manifest before = in(from);
      ASSERT_EQ(before.status, from);
      const bool from_open = from == ThreadStatus::kActive || from == ThreadStatus::kPaused;
      const bool to_open = to == ThreadStatus::kActive || to == ThreadStatus::kPaused;
      const auto after = manager_.update_status(before.id.str(), to);
      const std::string move = std::string(to_string(from)) + " to " + to_string(to);
      if (!from_open && to_open) {
        EXPECT_TRUE(fails(after, ErrorCode::kConflict, {to_string(from), "fork"})) << move;
        EXPECT_EQ(get_thread(store(), before.id).version, before.version) << move;
      } else {
        ASSERT_TRUE(ok(after)) << move;
        EXPECT_EQ(after->status, to) << move;
      }
    }
  }
}

TEST_P(Status, LetsMessagesIntoActiveAndPausedThreadsOnly) {
  for (const ThreadStatus status : kAll) {
    const Manifest manifest = in(status);
    const auto said = say(manifest.id);
    if (status == ThreadStatus::kActive || status == ThreadStatus::kPaused) {
      EXPECT_TRUE(ok(said)) << to_string(status);
    } else {
      EXPECT_TRUE(fails(said, ErrorCode::kConflict, {to_string(status), manifest.id.str()}));
      EXPECT_EQ(get_thread(store(), manifest.id).last_seq, 0U);
    }
  }
}

TEST_P(Status, LetsARunUnderWayWriteOnAfterTheClosing) {
  const ThreadId id = in(ThreadStatus::kActive).id;
  const LeaseToken token = must(store().lease(id, "run", 1min, std::nullopt)).token;
  must(manager_.close(id.str()));
  std::vector<Append> appends{{id, message("the last word", Role::kAssistant), token, {}},
                              {id, message("too late"), {}, {}}};
  const auto answers = manager_.append(id, appends);
  EXPECT_TRUE(ok(answers.at(0)));
  EXPECT_TRUE(fails(answers.at(1), ErrorCode::kConflict, {"closed"}));
}

TEST_P(Status, ClosingKeepsWhenWhyAndHow) {
  const ThreadId id = in(ThreadStatus::kPaused).id;
  const Manifest closed =
      must(manager_.close(id.str(), {.summary = "Resolved.", .resolution = "completed"}));
  EXPECT_EQ(closed.closed_at, clock().now());
  EXPECT_EQ(closed.summary, "Resolved.");
  EXPECT_EQ(closed.resolution, "completed");
}

TEST_P(Status, ClosingAgainAddsWhatIsMissingAndOverwritesNothing) {
  const ThreadId id = in(ThreadStatus::kClosed).id;
  const Manifest first = get_thread(store(), id);
  clock().advance(1h);
  const Manifest again = must(manager_.close(id.str(), {.summary = "s"}));
  EXPECT_EQ(again.summary, "s");
  EXPECT_EQ(again.closed_at, first.closed_at);
  EXPECT_TRUE(ok(manager_.close(id.str(), {.summary = "s"})));
  EXPECT_TRUE(
      fails(manager_.close(id.str(), {.summary = "t"}), ErrorCode::kConflict, {"\"s\"", "\"t\""}));
  EXPECT_EQ(get_thread(store(), id).summary, "s");
}

TEST_P(Status, ArchivingAnOpenThreadClosesItFirst) {
  const ThreadId id = in(ThreadStatus::kActive).id;
  const Manifest archived =
      must(manager_.archive(id.str(), {.retention_days = 365, .reason = "compliance"}));
  EXPECT_EQ(archived.status, ThreadStatus::kArchived);
  EXPECT_EQ(archived.closed_at, clock().now());
  ASSERT_TRUE(archived.archive.has_value());
  EXPECT_EQ(archived.archive->at, clock().now());
  EXPECT_EQ(archived.archive->retention_days, 365);
  EXPECT_EQ(archived.archive->reason, "compliance");
}

TEST_P(Status, ArchivingAgainChangesTheDaysButNotWhenTheyBegan) {
  const ThreadId id = in(ThreadStatus::kArchived).id;
  const Timestamp began = get_thread(store(), id).archive->at;
  clock().advance(24h);
  const Manifest again = must(manager_.archive(id.str(), {.retention_days = 30}));
  EXPECT_EQ(again.archive->at, began);
  EXPECT_EQ(again.archive->retention_days, 30);
}

TEST_P(Status, RestoringMakesAnArchivedThreadClosedAndNoOther) {
  const ThreadId id = in(ThreadStatus::kArchived).id;
  const Manifest restored = must(manager_.restore(id.str()));
  EXPECT_EQ(restored.status, ThreadStatus::kClosed);
  EXPECT_FALSE(restored.archive.has_value());
  EXPECT_TRUE(restored.closed_at.has_value());
  EXPECT_TRUE(fails(manager_.restore(in(ThreadStatus::kPaused).id.str()), ErrorCode::kConflict,
                    {"paused", "archived"}));
}

TEST_P(Status, NoMessageLandsInAThreadThatWasClosedMeanwhile) {
  for (int round = 0; round < 20; ++round) {
    const ThreadId id = in(ThreadStatus::kActive).id;
    std::atomic<Seq> last_taken{0};
    std::atomic<bool> go{false};
    std::jthread writer([&] {
      while (!go) std::this_thread::yield();
      for (;;) {
        const auto said = say(id);
        if (!said) {
          EXPECT_TRUE(fails(said, ErrorCode::kConflict, {"closed"}));
          return;
        }
        last_taken = said->seq;
      }
    });
    go = true;
    while (last_taken < 3) std::this_thread::yield();
    must(manager_.close(id.str()));
    const Seq at_closing = get_thread(store(), id).last_seq;
    writer.join();
    EXPECT_EQ(get_thread(store(), id).last_seq, at_closing);
    EXPECT_EQ(last_taken, at_closing);
  }
}

TEST_P(Status, OfManyWhoCloseAtOnceOneSaysHow) {
  const ThreadId id = in(ThreadStatus::kActive).id;
  std::atomic<int> won{0};
  {
    std::vector<std::jthread> closers;
    for (int i = 0; i < 8; ++i) {
      closers.emplace_back([&, i] {
        const auto closed = manager_.close(id.str(), {.summary = "by " + std::to_string(i)});
        if (closed) ++won;
      });
    }
  }
  EXPECT_EQ(won, 1);
}

}  // namespace
}  // namespace skein::test
