#include "core/time_zone.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

#include "core/subprocess.h"
#include "skein/clock.h"
#include "support/expect.h"
#include "support/temp_dir.h"

namespace skein::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const std::vector<std::string> kZones = {"Europe/Berlin",
                                         "America/New_York",
                                         "Australia/Lord_Howe",
                                         "America/Sao_Paulo",
                                         "Africa/Casablanca",
                                         "Europe/Dublin",
                                         "Asia/Kathmandu",
                                         "Pacific/Apia",
                                         "Asia/Tehran",
                                         "America/St_Johns",
                                         "Antarctica/Troll",
                                         "Pacific/Chatham",
                                         "Asia/Gaza",
                                         "America/Godthab",
                                         "Africa/Cairo",
                                         "Etc/GMT+12",
                                         "UTC",
                                         "America/Mexico_City",
                                         "Europe/London",
                                         "Pacific/Kiritimati"};

std::int64_t moment(std::string_view text) { return must(Timestamp::parse(text)).us / 1'000'000; }
// A local time, as if it were UTC.
std::int64_t local(std::string_view text) { return moment(std::string(text) + ":00Z"); }

std::string file_of(const std::string& zone) {
  std::ifstream stream(std::string(TimeZone::kFolder) + "/" + zone, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

// Python's zoneinfo reads the same files.
TEST(TimeZones, AgreeWithAnotherReaderOfTheSameFiles) {
  std::mt19937_64 random(7);
  std::vector<std::int64_t> moments;
  std::uniform_int_distribution<std::int64_t> any(moment("1900-01-01T00:00:00Z"),
                                                  moment("2120-01-01T00:00:00Z"));
  for (int i = 0; i < 1000; ++i) moments.push_back(any(random));
  // All through some years, also beyond the last change that the files list.
  for (const char* year : {"2025", "2026", "2045"}) {
    for (std::int64_t hour = 0; hour < 366 * 24; hour += 11) {
      moments.push_back(moment(std::string(year) + "-01-01T00:00:00Z") + hour * 3600);
    }
  }
  std::ostringstream input;
  for (const std::string& zone : kZones) input << zone << " ";
  input << "\n";
  for (const std::int64_t each : moments) input << each << " ";
  const Finished done = must(run_program(
      {.argv = {"python3", "-c",
                "import sys, zoneinfo, datetime\n"
                "zones = sys.stdin.readline().split()\n"
                "moments = [int(m) for m in sys.stdin.readline().split()]\n"
                "for z in zones:\n"
                "  zone = zoneinfo.ZoneInfo(z)\n"
                "  epoch = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)\n"
                "  for m in moments:\n"
                "    at = (epoch + datetime.timedelta(seconds=m)).astimezone(zone)\n"
                "    print(int(at.utcoffset().total_seconds()))\n"}},
      input.str(), {.time = std::chrono::minutes(2)}));
  ASSERT_TRUE(done.exit.ok()) << done.err;
  std::istringstream answers(done.out);
  for (const std::string& name : kZones) {
    const TimeZone zone = must(TimeZone::load(name));
    for (const std::int64_t each : moments) {
      std::int32_t expected = 0;
      ASSERT_TRUE(answers >> expected);
      ASSERT_EQ(zone.offset_at(each), expected)
          << name << " at " << Timestamp{each * 1'000'000}.str();
    }
  }
}

TEST(TimeZones, KnowWhichLocalTimesAreSkippedAndWhichComeTwice) {
  const TimeZone berlin = must(TimeZone::load("Europe/Berlin"));
  EXPECT_THAT(berlin.moments_of(local("2026-07-01T12:00")),
              ElementsAre(moment("2026-07-01T10:00:00Z")));
  EXPECT_THAT(berlin.moments_of(local("2026-03-29T02:30")), IsEmpty());
  EXPECT_EQ(berlin.end_of_gap(local("2026-03-29T02:30")), moment("2026-03-29T01:00:00Z"));
  EXPECT_THAT(berlin.moments_of(local("2026-03-29T02:00")), IsEmpty());
  EXPECT_THAT(berlin.moments_of(local("2026-03-29T03:00")),
              ElementsAre(moment("2026-03-29T01:00:00Z")));
  EXPECT_THAT(berlin.moments_of(local("2026-10-25T02:30")),
              ElementsAre(moment("2026-10-25T00:30:00Z"), moment("2026-10-25T01:30:00Z")));
  EXPECT_THAT(berlin.moments_of(local("2050-10-30T02:30")),
              ElementsAre(moment("2050-10-30T00:30:00Z"), moment("2050-10-30T01:30:00Z")));
  // Half an hour, and a whole day.
  const TimeZone lord_howe = must(TimeZone::load("Australia/Lord_Howe"));
  EXPECT_THAT(lord_howe.moments_of(local("2026-04-05T01:45")), testing::SizeIs(2));
  EXPECT_THAT(lord_howe.moments_of(local("2026-10-04T02:15")), IsEmpty());
  const TimeZone apia = must(TimeZone::load("Pacific/Apia"));
  EXPECT_THAT(apia.moments_of(local("2011-12-30T12:00")), IsEmpty());
  EXPECT_EQ(apia.end_of_gap(local("2011-12-30T12:00")), moment("2011-12-30T10:00:00Z"));
}

TEST(TimeZones, RefuseNamesThatAreNone) {
  EXPECT_TRUE(fails(TimeZone::load("Europe/Nowhere"), ErrorCode::kNotFound, {"Europe/Nowhere"}));
  EXPECT_TRUE(fails(TimeZone::load("Europe"), ErrorCode::kNotFound, {"Europe"}));
  for (const std::string_view name :
       {"", "../../etc/passwd", "/etc/passwd", "Europe//Berlin", "Europe/", "a b", "Berlin\n"}) {
    EXPECT_TRUE(fails(TimeZone::load(name), ErrorCode::kInvalid)) << name;
  }
  EXPECT_TRUE(ok(TimeZone::load("UTC", "/nonexistent")));
  // Something in the folder that is no zone.
  EXPECT_FALSE(TimeZone::load("tzdata/zi").has_value());
}

TEST(TimeZones, BearDamagedFiles) {
  const std::string good = file_of("Europe/Berlin");
  ASSERT_TRUE(ok(TimeZone::parse("good", good)));
  EXPECT_TRUE(fails(TimeZone::parse("empty", ""), ErrorCode::kDamaged, {"empty"}));
  std::mt19937_64 random(3);
  for (int i = 0; i < 3000; ++i) {
    std::string bad = good;
    if (i % 2 == 0) bad.resize(random() % bad.size());
    for (std::size_t flips = random() % 4; flips > 0 && !bad.empty(); --flips) {
      bad[random() % bad.size()] = static_cast<char>(random());
    }
    const auto zone = TimeZone::parse("bad", bad);
    if (!zone) {
      EXPECT_EQ(zone.error().code, ErrorCode::kDamaged);
      continue;
    }
    for (const std::int64_t each : {-10'000'000'000LL, 0LL, 1'800'000'000LL, 9'000'000'000LL}) {
      EXPECT_LT(std::abs(zone->offset_at(each)), 14 * 86'400);
      EXPECT_LE(zone->moments_of(each).size(), 16U);
    }
  }
}

class SystemZone : public testing::Test {
 protected:
  TimeZone::SystemFiles files() const {
    return {.localtime = (folder_.path() / "localtime").string(),
            .timezone = (folder_.path() / "timezone").string()};
  }
  void link_to(const std::string& target) {
    std::filesystem::create_symlink(target, folder_.path() / "localtime");
  }

  TempDir folder_;
};

TEST_F(SystemZone, IsThatOfTheEnvironment) {
  link_to(std::string(TimeZone::kFolder) + "/America/New_York");
  EXPECT_EQ(must(TimeZone::system_name("Europe/Berlin", files())), "Europe/Berlin");
  EXPECT_EQ(must(TimeZone::system_name(":Europe/Berlin", files())), "Europe/Berlin");
  EXPECT_EQ(must(TimeZone::system_name("/usr/share/zoneinfo/Europe/Berlin", files())),
            "Europe/Berlin");
  EXPECT_EQ(must(TimeZone::system_name("", files())), "UTC");
  EXPECT_TRUE(fails(TimeZone::system_name("CET-1CEST", files()), ErrorCode::kInvalid, {"CET-1"}));
}

TEST_F(SystemZone, IsElseThatOfLocaltimeOrOfTheFileTimezone) {
  EXPECT_EQ(must(TimeZone::system_name(nullptr, files())), "UTC") << "nothing says one";
  std::ofstream(folder_.path() / "timezone") << "Asia/Kathmandu\n";
  EXPECT_EQ(must(TimeZone::system_name(nullptr, files())), "Asia/Kathmandu");
  link_to(std::string(TimeZone::kFolder) + "/America/New_York");
  EXPECT_EQ(must(TimeZone::system_name(nullptr, files())), "America/New_York");
  std::filesystem::remove(folder_.path() / "localtime");
  link_to("/somewhere/else");
  EXPECT_EQ(must(TimeZone::system_name(nullptr, files())), "Asia/Kathmandu");
}

}  // namespace
}  // namespace skein::test
