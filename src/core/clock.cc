#include "skein/clock.h"

#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include <cstdio>

#include "core/quote.h"

namespace skein {
namespace {

constexpr std::int64_t kUsPerSecond = 1'000'000;
constexpr std::int64_t kSecondsPerDay = 86'400;

// Days since 1970-01-01 of a date in the proleptic Gregorian calendar.
std::int64_t days_from_civil(std::int64_t year, std::int64_t month, std::int64_t day) {
  year -= month <= 2 ? 1 : 0;
  const std::int64_t era = (year >= 0 ? year : year - 399) / 400;
  const std::int64_t year_of_era = year - era * 400;
  const std::int64_t day_of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
  const std::int64_t day_of_era =
      year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
  return era * 146'097 + day_of_era - 719'468;
}

struct Civil {
  std::int64_t year, month, day;
};

Civil civil_from_days(std::int64_t days) {
  days += 719'468;
  const std::int64_t era = (days >= 0 ? days : days - 146'096) / 146'097;
  const std::int64_t day_of_era = days - era * 146'097;
  const std::int64_t year_of_era =
      (day_of_era - day_of_era / 1'460 + day_of_era / 36'524 - day_of_era / 146'096) / 365;
  const std::int64_t day_of_year =
      day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
  const std::int64_t shifted = (5 * day_of_year + 2) / 153;
  const std::int64_t month = shifted < 10 ? shifted + 3 : shifted - 9;
  return {year_of_era + era * 400 + (month <= 2 ? 1 : 0), month,
          day_of_year - (153 * shifted + 2) / 5 + 1};
}

bool valid_date(std::int64_t year, std::int64_t month, std::int64_t day) {
  constexpr std::int64_t kDays[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  if (month < 1 || month > 12 || day < 1) return false;
  const bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
  return day <= kDays[month - 1] + (month == 2 && leap ? 1 : 0);
}

// Reads text from the front; once something did not fit, `ok` stays false.
struct Scanner {
  std::string_view rest;
  bool ok = true;

  std::int64_t digits(std::size_t count) {
    std::int64_t value = 0;
    for (std::size_t i = 0; i < count; ++i) {
      if (i >= rest.size() || rest[i] < '0' || rest[i] > '9') {
        ok = false;
        return 0;
      }
      value = value * 10 + (rest[i] - '0');
    }
    rest.remove_prefix(count);
    return value;
  }
  bool take(char c) {
    if (rest.empty() || rest[0] != c) return false;
    rest.remove_prefix(1);
    return true;
  }
  void expect(char c) { ok = take(c) && ok; }

  std::int64_t fraction_us() {
    std::int64_t us = 0;
    std::int64_t scale = kUsPerSecond / 10;
    if (rest.empty() || rest[0] < '0' || rest[0] > '9') ok = false;
    for (; !rest.empty() && rest[0] >= '0' && rest[0] <= '9'; rest.remove_prefix(1)) {
      us += (rest[0] - '0') * scale;
      scale /= 10;
    }
    return us;
  }
  std::int64_t offset_seconds() {
    if (take('Z') || take('z')) return 0;
    const bool minus = take('-');
    if (!minus) expect('+');
    const std::int64_t hours = digits(2);
    take(':');
    const std::int64_t minutes = digits(2);
    ok = ok && hours < 24 && minutes < 60;
    return (minus ? -1 : 1) * (hours * 3600 + minutes * 60);
  }
};

class SystemClock final : public Clock {
 public:
  SystemClock() : boot_id_(read_boot_id()) {}

  Timestamp now() override { return Timestamp::from_ms(read_ms(CLOCK_REALTIME)); }
  std::int64_t boot_ms() override { return read_ms(CLOCK_BOOTTIME); }
  std::string boot_id() override { return boot_id_; }

 private:
  static std::int64_t read_ms(clockid_t id) {
    timespec time{};
    clock_gettime(id, &time);
    return static_cast<std::int64_t>(time.tv_sec) * 1000 + time.tv_nsec / 1'000'000;
  }
  static std::string read_boot_id() {
    char text[36] = {};
    const int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    if (fd < 0) return "unknown";
    const ssize_t got = read(fd, text, sizeof text);
    close(fd);
    return got == static_cast<ssize_t>(sizeof text) ? std::string(text, sizeof text) : "unknown";
  }

  const std::string boot_id_;
};

}  // namespace

Result<Timestamp> Timestamp::parse(std::string_view text) {
  Scanner in{text};
  const std::int64_t year = in.digits(4);
  in.expect('-');
  const std::int64_t month = in.digits(2);
  in.expect('-');
  const std::int64_t day = in.digits(2);
  if (!in.take('T') && !in.take('t')) in.expect(' ');
  const std::int64_t hour = in.digits(2);
  in.expect(':');
  const std::int64_t minute = in.digits(2);
  in.expect(':');
  const std::int64_t second = in.digits(2);
  const std::int64_t fraction = in.take('.') ? in.fraction_us() : 0;
  const std::int64_t offset = in.offset_seconds();
  const bool valid = in.ok && in.rest.empty() && valid_date(year, month, day) && hour < 24 &&
                     minute < 60 && second < 61;
  const std::int64_t seconds = days_from_civil(year, month, day) * kSecondsPerDay + hour * 3600 +
                               minute * 60 + (second < 60 ? second : 59) - offset;
  const Timestamp time{seconds * kUsPerSecond + fraction};
  if (!valid || !time.is_valid()) {
    return fail(
        ErrorCode::kInvalid,
        "timestamp must be ISO 8601 with a time zone, such as 2026-01-23T14:30:52.123Z, got " +
            quote(text));
  }
  return time;
}

std::string Timestamp::str() const {
  if (!is_set()) return {};
  std::int64_t seconds = us / kUsPerSecond;
  std::int64_t fraction = us % kUsPerSecond;
  if (fraction < 0) {
    fraction += kUsPerSecond;
    --seconds;
  }
  std::int64_t days = seconds / kSecondsPerDay;
  std::int64_t of_day = seconds % kSecondsPerDay;
  if (of_day < 0) {
    of_day += kSecondsPerDay;
    --days;
  }
  const Civil date = civil_from_days(days);
  char text[] = "0000-00-00T00:00:00.000000Z";
  const auto put = [&text](std::size_t at, std::size_t width, std::int64_t value) {
    for (std::size_t i = width; i-- > 0; value /= 10) {
      text[at + i] = static_cast<char>('0' + value % 10);
    }
  };
  put(0, 4, date.year);
  put(5, 2, date.month);
  put(8, 2, date.day);
  put(11, 2, of_day / 3600);
  put(14, 2, of_day / 60 % 60);
  put(17, 2, of_day % 60);
  put(20, 6, fraction);
  if (fraction % 1000 != 0) return text;
  text[23] = 'Z';
  return std::string(text, 24);
}

Clock& system_clock() {
  static SystemClock clock;
  return clock;
}

}  // namespace skein
