// The first write of a run, when its thread changes between the look at it and that write.
#include <atomic>
#include <functional>
#include <utility>

#include "contract/run_fixture.h"

namespace skein::test {
namespace {

using testing::HasSubstr;

// Has something happen right after a run that holds the lease has read the manifest.
class ChangingStore final : public PassingStore {
 public:
  using PassingStore::PassingStore;
  Result<std::optional<Manifest>> get(const ThreadRef& ref) override {
    auto found = inner_.get(ref);
    if (leased_ && after_get) std::exchange(after_get, nullptr)();
    return found;
  }
  Result<Lease> lease(ThreadId id, std::string_view holder, std::chrono::milliseconds ttl,
                      std::optional<LeaseToken> token) override {
    auto lease = inner_.lease(id, holder, ttl, token);
    if (lease && !token) leased_ = true;
    return lease;
  }

  std::function<void()> after_get;  // with the lease; once

 private:
  std::atomic<bool> leased_{false};
};

class RunFirstWrite : public RunContract {
 protected:
  RunFirstWrite() { runner_ = std::make_unique<Runner>(changing_, agents_, options()); }
  ~RunFirstWrite() override { runner_.reset(); }

  RunRequest request(std::string_view text) {
    RunRequest request = run_request("agent", thread_.str(), text);
    if (text.empty()) request.input.messages.clear();
    request.multitask = Multitask::kInterrupt;  // so that it does not begin with its lease
    return request;
  }
  void give_to_other_agent() {
    UpdateOptions other;
    other.agent_id = "other";
    must(store().update(thread_, {}, other));
  }
  void expect_untouched() {
    const Manifest manifest = get_thread(store(), thread_);
    EXPECT_EQ(manifest.agent_id, "other");
    EXPECT_EQ(manifest.last_seq, 0U);
    EXPECT_THAT(manifest.extra.text(), Not(HasSubstr("runStatus")));
    EXPECT_THAT(scan_all(store(), "runs_open"), IsEmpty());
  }

  const ThreadId thread_ = thread_of();
  ChangingStore changing_{backend_.store()};
};
INSTANTIATE_TEST_SUITE_P(, RunFirstWrite, testing::ValuesIn(backend_names()), backend_of);

TEST_P(RunFirstWrite, IsRefusedIfTheThreadWentToAnotherAgent) {
  changing_.after_get = [this] { give_to_other_agent(); };
  EXPECT_TRUE(fails(runner().execute(request("hello")), ErrorCode::kConflict,
                    {"belongs to agent \"other\""}));
  expect_untouched();
  EXPECT_THAT(scan_all(store(), "runs"), IsEmpty());
}

TEST_P(RunFirstWrite, OfARunThatWaitedIsRefusedAndTheRecordSaysWhy) {
  const Lease held = must(store().lease(thread_, "somebody", 60s, std::nullopt));
  const std::string id = must(runner().start(request("hello"))).id;
  changing_.after_get = [this] { give_to_other_agent(); };
  must(store().lease(thread_, "somebody", 0ms, held.token));
  const skein::Run refused = must(runner().wait(id));
  runner_.reset();
  expect_untouched();
  Runner later(store(), agents_, options());
  const skein::Run record = must(later.get(refused.id));
  EXPECT_EQ(record.status, RunStatus::kInterrupted);
  ASSERT_TRUE(record.error);
  EXPECT_THAT(record.error->message, HasSubstr("belongs to agent \"other\""));
}

TEST_P(RunFirstWrite, WithoutInputIsTheResponseAndIsRefusedLikewise) {
  agents_.set(
      "agent",
      [this](const EngineRequest&, EngineSink&, const std::stop_token&) -> Result<EngineTurn> {
        give_to_other_agent();
        return says("an answer to nobody");
      });
  EXPECT_TRUE(
      fails(runner().execute(request("")), ErrorCode::kConflict, {"belongs to agent \"other\""}));
  expect_untouched();
}

TEST_P(RunFirstWrite, IsRefusedIfTheThreadWasPaused) {
  changing_.after_get = [this] {
    must(store().update(thread_, ManifestPatch().status(ThreadStatus::kPaused), {}));
  };
  EXPECT_TRUE(
      fails(runner().execute(request("hello")), ErrorCode::kConflict, {"is paused", "active"}));
  EXPECT_EQ(get_thread(store(), thread_).last_seq, 0U);
  EXPECT_THAT(scan_all(store(), "runs_open"), IsEmpty());
}

TEST_P(RunFirstWrite, HappensIfOnlyTheTitleChanged) {
  changing_.after_get = [this] {
    must(store().update(thread_, ManifestPatch().title("A title meanwhile"), {}));
  };
  EXPECT_EQ(must(runner().execute(request("hello"))).response, "re: hello");
  EXPECT_THAT(path(thread_), ElementsAre("user: hello", "result", "assistant: re: hello"));
}

TEST_P(RunFirstWrite, WithoutInputHappensIfOnlyTheTitleChangedWhileTheEngineWorked) {
  agents_.set(
      "agent",
      [this](const EngineRequest&, EngineSink&, const std::stop_token&) -> Result<EngineTurn> {
        must(store().update(thread_, ManifestPatch().title("A title meanwhile"), {}));
        return says("done");
      });
  EXPECT_EQ(must(runner().execute(request(""))).response, "done");
  EXPECT_THAT(path(thread_), ElementsAre("result", "assistant: done"));
}

}  // namespace
}  // namespace skein::test
