#include "runner/cron.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <chrono>
#include <span>
#include <utility>
#include <vector>

#include "core/quote.h"
#include "core/try.h"

namespace skein {
namespace {

constexpr std::int64_t kDay = 86'400;
constexpr std::int64_t kMaxDays = 50 * 366;
constexpr std::size_t kMaxExpressionBytes = 256;

constexpr std::array<std::string_view, 12> kMonths = {"jan", "feb", "mar", "apr", "may", "jun",
                                                      "jul", "aug", "sep", "oct", "nov", "dec"};
constexpr std::array<std::string_view, 7> kWeekdays = {"sun", "mon", "tue", "wed",
                                                       "thu", "fri", "sat"};
constexpr std::array<std::pair<std::string_view, std::string_view>, 7> kNicknames = {{
    {"@yearly", "0 0 1 1 *"},
    {"@annually", "0 0 1 1 *"},
    {"@monthly", "0 0 1 * *"},
    {"@weekly", "0 0 * * 0"},
    {"@daily", "0 0 * * *"},
    {"@midnight", "0 0 * * *"},
    {"@hourly", "0 * * * *"},
}};

std::string lower(std::string_view text) {
  std::string lowered(text);
  std::transform(lowered.begin(), lowered.end(), lowered.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return lowered;
}

std::vector<std::string_view> split(std::string_view text, std::string_view separators,
                                    bool skip_empty) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t end = text.find_first_of(separators);
    if (!skip_empty || end != 0) parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  if (skip_empty && !parts.empty() && parts.back().empty()) parts.pop_back();
  return parts;
}

// One of the five.
struct FieldRule {
  std::string_view name;
  int low;
  int high;
  std::span<const std::string_view> names{};
  int first_name = 0;

  tl::unexpected<Error> wrong(std::string_view value) const {
    return fail(ErrorCode::kInvalid, "the " + std::string(name) + " of a cron expression must be " +
                                         std::to_string(low) + " to " + std::to_string(high) +
                                         (names.empty() ? "" : ", or a name") +
                                         ", with \"*\", \"-\", \"/\" and \",\"; got " +
                                         quote(value));
  }

  std::optional<int> number(std::string_view text) const {
    const auto named = std::find(names.begin(), names.end(), lower(text));
    if (named != names.end()) return static_cast<int>(named - names.begin()) + first_name;
    int value = 0;
    const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
    if (text.empty() || text.size() > 3 || parsed.ec != std::errc() ||
        parsed.ptr != text.data() + text.size() || text.front() == '-') {
      return std::nullopt;
    }
    return value;
  }

  template <std::size_t N>
  Result<void> parse_item(std::string_view item, std::bitset<N>& into) const {
    const std::size_t slash = item.find('/');
    const std::string_view range = item.substr(0, slash);
    int begin = low;
    int end = high;
    if (range != "*") {
      const std::size_t dash = range.find('-');
      const auto first = number(range.substr(0, dash));
      const auto last = dash == std::string_view::npos ? first : number(range.substr(dash + 1));
      if (!first || !last) return wrong(item);
      begin = *first;
      end = dash == std::string_view::npos && slash != std::string_view::npos ? high : *last;
    }
    int step = 1;
    if (slash != std::string_view::npos) {
      const auto given = number(item.substr(slash + 1));
      if (!given || *given < 1) return wrong(item);
      step = *given;
    }
    if (begin < low || end > high || begin > end) return wrong(item);
    for (int value = begin; value <= end; value += step) {
      into.set(static_cast<std::size_t>(value) % N);
    }
    return {};
  }

