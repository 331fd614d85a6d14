// Triggers and the scheduler, on every backend.
#include "skein/triggers.h"

#include <atomic>
#include <boost/json.hpp>
#include <mutex>
#include <thread>

#include "contract/contract.h"
#include "support/runs.h"

namespace skein::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

// The clock of a test begins at 2026-01-23T14:30:52.123Z.
class TriggerContract : public StoreContract {
 protected:
  static RunnerOptions runner_options(Clock& clock) {
    RunnerOptions options;
    options.clock = &clock;
    return options;
  }
  SchedulerOptions options() {
    SchedulerOptions options;
    options.clock = &clock();
    options.holder = "host:1";
    options.log = [this](std::string_view line) { log_.note(std::string(line)); };
    return options;
  }
  Trigger add(std::string cron, std::string zone = "UTC") {
    return must(triggers_.add({"agent", std::move(cron), "Good morning", std::move(zone)}));
  }
  void go_to(std::string_view time) {
    clock().set_wall_by(
        std::chrono::milliseconds(must(Timestamp::parse(time)).ms() - clock().now().ms()));
  }
  std::string tick() {
    const auto next = must(scheduler_.tick());
    return next ? next->str() : "never";
  }
  // Waits for the runs that were started, and answers how many there are.
  std::size_t runs() {
    const auto all = must(runner_.list({.agent_id = "agent", .limit = 1000}));
    for (const skein::Run& run : all) must(runner_.wait(run.id));
    return all.size();
  }
  Firing last(const Trigger& trigger) { return must(triggers_.show(trigger.id)).last.value(); }

  Log log_;
  ScriptedAgents agents_;
  SeededIds ids_;
  Runner runner_{store(), agents_, runner_options(clock())};
  Triggers triggers_{store(), clock(), ids_};
  Scheduler scheduler_{
      store(), [this](const RunRequest& request) { return runner_.start(request); }, options()};
};
INSTANTIATE_TEST_SUITE_P(, TriggerContract, testing::ValuesIn(backend_names()), backend_of);

TEST_P(TriggerContract, RunsAnAgentInANewThreadWheneverItIsDue) {
  const Trigger trigger = add("0 * * * *");
  EXPECT_EQ(tick(), "2026-01-23T15:00:00.000Z");
  EXPECT_EQ(runs(), 0U);
  go_to("2026-01-23T15:00:00Z");
  EXPECT_EQ(tick(), "2026-01-23T16:00:00.000Z");
  EXPECT_EQ(tick(), "2026-01-23T16:00:00.000Z");
  EXPECT_EQ(runs(), 1U);
  const Firing first = last(trigger);
  EXPECT_EQ(first.status, FiringStatus::kStarted);
  EXPECT_EQ(first.at.str(), "2026-01-23T15:00:00.000Z");
  go_to("2026-01-23T16:00:30Z");
  tick();
  EXPECT_EQ(runs(), 2U);
  const Firing second = last(trigger);
  EXPECT_NE(first.thread_id, second.thread_id);
  EXPECT_EQ(second.started, 2U);
  EXPECT_EQ(second.missed, 0U);
  const Manifest thread = *must(store().get(must(ThreadId::parse(first.thread_id))));
  EXPECT_EQ(thread.metadata.text(),
            R"({"triggerId":")" + trigger.id + R"(","dueAt":"2026-01-23T15:00:00.000Z"})");
  const skein::Run run = must(runner_.get(first.run_id));
  EXPECT_EQ(run.status, RunStatus::kSuccess);
  EXPECT_EQ(run.metadata.text(), thread.metadata.text());
  EXPECT_THAT(gists(read_all(store(), thread.id)),
              testing::IsSupersetOf({"user: Good morning", "assistant: re: Good morning"}));
}

