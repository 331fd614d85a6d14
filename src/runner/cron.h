// When things are due again and again: cron expressions in a time zone.
#pragma once

#include <bitset>
#include <optional>
#include <string>
#include <string_view>

#include "core/time_zone.h"
#include "skein/clock.h"
#include "skein/error.h"

namespace skein {

// Minute, hour, day of the month, month, day of the week. Each field is "*", a value, a range
// "1-5", any of these with a step "*/15", or a list of them. Months and days of the week have their
// English names too (JAN, mon), and Sunday is 0 or 7. Also @yearly, @annually, @monthly, @weekly,
// @daily, @midnight and @hourly.
//
// Where the day of the month and the day of the week both say something (neither begins with "*"),
// a day is due that fits either of them; otherwise it must fit both.
//
// When clocks are moved, what counts depends on the hour. Where that field begins with "*", time
// goes on as it passes: local times that are left out are left out, and those that come twice are
// due twice. Otherwise the wall clock counts: what falls into hours that are left out is due at the
// moment when clocks are moved, once, and what comes twice is due the first time only.
class Cron {
 public:
  // kInvalid names the field, the value and the rule; also for what is never due, such as 30
  // February.
  static Result<Cron> parse(std::string_view expression);

  const std::string& text() const { return text_; }

  // The first moment after `after` at which it is due there; nothing after the year 9999, or when
  // there is none within 50 years. Whole minutes of local time.
  std::optional<Timestamp> next(Timestamp after, const TimeZone& zone) const;

 private:
  Cron() = default;
  Result<void> parse_fields(std::string_view expression);
  bool due_on(std::int64_t day) const;
  std::optional<std::int64_t> first_after(std::int64_t after, std::int64_t day,
                                          const TimeZone& zone) const;

  std::string text_;
  std::bitset<60> minutes_;
  std::bitset<24> hours_;
  std::bitset<32> days_;     // from 1
  std::bitset<13> months_;   // from 1
  std::bitset<7> weekdays_;  // from Sunday
  bool any_hour_ = false;    // these fields begin with "*"
  bool any_day_ = false;
  bool any_weekday_ = false;
};

}  // namespace skein
