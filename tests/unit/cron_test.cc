#include "runner/cron.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <random>

#include "support/expect.h"

namespace skein::test {
namespace {

using testing::ElementsAre;

Timestamp at(std::string_view text) { return must(Timestamp::parse(text)); }

// The next moments after `after`, in UTC.
std::vector<std::string> next(std::string_view expression, std::string_view zone_name,
                              std::string_view after, int count) {
  const Cron cron = must(Cron::parse(expression));
  const TimeZone zone = must(TimeZone::load(zone_name));
  std::vector<std::string> moments;
  Timestamp time = at(after);
  for (int i = 0; i < count; ++i) {
    const auto due = cron.next(time, zone);
    if (!due) break;
    moments.push_back(due->str().substr(0, 16));
    time = *due;
  }
  return moments;
}

std::string first(std::string_view expression, std::string_view after = "2026-01-01T00:00:00Z") {
  return next(expression, "UTC", after, 1).at(0);
}

TEST(Cron, UnderstandsFieldsNamesRangesStepsAndLists) {
  EXPECT_EQ(first("30 9 * * *"), "2026-01-01T09:30");
  EXPECT_EQ(first("*/20 * * * *"), "2026-01-01T00:20");
  EXPECT_EQ(first("5-59/20 * * * *", "2026-01-01T00:25:00Z"), "2026-01-01T00:45");
  EXPECT_EQ(first("50/5 * * * *"), "2026-01-01T00:50");
  EXPECT_EQ(first("0 0 1 MAR,sep *"), "2026-03-01T00:00");
  EXPECT_EQ(first("0 12 * * mon-FRI", "2026-01-02T12:00:00Z"), "2026-01-05T12:00");
  EXPECT_EQ(first("0 0 * * 7"), "2026-01-04T00:00");
  EXPECT_EQ(first("0 0 * * 0"), "2026-01-04T00:00");
  EXPECT_EQ(first("0 0 * * 5-7", "2026-01-03T00:00:00Z"), "2026-01-04T00:00");
  EXPECT_EQ(first("  0\t0 29 2 * "), "2028-02-29T00:00");
  EXPECT_EQ(first("1,2,59 23 31 12 *"), "2026-12-31T23:01");
}

TEST(Cron, UnderstandsNicknames) {
  EXPECT_EQ(first("@hourly"), "2026-01-01T01:00");
  EXPECT_EQ(first("@daily"), "2026-01-02T00:00");
  EXPECT_EQ(first("@midnight"), "2026-01-02T00:00");
  EXPECT_EQ(first("@Weekly"), "2026-01-04T00:00");
  EXPECT_EQ(first("@monthly"), "2026-02-01T00:00");
  EXPECT_EQ(first("@yearly"), "2027-01-01T00:00");
  EXPECT_EQ(first("@annually"), "2027-01-01T00:00");
}

TEST(Cron, TakesEitherDayWhereBothAreGivenAndBothWhereOneBeginsWithAStar) {
  EXPECT_THAT(next("0 0 13 * FRI", "UTC", "2026-02-10T00:00:00Z", 3),
              ElementsAre("2026-02-13T00:00", "2026-02-20T00:00", "2026-02-27T00:00"));
  EXPECT_THAT(next("0 0 */2 * MON", "UTC", "2026-02-01T00:00:00Z", 2),
              ElementsAre("2026-02-09T00:00", "2026-02-23T00:00"));
}

TEST(Cron, RefusesWhatMakesNoSenseAndNamesIt) {
  const auto refused = [](std::string_view expression, std::string_view mention) {
    return fails(Cron::parse(expression), ErrorCode::kInvalid, {mention});
  };
  EXPECT_TRUE(refused("", "five fields"));
  EXPECT_TRUE(refused("* * * *", "five fields"));
  EXPECT_TRUE(refused("* * * * * *", "five fields"));
  EXPECT_TRUE(refused("60 * * * *", "minute"));
  EXPECT_TRUE(refused("* 24 * * *", "hour"));
  EXPECT_TRUE(refused("* * 0 * *", "day"));
  EXPECT_TRUE(refused("* * 32 * *", "day"));
  EXPECT_TRUE(refused("* * * 13 *", "month"));
  EXPECT_TRUE(refused("* * * 0 *", "month"));
  EXPECT_TRUE(refused("* * * * 8", "day of the week"));
  EXPECT_TRUE(refused("* * * * funday", "funday"));
  EXPECT_TRUE(refused("5-1 * * * *", "5-1"));
  EXPECT_TRUE(refused("*/0 * * * *", "*/0"));
  EXPECT_TRUE(refused("1,,2 * * * *", "minute"));
  EXPECT_TRUE(refused("-1 * * * *", "minute"));
  EXPECT_TRUE(refused("1- * * * *", "minute"));
  EXPECT_TRUE(refused("1/2/3 * * * *", "minute"));
  EXPECT_TRUE(refused("0x1 * * * *", "minute"));
  EXPECT_TRUE(refused("0 0 L * *", "day"));
  EXPECT_TRUE(refused("@reboot", "@reboot"));
  EXPECT_TRUE(refused("0 0 30 2 *", "never"));
  EXPECT_TRUE(refused("0 0 31 4,6,9,11 *", "never"));
  EXPECT_TRUE(refused(std::string(300, '*'), "256"));
}

TEST(Cron, GoesByTheWallClockInItsZone) {
  EXPECT_THAT(next("0 9 * * *", "Europe/Berlin", "2026-03-27T12:00:00Z", 3),
              ElementsAre("2026-03-28T08:00", "2026-03-29T07:00", "2026-03-30T07:00"));
  EXPECT_THAT(next("0 9 * * *", "America/New_York", "2026-10-31T00:00:00Z", 2),
              ElementsAre("2026-10-31T13:00", "2026-11-01T14:00"));
  EXPECT_THAT(next("15 6 1 1 *", "Asia/Kathmandu", "2026-06-01T00:00:00Z", 1),
              ElementsAre("2027-01-01T00:30"));
  // Beyond what the database lists year by year.
  EXPECT_THAT(next("0 9 * 7 *", "Europe/Berlin", "2050-01-01T00:00:00Z", 1),
              ElementsAre("2050-07-01T07:00"));
}

TEST(Cron, MakesUpForWhatFallsIntoSkippedHoursOnce) {
  EXPECT_THAT(next("30 2 * * *", "Europe/Berlin", "2026-03-28T12:00:00Z", 2),
              ElementsAre("2026-03-29T01:00", "2026-03-30T00:30"));
  EXPECT_THAT(next("0,30 2 * * *", "Europe/Berlin", "2026-03-28T12:00:00Z", 2),
              ElementsAre("2026-03-29T01:00", "2026-03-30T00:00"));
  EXPECT_THAT(next("0 2,3 * * *", "Europe/Berlin", "2026-03-28T12:00:00Z", 2),
              ElementsAre("2026-03-29T01:00", "2026-03-30T00:00"));
  EXPECT_THAT(next("30 2 * * *", "America/New_York", "2027-03-13T12:00:00Z", 2),
              ElementsAre("2027-03-14T07:00", "2027-03-15T06:30"));
  EXPECT_THAT(next("15 2 * * *", "Australia/Lord_Howe", "2026-10-03T00:00:00Z", 2),
              ElementsAre("2026-10-03T15:30", "2026-10-04T15:15"));
  // Samoa had no 30 December 2011.
  EXPECT_THAT(next("0 12 * * *", "Pacific/Apia", "2011-12-29T23:00:00Z", 2),
              ElementsAre("2011-12-30T10:00", "2011-12-30T22:00"));
}

TEST(Cron, FiresOnceWhereAnHourComesTwice) {
  EXPECT_THAT(next("30 2 * * *", "Europe/Berlin", "2026-10-24T12:00:00Z", 2),
              ElementsAre("2026-10-25T00:30", "2026-10-26T01:30"));
  EXPECT_THAT(next("30 1 * * *", "America/New_York", "2028-11-04T12:00:00Z", 2),
              ElementsAre("2028-11-05T05:30", "2028-11-06T06:30"));
  EXPECT_THAT(next("45 1 * * *", "Australia/Lord_Howe", "2026-04-04T00:00:00Z", 2),
              ElementsAre("2026-04-04T14:45", "2026-04-05T15:15"));
}

TEST(Cron, GoesByElapsedTimeWhereEveryHourIsMeant) {
  EXPECT_THAT(next("30 * * * *", "Europe/Berlin", "2026-03-29T00:00:00Z", 3),
              ElementsAre("2026-03-29T00:30", "2026-03-29T01:30", "2026-03-29T02:30"));
  EXPECT_THAT(next("30 * * * *", "Europe/Berlin", "2026-10-24T23:45:00Z", 3),
              ElementsAre("2026-10-25T00:30", "2026-10-25T01:30", "2026-10-25T02:30"));
  EXPECT_THAT(next("*/20 */2 * * *", "America/New_York", "2026-03-08T06:00:00Z", 2),
              ElementsAre("2026-03-08T08:00", "2026-03-08T08:20"));
}

// Looks at every minute on its own.
class MinuteByMinute {
 public:
  MinuteByMinute(const std::vector<std::vector<int>>& fields, bool any_hour, const TimeZone& zone)
      : fields_(fields), any_hour_(any_hour), zone_(zone) {}

