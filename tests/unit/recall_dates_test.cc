#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "recall/text/dates.h"

namespace skein::test {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

constexpr std::string_view kNow = "2024-05-15T12:00:00Z";  // a Wednesday

std::int64_t day(std::string_view date) {
  return day_of(*Timestamp::parse(std::string(date) + "T00:00:00Z"));
}

std::vector<DateHint> dates(std::string_view question) {
  return find_dates(question, *Timestamp::parse(kNow));
}

// What the only date in the question says of a day.
DateFit on(std::string_view question, std::string_view date) {
  const auto found = dates(question);
  EXPECT_THAT(found, SizeIs(1)) << question;
  return found.size() == 1 ? fit(found[0], day(date)) : DateFit::kNone;
}

TEST(RecallDates, InFullAreGivenOrTakenADay) {
  for (const std::string_view question :
       {"What happened on 7 May 2023?", "on May 7, 2023", "on the 7th of May 2023", "on 2023-05-07",
        "at 2023-05-07T10:00", "May 7th 2023"}) {
    EXPECT_EQ(on(question, "2023-05-07"), DateFit::kDay) << question;
    EXPECT_EQ(on(question, "2023-05-08"), DateFit::kDay) << question;
    EXPECT_EQ(on(question, "2023-05-09"), DateFit::kMonth) << question;
    EXPECT_EQ(on(question, "2022-05-07"), DateFit::kNone) << question;
  }
}

TEST(RecallDates, WithoutAYearAreOfAnyYear) {
  EXPECT_EQ(on("on 7 May", "2021-05-08"), DateFit::kDay);
  EXPECT_EQ(on("on 7 May", "2021-05-20"), DateFit::kMonth);
  EXPECT_EQ(on("who came in October?", "2020-10-31"), DateFit::kMonth);
  EXPECT_EQ(on("who came in October?", "2020-11-01"), DateFit::kNone);
}

TEST(RecallDates, OfAMonthAreAllItsDays) {
  EXPECT_EQ(on("in March 2023", "2023-03-31"), DateFit::kMonth);
  EXPECT_EQ(on("in March 2023", "2023-04-01"), DateFit::kNone);
  EXPECT_EQ(on("in 2023-03", "2023-03-01"), DateFit::kMonth);
  EXPECT_EQ(on("im Februar 2024", "2024-02-29"), DateFit::kMonth);
  EXPECT_EQ(on("en août 2023", "2023-08-02"), DateFit::kMonth);
}

TEST(RecallDates, OfAYearAreAllItsDays) {
  EXPECT_EQ(on("in 2023", "2023-12-31"), DateFit::kYear);
  EXPECT_EQ(on("in 2023", "2024-01-01"), DateFit::kNone);
}

TEST(RecallDates, ThatAreRelativeCountFromNow) {
  EXPECT_EQ(on("what was said yesterday", "2024-05-14"), DateFit::kDay);
  EXPECT_EQ(on("the day before yesterday", "2024-05-12"), DateFit::kDay);
  EXPECT_EQ(on("today", "2024-05-15"), DateFit::kDay);
  EXPECT_EQ(on("three days ago", "2024-05-12"), DateFit::kDay);
  EXPECT_EQ(on("2 weeks ago", "2024-05-01"), DateFit::kDay);
  EXPECT_EQ(on("a month ago", "2024-04-02"), DateFit::kMonth);
  EXPECT_EQ(on("last month", "2024-04-30"), DateFit::kMonth);
  EXPECT_EQ(on("last week", "2024-05-08"), DateFit::kDay);
  EXPECT_EQ(on("last week", "2024-04-24"), DateFit::kNone);
  EXPECT_EQ(on("last year", "2023-02-02"), DateFit::kYear);
  EXPECT_EQ(on("last Monday", "2024-05-13"), DateFit::kDay);
  EXPECT_EQ(on("last Wednesday", "2024-05-08"), DateFit::kDay);
  EXPECT_EQ(on("on Friday", "2024-05-10"), DateFit::kDay);
  EXPECT_EQ(on("last weekend", "2024-05-11"), DateFit::kDay);
}

TEST(RecallDates, OfTheLastMonthOfAKindAreOver) {
  EXPECT_EQ(on("last March", "2024-03-10"), DateFit::kMonth);
  EXPECT_EQ(on("last March", "2023-03-10"), DateFit::kNone);
  EXPECT_EQ(on("last October", "2023-10-10"), DateFit::kMonth);
  EXPECT_EQ(on("this March", "2024-03-10"), DateFit::kMonth);
}

TEST(RecallDates, AreNotWordsThatOnlyLookLikeMonths) {
  EXPECT_THAT(dates("what may I do, and who will march on?"), IsEmpty());
  EXPECT_THAT(dates("May I ask?"), IsEmpty());
  EXPECT_THAT(dates("He sat on the mat"), IsEmpty());
  EXPECT_THAT(dates("in May"), SizeIs(1));
  EXPECT_THAT(dates("what was in May"), SizeIs(1));
}

TEST(RecallDates, ThatDoNotExistAreNoDays) {
  EXPECT_THAT(dates("on 31 February 2023"), IsEmpty());
  EXPECT_THAT(dates("2023-13-45"), SizeIs(1));  // its year
  EXPECT_THAT(dates("99999999999999 months ago"), IsEmpty());
  EXPECT_THAT(dates("999 years ago"), SizeIs(1));
}

TEST(RecallDates, ThatAreRelativeAreLeftOutWithoutAClock) {
  EXPECT_THAT(find_dates("yesterday, or on 7 May 2023", {}), SizeIs(1));
}

TEST(RecallDates, OfADayAreCountedBackwardsBefore1970) {
  EXPECT_EQ(day_of(*Timestamp::parse("1969-12-31T23:59:59Z")), -1);
  EXPECT_EQ(day_of(*Timestamp::parse("1970-01-01T00:00:00Z")), 0);
}

}  // namespace
}  // namespace skein::test