  template <std::size_t N>
  Result<void> parse(std::string_view field, std::bitset<N>& into) const {
    for (const std::string_view item : split(field, ",", false)) SKEIN_TRY(parse_item(item, into));
    return {};
  }
};

std::int64_t floor_div(std::int64_t value, std::int64_t by) {
  return value / by - (value % by < 0 ? 1 : 0);
}

}  // namespace

Result<Cron> Cron::parse(std::string_view expression) {
  if (expression.size() > kMaxExpressionBytes) {
    return fail(ErrorCode::kInvalid, "a cron expression must have at most " +
                                         std::to_string(kMaxExpressionBytes) + " bytes");
  }
  const std::vector<std::string_view> words = split(expression, " \t", true);
  Cron cron;
  for (const std::string_view word : words) {
    cron.text_ += (cron.text_.empty() ? "" : " ") + std::string(word);
  }
  SKEIN_TRY(cron.parse_fields(cron.text_));
  SKEIN_ASSIGN(const TimeZone utc, TimeZone::load("UTC"));
  if (!cron.next(Timestamp::from_ms(0), utc)) {
    return fail(ErrorCode::kInvalid, "cron expression " + quote(cron.text_) + " is never due");
  }
  return cron;
}

Result<void> Cron::parse_fields(std::string_view expression) {
  if (expression.starts_with('@')) {
    const auto* known =
        std::find_if(kNicknames.begin(), kNicknames.end(),
                     [&](const auto& nickname) { return nickname.first == lower(expression); });
    if (known == kNicknames.end()) {
      return fail(ErrorCode::kInvalid,
                  "a cron expression may be @yearly, @annually, @monthly, @weekly, @daily, "
                  "@midnight or @hourly, got " +
                      quote(expression));
    }
    expression = known->second;
  }
  const std::vector<std::string_view> fields = split(expression, " ", true);
  if (fields.size() != 5) {
    return fail(ErrorCode::kInvalid,
                "a cron expression has five fields (minute, hour, day, month, day of the week), "
                "got " +
                    quote(expression));
  }
  SKEIN_TRY((FieldRule{"minute", 0, 59}.parse(fields[0], minutes_)));
  SKEIN_TRY((FieldRule{"hour", 0, 23}.parse(fields[1], hours_)));
  SKEIN_TRY((FieldRule{"day", 1, 31}.parse(fields[2], days_)));
  SKEIN_TRY((FieldRule{"month", 1, 12, kMonths, 1}.parse(fields[3], months_)));
  // 7 wraps around to Sunday.
  SKEIN_TRY((FieldRule{"day of the week", 0, 7, kWeekdays, 0}.parse(fields[4], weekdays_)));
  any_hour_ = fields[1].starts_with('*');
  any_day_ = fields[2].starts_with('*');
  any_weekday_ = fields[4].starts_with('*');
  return {};
}

bool Cron::due_on(std::int64_t day) const {
  using namespace std::chrono;
  const sys_days date{days(day)};
  const year_month_day ymd(date);
  if (!months_.test(static_cast<unsigned>(ymd.month()))) return false;
  const bool day_fits = days_.test(static_cast<unsigned>(ymd.day()));
  const bool weekday_fits = weekdays_.test(weekday(date).c_encoding());
  return any_day_ || any_weekday_ ? day_fits && weekday_fits : day_fits || weekday_fits;
}

std::optional<std::int64_t> Cron::first_after(std::int64_t after, std::int64_t day,
                                              const TimeZone& zone) const {
  // Most days have one offset from UTC, and moments in the order of local times.
  const std::int64_t midnight = day * kDay;
  const bool steady = !zone.changes_within(midnight - 2 * kDay, midnight + 3 * kDay);
  const std::int32_t offset = zone.offset_at(midnight);
  std::optional<std::int64_t> first;
  const auto consider = [&](std::int64_t moment) {
    if (moment > after && (!first || moment < *first)) first = moment;
  };
  for (std::size_t hour = 0; hour < hours_.size(); ++hour) {
    if (!hours_.test(hour)) continue;
    for (std::size_t minute = 0; minute < minutes_.size(); ++minute) {
      if (!minutes_.test(minute)) continue;
      const std::int64_t local = midnight + static_cast<std::int64_t>(hour * 3600 + minute * 60);
      if (steady) {
        consider(local - offset);
        if (first) return first;
        continue;
      }
      const std::vector<std::int64_t> moments = zone.moments_of(local);
      if (moments.empty() && !any_hour_) consider(zone.end_of_gap(local));
      for (const std::int64_t moment : moments) {
        consider(moment);
        if (!any_hour_) break;
      }
    }
  }
  return first;
}

std::optional<Timestamp> Cron::next(Timestamp after, const TimeZone& zone) const {
  const std::int64_t seconds = floor_div(after.us, 1'000'000);
  // What is due late on one day may lie behind what is due on the next, where clocks are moved.
  const std::int64_t begin = floor_div(zone.local_at(seconds), kDay) - 1;
  for (std::int64_t day = begin; day < begin + kMaxDays; ++day) {
    if (!due_on(day)) continue;
    auto found = first_after(seconds, day, zone);
    if (!found) continue;
    if (due_on(day + 1))
      found = std::min(*found, first_after(seconds, day + 1, zone).value_or(*found));
    const Timestamp at{*found * 1'000'000};
    return at.is_valid() ? std::optional(at) : std::nullopt;
  }
  return std::nullopt;
}

}  // namespace skein