TEST_P(TriggerContract, GoesByItsTimeZone) {
  go_to("2026-03-28T12:00:00Z");
  add("30 2 * * *", "Europe/Berlin");
  EXPECT_EQ(tick(), "2026-03-29T01:00:00.000Z");
  go_to("2026-03-29T01:00:00Z");
  EXPECT_EQ(tick(), "2026-03-30T00:30:00.000Z");
  EXPECT_EQ(runs(), 1U);
}

TEST_P(TriggerContract, ReportsWhatWasMissedAndRunsOnlyWhatIsDueNow) {
  const Trigger trigger = add("0 * * * *");
  go_to("2026-01-23T20:30:00Z");
  EXPECT_EQ(must(triggers_.show(trigger.id)).overdue, 6U);
  EXPECT_EQ(tick(), "2026-01-23T21:00:00.000Z");
  EXPECT_EQ(runs(), 0U);
  EXPECT_EQ(last(trigger).status, FiringStatus::kMissed);
  EXPECT_EQ(last(trigger).missed, 6U);
  EXPECT_EQ(must(triggers_.show(trigger.id)).overdue, 0U);
  ASSERT_THAT(log_.lines(), SizeIs(1));
  EXPECT_THAT(log_.lines()[0], AllOf(HasSubstr(trigger.id), HasSubstr("missed 6 firings")));
  tick();
  EXPECT_THAT(log_.lines(), SizeIs(1));
  // A moment late is not too late, and what lies before is.
  go_to("2026-01-24T00:04:59Z");
  tick();
  EXPECT_EQ(runs(), 1U);
  EXPECT_EQ(last(trigger).at.str(), "2026-01-24T00:00:00.000Z");
  EXPECT_EQ(last(trigger).missed, 9U);
  EXPECT_EQ(last(trigger).started, 1U);
}

TEST_P(TriggerContract, CountsNoFurtherThanItsLimit) {
  const Trigger trigger = add("* * * * *");
  go_to("2027-01-23T14:30:10Z");
  tick();
  EXPECT_EQ(runs(), 1U);
  EXPECT_EQ(last(trigger).at.str(), "2027-01-23T14:30:00.000Z");
  EXPECT_EQ(last(trigger).missed, limits::kMaxCountedMissed - 1);
  EXPECT_THAT(log_.lines().at(0), HasSubstr("at least"));
}

TEST_P(TriggerContract, FiresOnceHoweverManyServe) {
  constexpr int kServers = 6;
  constexpr int kHours = 12;
  const Trigger trigger = add("0 * * * *");
  go_to("2026-01-23T14:59:59Z");
  std::atomic<int> started = 0;
  std::vector<std::unique_ptr<Scheduler>> servers;
  for (int i = 0; i < kServers; ++i) {
    servers.push_back(std::make_unique<Scheduler>(
        store(),
        [&](const RunRequest& request) {
          ++started;
          return runner_.start(request);
        },
        options()));
  }
  for (int hour = 1; hour <= kHours; ++hour) {
    clock().advance(hour == 1 ? 1s : 1h);
    std::vector<std::jthread> threads;
    for (const auto& server : servers) {
      threads.emplace_back([&server] { must(server->tick()); });
    }
  }
  EXPECT_EQ(started, kHours);
  EXPECT_EQ(runs(), static_cast<std::size_t>(kHours));
  EXPECT_EQ(last(trigger).started, static_cast<std::uint64_t>(kHours));
  EXPECT_EQ(last(trigger).missed, 0U);
}

TEST_P(TriggerContract, NotesWhyARunCouldNotBeStarted) {
  const Trigger good = add("0 * * * *");
  const Trigger bad = must(triggers_.add({"nobody", "0 * * * *", "Good morning"}));
  go_to("2026-01-23T15:00:00Z");
  tick();
  EXPECT_EQ(last(bad).status, FiringStatus::kFailed);
  EXPECT_THAT(last(bad).error, HasSubstr("nobody"));
  EXPECT_EQ(last(good).status, FiringStatus::kStarted);
  EXPECT_THAT(log_.lines(), SizeIs(1));
}

