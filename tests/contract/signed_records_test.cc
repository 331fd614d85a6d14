// Triggers, tasks and runs whose records the user did not sign have no effect, on every backend.
#include <algorithm>
#include <set>

#include "api/keys.h"
#include "api/unsigned_records.h"
#include "contract/run_fixture.h"
#include "runner/run_book.h"
#include "skein/tasks.h"
#include "skein/triggers.h"

namespace skein::test {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::Each;
using testing::Field;
using testing::HasSubstr;
using testing::Not;

std::shared_ptr<const RecordSigner> signer_with(char digit) {
  return std::make_shared<RecordSigner>(std::string(64, digit), "/srv/u/project");
}

// `ours_` is the user; whoever made the database has another secret.
class SignedRecords : public RunContract {
 protected:
  RunnerOptions with(std::shared_ptr<const RecordSigner> signer) {
    RunnerOptions made = options();
    made.signer = std::move(signer);
    return made;
  }
  std::vector<UnsignedRecord> inert() { return must(list_unsigned_records(store(), *ours_)); }
  // A run that asks before it calls the tool "delete", with a note for each call.
  ScriptedAgents::Agent asking() {
    ScriptedAgents::Agent agent;
    agent.run = [](const EngineRequest& request, EngineSink&, std::stop_token) {
      const bool called = request.messages.back().role == Role::kTool;
      if (called) return Result<EngineTurn>(says("done"));
      return Result<EngineTurn>(calls("", {{.id = "c1", .name = "delete", .input = json("{}")}}));
    };
    agent.tools = {make_tool(
        "delete",
        [this](const ToolCall&, std::stop_token) {
          log_.note("deleted");
          return ToolResult{.text = "gone"};
        },
        true)};
    return agent;
  }
  std::string ask(ThreadId thread, const std::shared_ptr<const RecordSigner>& signer) {
    agents_.set("agent", asking());
    Runner runner(store(), agents_, with(signer));
    const RunOutcome asked = must(runner.execute(run_request("agent", thread.str(), "go")));
    EXPECT_TRUE(asked.run.question);
    return asked.run.id;
  }
  // A run whose process died in the middle of it.
  std::string leave_running(ThreadId thread, const std::shared_ptr<const RecordSigner>& signer) {
    ForgetfulStore forgetful(store());
    Runner runner(forgetful, agents_, with(signer));
    return must(runner.execute(run_request("agent", thread.str(), "hi"))).run.id;
  }
  std::vector<std::string> bytes_of(std::string_view collection) {
    std::vector<std::string> all;
    for (const Record& each : scan_all(store(), collection)) all.push_back(each.bytes);
    return all;
  }

