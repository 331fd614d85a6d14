// Dates that a question names: "on 7 May 2023", "in March", "last week", "three days ago".
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "skein/clock.h"

namespace skein {

// A stretch of days, or a month or day of whatever year.
struct DateHint {
  enum class Kind {
    kDays,      // `first` … `last`, a fortnight or less
    kMonth,     // `first` … `last`, one month
    kYear,      // `first` … `last`, one year
    kAnyMonth,  // `month` of any year
    kAnyDay,    // `month` and `day` of any year
  };
  Kind kind = Kind::kDays;
  std::int64_t first = 0;  // days since 1970-01-01, in UTC
  std::int64_t last = 0;
  int month = 0;
  int day = 0;
};

// How well a day fits what the question says.
enum class DateFit { kNone, kYear, kMonth, kDay };  // kDay: give or take one
DateFit fit(const DateHint& hint, std::int64_t day);

// Everything in the question that is a date. What is relative ("yesterday") is so to `now`; unset,
// it is left out. English in full; of other languages the names of months.
std::vector<DateHint> find_dates(std::string_view question, Timestamp now);

// Days since 1970-01-01.
std::int64_t day_of(Timestamp time);

}  // namespace skein