TEST_P(TriggerContract, BearsClocksThatAreSetBack) {
  const Trigger trigger = add("0 * * * *");
  go_to("2026-01-23T15:00:00Z");
  tick();
  go_to("2026-01-23T14:59:59Z");
  tick();
  go_to("2026-01-23T15:00:01Z");
  tick();
  EXPECT_EQ(runs(), 1U);
  EXPECT_EQ(last(trigger).missed, 0U);
}

TEST_P(TriggerContract, IsListedAndRemovedWithItsFirings) {
  const Trigger trigger = add("@daily", "Asia/Kathmandu");
  clock().advance(24h);
  must(triggers_.add({"agent", "  0 9  * * MON-FRI ", "Hi", "America/New_York", "weekdays"}));
  tick();
  const auto infos = must(triggers_.list());
  ASSERT_THAT(infos, SizeIs(2));
  EXPECT_EQ(infos[0].trigger.id, trigger.id);
  EXPECT_EQ(infos[0].next->str(), "2026-01-24T18:15:00.000Z");
  EXPECT_EQ(infos[1].trigger.name, "weekdays");
  EXPECT_EQ(infos[1].trigger.cron, "0 9 * * MON-FRI");
  EXPECT_EQ(infos[1].next->str(), "2026-01-26T14:00:00.000Z");
  const auto json = boost::json::parse(to_json(infos[0]));
  EXPECT_EQ(json.at("zone"), "Asia/Kathmandu");
  EXPECT_EQ(json.at_pointer("/last/at"), "2026-01-23T18:15:00.000Z");
  EXPECT_EQ(json.at("missed"), 1);
  must(triggers_.remove(trigger.id));
  EXPECT_THAT(must(triggers_.list()), SizeIs(1));
  EXPECT_TRUE(fails(triggers_.show(trigger.id), ErrorCode::kNotFound, {trigger.id}));
  EXPECT_TRUE(fails(triggers_.remove(trigger.id), ErrorCode::kNotFound));
  EXPECT_THAT(must(store().scan({.collection = "trigger_firings", .from = trigger.id, .to = {}})),
              IsEmpty());
}

TEST_P(TriggerContract, RefusesWhatCanNeverBeDue) {
  const auto refused = [&](NewTrigger wanted, ErrorCode code, std::string_view mention) {
    return fails(triggers_.add(wanted), code, {mention});
  };
  EXPECT_TRUE(refused({"agent", "61 * * * *", "x"}, ErrorCode::kInvalid, "minute"));
  EXPECT_TRUE(refused({"agent", "0 0 31 2 *", "x"}, ErrorCode::kInvalid, "never"));
  EXPECT_TRUE(refused({"agent", "@daily", "x", "Mars/Base"}, ErrorCode::kNotFound, "Mars/Base"));
  EXPECT_TRUE(refused({"a b", "@daily", "x"}, ErrorCode::kInvalid, "a b"));
  EXPECT_TRUE(refused({"agent", "@daily", "\xFF"}, ErrorCode::kInvalid, "text"));
  EXPECT_TRUE(refused({"agent", "@daily", ""}, ErrorCode::kInvalid, "blank"));
  EXPECT_TRUE(refused({"agent", "@daily", " \n"}, ErrorCode::kInvalid, "blank"));
  EXPECT_TRUE(
      refused({"agent", "@daily", "x", "UTC", std::string(101, 'n')}, ErrorCode::kInvalid, "100"));
  EXPECT_THAT(must(triggers_.list()), IsEmpty());
}