  const std::shared_ptr<const RecordSigner> ours_ = signer_with('a');
  const std::shared_ptr<const RecordSigner> theirs_ = signer_with('b');
  SeededIds ids_;
};
INSTANTIATE_TEST_SUITE_P(, SignedRecords, testing::ValuesIn(backend_names()), backend_of);

// --- Runs ---

TEST_P(SignedRecords, QuestionsOfOthersAreNotAnswered) {
  const ThreadId thread = thread_of();
  for (const auto& signer : {theirs_, std::shared_ptr<const RecordSigner>()}) {
    const std::string id = ask(thread, signer);
    Runner runner(store(), agents_, with(ours_));
    EXPECT_TRUE(fails(runner.resume(id, {.yes = true}), ErrorCode::kConflict, {id, "skein trust"}));
    EXPECT_TRUE(must(runner.get(id)).question) << "it is still listed";
    EXPECT_TRUE(must(runner.cancel(id)));
    EXPECT_FALSE(must(runner.get(id)).question);
    EXPECT_THAT(scan_all(store(), "runs_open"), IsEmpty());
  }
  EXPECT_THAT(log_.lines(), Not(Contains("deleted")));
}

TEST_P(SignedRecords, QuestionsOfTheUserAreAnsweredByAnyProcess) {
  const std::string id = ask(thread_of(), ours_);
  EXPECT_THAT(inert(), IsEmpty());
  Runner runner(store(), agents_, with(signer_with('a')));
  EXPECT_EQ(must(runner.resume(id, {.yes = true})).response, "done");
  EXPECT_THAT(log_.lines(), Contains("deleted"));
}

// The entry says that a run is open, its record what it does: both count.
TEST_P(SignedRecords, AQuestionThatWasExchangedUnderItsEntryIsNotAnswered) {
  const std::string id = ask(thread_of(), ours_);
  const Record before = scan_all(store(), "runs").front();
  std::string changed = before.bytes;
  changed.replace(changed.find(R"("input":{})"), 10, R"("input":[])");
  must(store().write(std::vector{record("runs", before.key, changed)}));
  Runner runner(store(), agents_, with(ours_));
  EXPECT_TRUE(fails(runner.resume(id, {.yes = true}), ErrorCode::kConflict, {"skein trust"}));
  EXPECT_THAT(inert(), ElementsAre(Field(&UnsignedRecord::collection, "runs")));
}

TEST_P(SignedRecords, RunsOfOthersAreNotRecovered) {
  const ThreadId thread = thread_of();
  const std::string id = leave_running(thread, theirs_);
  Runner runner(store(), agents_, with(ours_));
  const Recovered recovered = must(runner.recover());
  EXPECT_EQ(recovered.closed, 0U);
  EXPECT_EQ(recovered.inert, 1U);
  EXPECT_EQ(must(runner.get(id)).status, RunStatus::kRunning);
  EXPECT_TRUE(fails(runner.wait(id), ErrorCode::kConflict, {id, "skein trust"}));
}

TEST_P(SignedRecords, NewRunsAreRefusedOnAThreadWithAnOpenRunOfOthers) {
  const ThreadId thread = thread_of();
  const std::string id = leave_running(thread, theirs_);
  const auto records = bytes_of("runs_open");
  Runner runner(store(), agents_, with(ours_));
  for (const Multitask multitask :
       {Multitask::kEnqueue, Multitask::kReject, Multitask::kInterrupt, Multitask::kRollback}) {
    RunRequest request = run_request("agent", thread.str(), "hello");
    request.multitask = multitask;
    EXPECT_TRUE(
        fails(runner.execute(request), ErrorCode::kConflict, {thread.str(), id, "skein trust"}));
  }
  EXPECT_EQ(bytes_of("runs_open"), records);
  EXPECT_TRUE(must(runner.cancel(id)));
  EXPECT_EQ(must(runner.get(id)).status, RunStatus::kInterrupted);
  EXPECT_THAT(scan_all(store(), "runs_open"), IsEmpty());
}

TEST_P(SignedRecords, EffectsOfOthersAreNotTakenUp) {
  struct Effect final : RunEffect {
    explicit Effect(Log& with) : log(with) {}
    std::string_view name() const override { return "noted"; }
    bool is_wanted() const override { return false; }
    Result<void> apply(const FinishedRun&, std::stop_token) override {
      log.note("effect");
      return {};
    }
    Log& log;
  } effect(log_);
  const ThreadId thread = thread_of();
  const RunOutcome outcome = must(run(thread, "hi"));
  runner().finish_effects();
  skein::Run left = outcome.run;
  left.effects = {"noted"};
  for (const auto& signer : {theirs_, ours_}) {
    OpenRun open;
    open.run_id = left.id;
    open.key = thread.str() + "/" + left.id;
    must(RunBook(store(), clock(), "gone", signer).close_unheld(left, open));
    clock().advance(24h);
    RunnerOptions made = with(ours_);
    made.effects = {&effect};
    Runner next(store(), agents_, made);
    EXPECT_EQ(must(next.recover()).effects, signer == ours_ ? 1U : 0U);
    next.finish_effects();
    EXPECT_EQ(testing::Value(log_.lines(), Contains("effect")), signer == ours_);
    must(store().write(std::vector{deletion("runs_open", open.key)}));
  }
}

TEST_P(SignedRecords, EveryRecordOfAnOpenRunIsSigned) {
  const ThreadId thread = thread_of();
  agents_.set("agent", wait_for_stop);
  Runner runner(store(), agents_, with(ours_));
  const std::string id =
      must(runner.start(run_request("agent", thread.str(), "1"), noting_callbacks(log_))).id;
  const std::string waiting = must(runner.start(run_request("agent", thread.str(), "2"))).id;
  log_.wait_for("on_text: half a sen");
  EXPECT_THAT(bytes_of("runs_open"), AllOf(SizeIs(2), Each(HasSubstr("\"hmac\""))));
  EXPECT_THAT(bytes_of("runs"), AllOf(SizeIs(2), Each(HasSubstr("\"hmac\""))));
  EXPECT_THAT(inert(), IsEmpty());
  must(runner.cancel(waiting));
  must(runner.cancel(id));
  must(runner.wait(id));
  must(runner.wait(waiting));
}

// --- Triggers, tasks and keys ---

TEST_P(SignedRecords, TriggersOfOthersNeverFire) {
  std::vector<std::string> started;
  SchedulerOptions with_signer;
  with_signer.clock = &clock();
  with_signer.signer = ours_;
  with_signer.log = [this](std::string_view line) { log_.note(std::string(line)); };
  Scheduler scheduler(
      store(),
      [&](const RunRequest& request) -> Result<skein::Run> {
        started.push_back(request.input.messages.front().text);
        return fail(ErrorCode::kIo, "this is a test");
      },
      with_signer);
  const NewTrigger wanted{.agent_id = "agent", .cron = "* * * * *", .text = "theirs"};
  const Trigger hostile = must(Triggers(store(), clock(), ids_, theirs_).add(wanted));
  must(Triggers(store(), clock(), ids_).add(wanted));
  Triggers triggers(store(), clock(), ids_, ours_);
  const Trigger own =
      must(triggers.add({.agent_id = "agent", .cron = "* * * * *", .text = "ours"}));
  clock().advance(2min);
  for (int i = 0; i < 3; ++i) must(scheduler.tick());
  EXPECT_THAT(started, ElementsAre("ours"));
  for (const Record& firing : scan_all(store(), "trigger_firings")) {
    EXPECT_THAT(firing.key, testing::StartsWith(own.id));
  }
  const TriggerInfo info = must(triggers.show(hostile.id));
  EXPECT_THAT(info.problem, HasSubstr("skein trust"));
  EXPECT_FALSE(info.next);
  EXPECT_EQ(info.overdue, 0U);
  EXPECT_THAT(must(triggers.list()), SizeIs(3));
  const auto lines = log_.lines();
  EXPECT_EQ(std::count_if(lines.begin(), lines.end(),
                          [](const std::string& line) {
                            return line.find("never fires") != std::string::npos;
                          }),
            2)
      << "once for each, not once for each tick";
  EXPECT_TRUE(fails(triggers.update(hostile.id, {.text = "mine now"}), ErrorCode::kConflict));
  EXPECT_TRUE(fails(triggers.update(hostile.id, {.enabled = true}), ErrorCode::kConflict));
  EXPECT_FALSE(must(triggers.update(hostile.id, {.enabled = false})).enabled);
  EXPECT_FALSE(must(triggers.show(hostile.id)).problem.empty()) << "disabling signs nothing";
  must(triggers.remove(hostile.id));
  EXPECT_THAT(must(triggers.list()), SizeIs(2));
}

TEST_P(SignedRecords, TasksOfOthersAreNotWorkedOn) {
  Runner runner(store(), agents_, with(ours_));
  const Task task = must(Tasks(store(), runner, agents_, clock(), ids_, theirs_)
                             .create({.agent_id = "agent", .text = "Send it all"}));
  Tasks tasks(store(), runner, agents_, clock(), ids_, ours_);
  EXPECT_TRUE(fails(tasks.request(task.id), ErrorCode::kConflict, {task.id, "skein trust"}));
  EXPECT_THAT(must(tasks.show(task.id)).problem, HasSubstr("skein trust"));
  EXPECT_EQ(must(task_context(store(), task.id, ours_.get())), "");
  EXPECT_THAT(must(task_context(store(), task.id, theirs_.get())), HasSubstr("Send it all"));
  // Cancelled, it is no more signed than before.
  must(tasks.cancel(task.id));
  EXPECT_EQ(must(tasks.show(task.id)).status, TaskStatus::kCancelled);
  EXPECT_EQ(must(task_context(store(), task.id, ours_.get())), "");
}

TEST_P(SignedRecords, WhatCannotBeSignedLeavesNoThread) {
  class NoSecret final : public SigningSecret {
    Result<std::optional<std::string>> find() const override {
      return fail(ErrorCode::kInvalid, "others can read it");
    }
    Result<std::string> find_or_make() const override {
      return fail(ErrorCode::kInvalid, "others can read it");
    }
  };
  const auto unable =
      std::make_shared<RecordSigner>(std::make_unique<NoSecret>(), "/srv/u/project");
  Runner runner(store(), agents_, with(unable));
  EXPECT_TRUE(fails(Tasks(store(), runner, agents_, clock(), ids_, unable)
                        .create({.agent_id = "agent", .text = "Write it"}),
                    ErrorCode::kInvalid, {"others can read it"}));
  EXPECT_THAT(list_ids(store(), ListQuery{}), testing::IsEmpty());
  EXPECT_TRUE(fails(runner.execute(run_request("agent", "", "hi")), ErrorCode::kInvalid));
  EXPECT_THAT(list_ids(store(), ListQuery{}), testing::IsEmpty());
}

TEST_P(SignedRecords, KeysOfOthersStayUnsignedWhenTheyAreRevoked) {
  const std::string id =
      must(ApiKeys(store(), clock(), ids_, theirs_).create({.access = "admin"})).key.id;
  ApiKeys keys(store(), clock(), ids_, ours_);
  EXPECT_FALSE(must(keys.list()).front().is_signed);
  EXPECT_TRUE(must(keys.revoke(id)).revoked_at.is_set());
  EXPECT_FALSE(must(keys.list()).front().is_signed);
  const std::string own = must(keys.create({.access = "read"})).key.id;
  must(keys.revoke(own));
  for (const ApiKey& key : must(keys.list())) EXPECT_EQ(key.is_signed, key.id == own);
}

// --- Signing them ---

TEST_P(SignedRecords, AreListedWithWhatTheyDoAndCountOnceTheyAreSigned) {
  const ThreadId thread = thread_of();
  const std::string asked = ask(thread, nullptr);
  Runner runner(store(), agents_, with(ours_));
  must(ApiKeys(store(), clock(), ids_).create({.name = "laptop", .access = "admin"}));
  const Record key = scan_all(store(), "keys").front();
  std::string hostile = key.bytes;
  hostile.replace(hostile.find("laptop"), 6, R"(\u001b[2J\u0007\u202e)");
  must(store().write(std::vector{record("keys", key.key, hostile)}));
  must(Triggers(store(), clock(), ids_)
           .add({.agent_id = "agent", .cron = "* * * * *", .text = "Good morning"}));
  const Task task = must(Tasks(store(), runner, agents_, clock(), ids_)
                             .create({.agent_id = "agent", .text = "Send\nit"}));
  const auto listed = inert();
  std::vector<std::string> collections;
  std::set<std::string> digests;
  for (const UnsignedRecord& each : listed) {
    collections.push_back(each.collection);
    digests.insert(each.digest);
    for (const char c : each.description) EXPECT_GE(static_cast<unsigned char>(c), 0x20);
  }
  EXPECT_THAT(collections, ElementsAre("keys", "triggers", "tasks", "runs_open", "runs"));
  EXPECT_EQ(digests.size(), 5U);
  EXPECT_THAT(listed[0].description, AllOf(HasSubstr("admin"), HasSubstr("all agents")));
  EXPECT_THAT(listed[1].description, AllOf(HasSubstr("* * * * *"), HasSubstr("Good morning")));
  EXPECT_THAT(listed[2].description, AllOf(HasSubstr(task.id), HasSubstr("Send")));
  EXPECT_THAT(listed[4].description, AllOf(HasSubstr(asked), HasSubstr("delete")));
  must(sign_records(store(), *ours_, listed));
  EXPECT_THAT(inert(), IsEmpty());
  EXPECT_EQ(must(runner.resume(asked, {.yes = true})).response, "done");
}

TEST_P(SignedRecords, AreNotSignedWhenTheyChangedSinceTheyWereListed) {
  ApiKeys keys(store(), clock(), ids_);
  must(keys.create({.access = "read"}));
  must(keys.create({.access = "read"}));
  const auto listed = inert();
  ASSERT_THAT(listed, SizeIs(2));
  std::string changed = listed[1].bytes;
  changed.replace(changed.find("\"read\""), 6, "\"admin\"");
  must(store().write(std::vector{record("keys", listed[1].key, changed)}));
  EXPECT_TRUE(fails(sign_records(store(), *ours_, listed), ErrorCode::kConflict, {"changed"}));
  EXPECT_THAT(inert(), SizeIs(2));
}

}  // namespace
}  // namespace skein::test