  bool due(std::int64_t moment) const {
    const std::int64_t local = zone_.local_at(moment);
    const std::int64_t before = moment - 60 + zone_.offset_at(moment - 1) + 60;
    if (any_hour_) return fits(local);
    if (fits(local) && !seen_before(moment, local)) return true;
    for (std::int64_t skipped = before; skipped < local; skipped += 60) {
      if (fits(skipped)) return true;
    }
    return false;
  }

 private:
  // Whether clocks showed that time up to three hours ago.
  bool seen_before(std::int64_t moment, std::int64_t local) const {
    for (std::int64_t earlier = moment - 60; earlier >= moment - 3 * 3600; earlier -= 60) {
      if (zone_.local_at(earlier) == local) return true;
    }
    return false;
  }
  bool fits(std::int64_t local) const {
    using namespace std::chrono;
    const sys_seconds time{seconds(local)};
    const sys_days day = floor<days>(time);
    const year_month_day date(day);
    const auto of_day = time - day;
    const auto has = [&](std::size_t field, int value) {
      const auto& all = fields_[field];
      return all.empty() || std::find(all.begin(), all.end(), value) != all.end();
    };
    const int hour = static_cast<int>(floor<hours>(of_day).count());
    const int minute = static_cast<int>(floor<minutes>(of_day).count()) % 60;
    return of_day % minutes(1) == seconds(0) && has(0, minute) && has(1, hour) &&
           has(2, static_cast<int>(static_cast<unsigned>(date.day())));
  }