TEST_P(TriggerContract, IsServedByAThreadUntilItShallStop) {
  add("* * * * *");
  SchedulerOptions quick = options();
  quick.look_up = 5ms;
  Scheduler server(
      store(),
      [this](const RunRequest& request) {
        auto run = runner_.start(request);
        log_.note("started");
        return run;
      },
      quick);
  std::jthread serving([&](const std::stop_token& stop) { server.run(stop); });
  clock().advance(1min);
  log_.wait_for("started");
  serving.request_stop();
  serving.join();
  EXPECT_EQ(runs(), 1U);
}

TEST_P(TriggerContract, IsMeantInTheZoneOfTheSystemUnlessItNamesOne) {
  const char* before = std::getenv("TZ");
  const std::string kept = before != nullptr ? before : "";
  ::setenv("TZ", "Asia/Kathmandu", 1);
  EXPECT_EQ(must(triggers_.add({"agent", "@daily", "x"})).zone, "Asia/Kathmandu");
  ::setenv("TZ", "CET-1CEST", 1);
  EXPECT_TRUE(fails(triggers_.add({"agent", "@daily", "x"}), ErrorCode::kInvalid, {"CET-1CEST"}));
  EXPECT_EQ(must(triggers_.add({"agent", "@daily", "x", "Europe/Berlin"})).zone, "Europe/Berlin");
  before != nullptr ? ::setenv("TZ", kept.c_str(), 1) : ::unsetenv("TZ");
}

TEST_P(TriggerContract, IsNeverDueWhileItIsDisabled) {
  const Trigger trigger = add("* * * * *");
  must(triggers_.update(trigger.id, {.enabled = false}));
  EXPECT_FALSE(must(triggers_.show(trigger.id)).next);
  EXPECT_EQ(boost::json::parse(to_json(must(triggers_.show(trigger.id)))).at("enabled"), false);
  clock().advance(1h);
  tick();
  EXPECT_FALSE(must(triggers_.show(trigger.id)).last);
  EXPECT_EQ(must(triggers_.show(trigger.id)).overdue, 0U);
  must(triggers_.update(trigger.id, {.enabled = true}));
  tick();
  EXPECT_FALSE(must(triggers_.show(trigger.id)).last)
      << "what was due meanwhile is not made up for";
  clock().advance(1min);
  tick();
  EXPECT_EQ(must(triggers_.show(trigger.id)).last->started, 1U);
  EXPECT_EQ(must(triggers_.show(trigger.id)).last->missed, 0U);
}

TEST_P(TriggerContract, IsChangedAndBeginsAnewWithItsNewSchedule) {
  const Trigger trigger = add("0 9 * * *");
  clock().advance(24h);
  tick();
  const auto before = must(triggers_.show(trigger.id)).last;
  const Trigger changed = must(triggers_.update(
      trigger.id,
      {.cron = "*/5  * * * *", .zone = "Europe/Berlin", .text = "Hi", .name = "often"}));
  EXPECT_EQ(changed.cron, "*/5 * * * *");
  EXPECT_EQ(changed.zone, "Europe/Berlin");
  EXPECT_EQ(changed.text, "Hi");
  EXPECT_EQ(changed.name, "often");
  EXPECT_EQ(must(triggers_.show(trigger.id)).overdue, 0U);
  tick();
  EXPECT_EQ(must(triggers_.show(trigger.id)).last->at, before->at);
  EXPECT_TRUE(fails(triggers_.update(trigger.id, {.cron = "61 * * * *"}), ErrorCode::kInvalid));
  EXPECT_TRUE(fails(triggers_.update(trigger.id, {.text = " "}), ErrorCode::kInvalid, {"blank"}));
  EXPECT_TRUE(fails(triggers_.update(trigger.id, {.zone = "Mars/Base"}), ErrorCode::kNotFound));
  EXPECT_EQ(must(triggers_.show(trigger.id)).trigger.cron, "*/5 * * * *");
  EXPECT_TRUE(
      fails(triggers_.update("trigger-0000000000000000", {.text = "x"}), ErrorCode::kNotFound));
}

}  // namespace
}  // namespace skein::test
