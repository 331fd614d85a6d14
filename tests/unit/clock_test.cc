#include "skein/clock.h"

#include <gtest/gtest.h>

#include <ctime>
#include <random>
#include <string>

#include "support/expect.h"

namespace skein::test {
namespace {

Timestamp at(std::string_view text) { return must(Timestamp::parse(text)); }

TEST(Timestamps, AreWrittenWithMillisecondsOrFinerWhereNeeded) {
  EXPECT_EQ(Timestamp::from_ms(0).str(), "1970-01-01T00:00:00.000Z");
  EXPECT_EQ(Timestamp::from_ms(1'769'178'652'123).str(), "2026-01-23T14:30:52.123Z");
  EXPECT_EQ(Timestamp{1'769'178'652'123'004}.str(), "2026-01-23T14:30:52.123004Z");
  EXPECT_EQ(Timestamp{-1}.str(), "1969-12-31T23:59:59.999999Z");
  EXPECT_EQ(Timestamp{}.str(), "");
  EXPECT_EQ(Timestamp{Timestamp::kFirst}.str(), "0000-01-01T00:00:00.000Z");
  EXPECT_EQ(Timestamp{Timestamp::kEnd - 1}.str(), "9999-12-31T23:59:59.999999Z");
}

TEST(Timestamps, AreReadWithAnyZoneAndPrecision) {
  const Timestamp time = at("2026-01-23T14:30:52.123Z");
  EXPECT_EQ(time.ms(), 1'769'178'652'123);
  for (const std::string_view same :
       {"2026-01-23T14:30:52.123Z", "2026-01-23T14:30:52.123000000Z",
        "2026-01-23T15:30:52.123+01:00", "2026-01-23T09:00:52.123-05:30",
        "2026-01-23T14:30:52.1230009Z", "2026-01-24T00:30:52.123+1000"}) {
    EXPECT_EQ(at(same), time) << same;
  }
  EXPECT_EQ(at("2026-01-23T14:30:52Z").us % 1'000'000, 0);
  EXPECT_EQ(at("2024-02-29T00:00:00Z").str(), "2024-02-29T00:00:00.000Z");
  EXPECT_EQ(at("0000-01-01T00:00:00Z").us, Timestamp::kFirst);
  EXPECT_EQ(at("9999-12-31T23:59:59.999999Z").us, Timestamp::kEnd - 1);
}

TEST(Timestamps, RefuseWhatIsNone) {
  using namespace std::string_literals;
  for (const std::string& bad : {""s,
                                 "now"s,
                                 "2026"s,
                                 "2026-01-23"s,
                                 "2026-01-23T14:30:52"s,
                                 "2026-01-23T14:30Z"s,
                                 "2026-13-01T00:00:00Z"s,
                                 "2026-00-01T00:00:00Z"s,
                                 "2026-02-29T00:00:00Z"s,
                                 "1900-02-29T00:00:00Z"s,
                                 "2026-01-32T00:00:00Z"s,
                                 "2026-01-00T00:00:00Z"s,
                                 "2026-01-23T24:00:00Z"s,
                                 "2026-01-23T00:60:00Z"s,
                                 "2026-01-23T00:00:61Z"s,
                                 "2026-01-23T00:00:00.Z"s,
                                 "2026-01-23T00:00:00ZZ"s,
                                 " 2026-01-23T00:00:00Z"s,
                                 "2026-01-23T00:00:00Z "s,
                                 "2026-01-23T00:00:00+24:00"s,
                                 "2026-01-23T00:00:00+01:60"s,
                                 "+2026-01-23T00:00:00Z"s,
                                 "-001-01-01T00:00:00Z"s,
                                 "10000-01-01T00:00:00Z"s,
                                 "2026-1-23T00:00:00Z"s,
                                 "2026-01-23T00:00:00\0Z"s,
                                 "0000-01-01T00:00:00+00:01"s,
                                 "9999-12-31T23:59:59-00:01"s,
                                 "1769178652123"s}) {
    EXPECT_TRUE(fails(Timestamp::parse(bad), ErrorCode::kInvalid, {"timestamp"})) << bad;
  }
}

TEST(Timestamps, RoundTripAndAgreeWithTheCLibrary) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 20'000; ++i) {
    const auto range = static_cast<std::uint64_t>(Timestamp::kEnd - Timestamp::kFirst);
    const Timestamp time{Timestamp::kFirst + static_cast<std::int64_t>(random() % range)};
    ASSERT_EQ(at(time.str()), time) << time.str();
    std::int64_t seconds = time.us / 1'000'000;
    if (time.us % 1'000'000 < 0) --seconds;
    const std::time_t moment = seconds;
    std::tm broken{};
    ASSERT_NE(gmtime_r(&moment, &broken), nullptr);
    char text[32];
    std::snprintf(text, sizeof text, "%04d-%02d-%02dT%02d:%02d:%02d", broken.tm_year + 1900,
                  broken.tm_mon + 1, broken.tm_mday, broken.tm_hour, broken.tm_min, broken.tm_sec);
    ASSERT_EQ(time.str().substr(0, 19), text);
  }
}

TEST(Timestamps, AreOrderedAndKnowWhetherTheyAreSet) {
  EXPECT_LT(at("2026-01-01T00:00:00Z"), at("2026-01-01T00:00:00.000001Z"));
  EXPECT_FALSE(Timestamp{}.is_set());
  EXPECT_TRUE(Timestamp{}.is_valid());
  EXPECT_TRUE(Timestamp{0}.is_set());
  EXPECT_FALSE(Timestamp{Timestamp::kEnd}.is_valid());
  EXPECT_FALSE(Timestamp{Timestamp::kFirst - 1}.is_valid());
}

TEST(SystemClock, TellsWholeMillisecondsAndTheBoot) {
  Clock& clock = system_clock();
  EXPECT_EQ(clock.now().us % 1000, 0);
  EXPECT_GT(clock.now(), at("2025-01-01T00:00:00Z"));
  const std::int64_t before = clock.boot_ms();
  EXPECT_GE(clock.boot_ms(), before);
  EXPECT_EQ(clock.boot_id(), clock.boot_id());
  EXPECT_FALSE(clock.boot_id().empty());
}

}  // namespace
}  // namespace skein::test