  const std::vector<std::vector<int>>& fields_;  // minutes, hours, days; empty: all
  const bool any_hour_;
  const TimeZone& zone_;
};

TEST(Cron, AgreesWithLookingAtEveryMinuteAroundEveryChangeOfClocks) {
  struct Window {
    const char* zone;
    const char* from;
  };
  const std::vector<Window> windows = {{"Europe/Berlin", "2026-03-28T20:00:00Z"},
                                       {"Europe/Berlin", "2026-10-24T20:00:00Z"},
                                       {"America/New_York", "2030-03-10T00:00:00Z"},
                                       {"America/New_York", "2030-11-03T00:00:00Z"},
                                       {"Australia/Lord_Howe", "2026-04-04T08:00:00Z"},
                                       {"Australia/Lord_Howe", "2026-10-03T08:00:00Z"},
                                       {"Africa/Casablanca", "2026-02-14T20:00:00Z"},
                                       {"Africa/Casablanca", "2026-03-21T20:00:00Z"},
                                       {"Antarctica/Troll", "2026-03-28T20:00:00Z"},
                                       {"Antarctica/Troll", "2026-10-24T20:00:00Z"},
                                       {"America/Sao_Paulo", "2018-11-03T20:00:00Z"},
                                       {"America/Sao_Paulo", "2019-02-16T20:00:00Z"}};
  std::mt19937_64 random(11);
  for (int round = 0; round < 120; ++round) {
    const Window& window = windows[random() % windows.size()];
    std::vector<std::vector<int>> fields(3);
    std::string expression;
    for (std::size_t field = 0; field < 3; ++field) {
      const int low = field == 2 ? 1 : 0;
      const int high = field == 0 ? 59 : field == 1 ? 5 : 31;
      if (random() % 3 == 0 && field > 0) {
        expression += "* ";
        continue;
      }
      std::string list;
      for (std::size_t count = 1 + random() % (field == 2 ? 20 : 4); count > 0; --count) {
        const int value = low + static_cast<int>(random() % (high - low + 1));
        fields[field].push_back(value);
        list += (list.empty() ? "" : ",") + std::to_string(value);
      }
      expression += list + " ";
    }
    expression += "* *";
    const Cron cron = must(Cron::parse(expression));
    const TimeZone zone = must(TimeZone::load(window.zone));
    const MinuteByMinute oracle(fields, fields[1].empty(), zone);
    const std::int64_t begin = at(window.from).us / 1'000'000;
    std::optional<Timestamp> due = cron.next({(begin - 1) * 1'000'000}, zone);
    for (std::int64_t minute = begin; minute < begin + 20 * 3600; minute += 60) {
      const bool is_due = due && due->us == minute * 1'000'000;
      ASSERT_EQ(is_due, oracle.due(minute))
          << expression << " in " << window.zone << " at " << Timestamp{minute * 1'000'000}.str();
      if (is_due) due = cron.next(*due, zone);
    }
  }
}

}  // namespace
}  // namespace skein::test
