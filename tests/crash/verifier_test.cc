// The verifier itself: it is satisfied with a store that did nothing wrong, and sees what is not.

#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <string>

#include "crash/harness/disk.h"
#include "crash/harness/process.h"
#include "crash/harness/verify.h"
#include "crash/harness/writer.h"

namespace skein::crash {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;

class VerifierTest : public testing::Test {
 protected:
  void SetUp() override {
    workload_.writers = 1;
    workload_.seed = 7;
    store_ = open_store("memory:").value();
    ASSERT_TRUE(make_shared_threads(*store_, workload_));
    const TempFolder folder;
    const int fd = ::open((folder / "journal").c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
    JournalWriter lines(fd);
    lines.line(workload_line(workload_));
    Writer writer(workload_, 0, lines,
                  {.ops = 120, .go_on_after_errors = true, .acknowledge_early = false});
    const std::atomic<bool> stop = false;
    writer.run(*store_, stop);
    ::close(fd);
    ASSERT_FALSE(writer.first_error()) << writer.first_error()->message;
    journal_ = Journal::load(folder / "journal").value();
  }

  std::vector<std::string> problems() { return verify(*store_, journal_, {}); }

  // The last operation of that kind, carried out by the writer.
  Op last_of(OpKind kind) {
    Script script(workload_, 0);
    Op found;
    for (int i = 0; i < 120; ++i) {
      Op op = script.next();
      if (op.kind == kind) found = std::move(op);
    }
    return found;
  }

  Workload workload_;
  std::unique_ptr<Store> store_;
  Journal journal_;
};

TEST_F(VerifierTest, IsSatisfiedWhenNothingIsWrong) {
  EXPECT_THAT(problems(), IsEmpty());
  EXPECT_GT(journal_.acknowledged(), 120U);
}

TEST_F(VerifierTest, SeesAnAcknowledgedEventThatIsNotThere) {
  Script script(workload_, 0);
  Op op;
  do {
    op = script.next();
  } while (op.number < 120 || op.kind != OpKind::kAppend);
  journal_.done[0][op.number].assign(op.events.size(), Outcome{.answer = 999, .error = {}});
  EXPECT_THAT(problems(), Contains(HasSubstr("lost")));
}

TEST_F(VerifierTest, SeesAnEventThatNobodyWrote) {
  Event event;
  event.payload = Message{Role::kUser, "not in the script"};
  event.metadata = origin_metadata({0, 100'000, 0});
  const Append append{
      .thread = workload_.shared_id(0), .event = event, .fence = {}, .expect_seq = {}};
  ASSERT_TRUE(store_->append({&append, 1}).front());
  EXPECT_THAT(problems(), Contains(HasSubstr("nobody wrote")));
}

TEST_F(VerifierTest, SeesAnEventThatIsThereTwice) {
  Op op = last_of(OpKind::kAppend);
  op.events.back().key.clear();
  const Append append{
      .thread = op.targets.back(), .event = op.events.back(), .fence = {}, .expect_seq = {}};
  ASSERT_TRUE(store_->append({&append, 1}).front());
  EXPECT_THAT(problems(), Contains(HasSubstr("was acknowledged as")));
}

TEST_F(VerifierTest, SeesAManifestThatWentBack) {
  const Op op = last_of(OpKind::kUpdate);
  ASSERT_TRUE(store_->update(op.thread, ManifestPatch().title("another"), {}));
  EXPECT_THAT(problems(), Contains(HasSubstr("of no update that could be the last")));
}

TEST_F(VerifierTest, SeesHalfAWriteOfRecords) {
  RecordWrite half = last_of(OpKind::kRecords).writes.front();
  half.bytes = "older";
  ASSERT_TRUE(store_->write({&half, 1}));
  EXPECT_THAT(problems(), Contains(HasSubstr("not those of the last write")));
}

TEST_F(VerifierTest, SeesAThreadThatCameBack) {
  NewThread thread;
  thread.agent_id = "crash";
  thread.id = last_of(OpKind::kRemove).thread;
  ASSERT_TRUE(store_->create(thread));
  EXPECT_THAT(problems(), Contains(HasSubstr("there again after it was removed")));
}

TEST_F(VerifierTest, SeesAThreadThatIsGone) {
  ASSERT_TRUE(store_->remove(workload_.shared_id(1)));
  EXPECT_THAT(problems(), Contains(HasSubstr("is gone")));
}

TEST_F(VerifierTest, SeesATokenThatIsLetInAgain) {
  std::vector<std::uint64_t> leases;
  Script script(workload_, 0);
  for (std::uint64_t number = 0; number < 120; ++number) {
    if (script.next().kind == OpKind::kLease) leases.push_back(number);
  }
  ASSERT_GE(leases.size(), 2U);
  // As if the token that is still good had been given back before the last one was taken.
  journal_.done[0][leases[leases.size() - 2]] = journal_.done[0][leases.back()];
  EXPECT_THAT(problems(), Contains(HasSubstr("lets a token in")));
}

}  // namespace
}  // namespace skein::crash
