#include "recall/text/dates.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <optional>
#include <string>

#include "recall/text/words.h"

namespace skein {
namespace {

namespace ch = std::chrono;

struct MonthName {
  std::string_view name;
  int month;
};

// As WordSplitter folds them. English abbreviations are taken beside a number only, like the other
// words that mean something else, too.
constexpr MonthName kMonths[] = {
    {"january", 1},    {"february", 2},  {"march", 3},      {"april", 4},      {"may", 5},
    {"june", 6},       {"july", 7},      {"august", 8},     {"september", 9},  {"october", 10},
    {"november", 11},  {"december", 12}, {"jan", 1},        {"feb", 2},        {"mar", 3},
    {"apr", 4},        {"jun", 6},       {"jul", 7},        {"aug", 8},        {"sep", 9},
    {"sept", 9},       {"oct", 10},      {"nov", 11},       {"dec", 12},       {"januar", 1},
    {"februar", 2},    {"märz", 3},      {"mai", 5},        {"juni", 6},       {"juli", 7},
    {"oktober", 10},   {"dezember", 12}, {"janvier", 1},    {"février", 2},    {"avril", 4},
    {"juin", 6},       {"juillet", 7},   {"août", 8},       {"septembre", 9},  {"octobre", 10},
    {"novembre", 11},  {"décembre", 12}, {"enero", 1},      {"febrero", 2},    {"marzo", 3},
    {"abril", 4},      {"mayo", 5},      {"junio", 6},      {"julio", 7},      {"agosto", 8},
    {"septiembre", 9}, {"octubre", 10},  {"noviembre", 11}, {"diciembre", 12}, {"gennaio", 1},
    {"febbraio", 2},   {"aprile", 4},    {"maggio", 5},     {"giugno", 6},     {"luglio", 7},
    {"settembre", 9},  {"ottobre", 10},  {"dicembre", 12},  {"janeiro", 1},    {"fevereiro", 2},
    {"março", 3},      {"maio", 5},      {"junho", 6},      {"julho", 7},      {"setembro", 9},
    {"outubro", 10},   {"dezembro", 12}, {"januari", 1},    {"februari", 2},   {"maart", 3},
    {"mei", 5},        {"augustus", 8},  {"января", 1},     {"февраля", 2},    {"марта", 3},
    {"апреля", 4},     {"мая", 5},       {"июня", 6},       {"июля", 7},       {"августа", 8},
    {"сентября", 9},   {"октября", 10},  {"ноября", 11},    {"декабря", 12},
};
constexpr std::string_view kAlsoOtherWords[] = {"may", "march", "mar", "jan", "sep", "dec",
                                                "oct", "nov",   "jun", "jul", "apr", "aug",
                                                "feb", "sept",  "mai", "mei"};
constexpr std::string_view kDays[] = {"sunday",   "monday", "tuesday", "wednesday",
                                      "thursday", "friday", "saturday"};
constexpr std::string_view kNumbers[] = {"zero", "one",    "two",   "three", "four",
                                         "five", "six",    "seven", "eight", "nine",
                                         "ten",  "eleven", "twelve"};

template <class Words>
bool is_one_of(const Words& words, std::string_view word) {
  return std::find(std::begin(words), std::end(words), word) != std::end(words);
}

struct Token {
  std::string_view text;
  bool capital = false;
};

std::optional<int> whole_number(std::string_view text) {
  int value = 0;
  if (text.empty() || text.size() > 4) return std::nullopt;
  for (const char c : text) {
    if (c < '0' || c > '9') return std::nullopt;
    value = value * 10 + (c - '0');
  }
  return value;
}

// 7, 7th, 1st.
std::optional<int> day_number(std::string_view text) {
  for (const std::string_view ending : {"st", "nd", "rd", "th"}) {
    if (text.size() > ending.size() && text.ends_with(ending)) text.remove_suffix(ending.size());
  }
  const auto number = text.size() <= 2 ? whole_number(text) : std::nullopt;
  return number && *number >= 1 && *number <= 31 ? number : std::nullopt;
}

std::optional<int> year_number(std::string_view text) {
  const auto number = text.size() == 4 ? whole_number(text) : std::nullopt;
  return number && *number >= 1900 && *number < 2200 ? number : std::nullopt;
}

std::optional<int> count_word(std::string_view text) {
  if (text == "a" || text == "an") return 1;
  const auto word = std::find(std::begin(kNumbers), std::end(kNumbers), text);
  if (word != std::end(kNumbers)) return static_cast<int>(word - std::begin(kNumbers));
  return text.size() <= 3 ? whole_number(text) : std::nullopt;
}

std::int64_t days_from(int year, int month, int day) {
  return ch::sys_days(ch::year(year) / month / day).time_since_epoch().count();
}

ch::year_month_day date_of(std::int64_t day) {
  return ch::year_month_day{ch::sys_days{ch::days(day)}};
}

int year_of(std::int64_t day) { return static_cast<int>(date_of(day).year()); }
int month_of(std::int64_t day) { return static_cast<int>(unsigned(date_of(day).month())); }

DateHint days(std::int64_t first, std::int64_t last) {
  return {.kind = DateHint::Kind::kDays, .first = first, .last = last};
}

DateHint month_hint(int year, int month) {
  const ch::year_month_day_last last = ch::year(year) / month / ch::last;
  return {.kind = DateHint::Kind::kMonth,
          .first = days_from(year, month, 1),
          .last = ch::sys_days(last).time_since_epoch().count()};
}

DateHint year_hint(int year) {
  return {.kind = DateHint::Kind::kYear,
          .first = days_from(year, 1, 1),
          .last = days_from(year, 12, 31)};
}

std::optional<DateHint> day_hint(std::optional<int> year, int month, int day) {
  const ch::year_month_day date = ch::year(year.value_or(2000)) / month / day;
  if (!date.ok()) return std::nullopt;
  if (!year) return DateHint{.kind = DateHint::Kind::kAnyDay, .month = month, .day = day};
  const std::int64_t at = days_from(*year, month, day);
  return days(at, at);
}

class Finder {
 public:
  Finder(std::string_view question, Timestamp now) {
    if (now.is_set()) today_ = day_of(now);
    for (const Word& word : splitter_.split(question)) {
      if (word.kind != WordKind::kWord && word.kind != WordKind::kCompound) continue;
      const char first = question[word.offset];
      if (word.kind == WordKind::kWord)
        tokens_.push_back({word.text, first >= 'A' && first <= 'Z'});
    }
  }

  std::vector<DateHint> find() {
    for (std::size_t at = 0; at < tokens_.size();) {
      const std::size_t taken = std::max<std::size_t>(1, take(at));
      at += taken;
    }
    return std::move(found_);
  }

 private:
  std::string_view text(std::size_t at) const {
    return at < tokens_.size() ? tokens_[at].text : std::string_view();
  }

  // How many words a date took that begins here; 0: none begins here.
  std::size_t take(std::size_t at) {
    if (const std::size_t taken = take_written_out(at)) return taken;
    if (const std::size_t taken = take_numbers(at)) return taken;
    if (today_) {
      if (const std::size_t taken = take_relative(at)) return taken;
    }
    if (const auto year = year_number(text(at))) {
      found_.push_back(year_hint(*year));
      return 1;
    }
    return 0;
  }

  std::optional<int> month_at(std::size_t at, bool beside_number) const {
    const auto known = std::find_if(std::begin(kMonths), std::end(kMonths),
                                    [&](const MonthName& name) { return name.name == text(at); });
    if (known == std::end(kMonths)) return std::nullopt;
    if (beside_number || !is_one_of(kAlsoOtherWords, known->name)) return known->month;
    constexpr std::string_view kLeads[] = {"in", "last", "since", "this", "of", "until", "during"};
    const bool led = at > 0 && is_one_of(kLeads, text(at - 1));
    const bool is_name = tokens_[at].capital && at > 0 && known->name.size() > 2;
    return led || is_name ? std::optional(known->month) : std::nullopt;
  }

  // 7 May 2023, 7th of May, May 7 2023, May 2023, last March, March.
  std::size_t take_written_out(std::size_t at) {
    std::optional<int> day = day_number(text(at));
    std::size_t next = at;
    if (day) {
      ++next;
      if (text(next) == "of") ++next;
      if (!month_at(next, true)) return 0;
    }
    const bool number_follows =
        day_number(text(next + 1)).has_value() || year_number(text(next + 1)).has_value();
    const auto month = month_at(next, day.has_value() || number_follows);
    if (!month) return 0;
    const std::size_t name = next++;
    if (!day && day_number(text(next)) && !year_number(text(next))) day = day_number(text(next++));
    const auto year = year_number(text(next));
    if (year) ++next;
    add_month(*month, day, year, name);
    return next - at;
  }

  void add_month(int month, std::optional<int> day, std::optional<int> year, std::size_t name) {
    if (!year && today_ && name > 0) {
      // "last March" is over, "this March" is of this year.
      const std::string_view lead = text(name - 1);
      const bool past = month < month_of(*today_) || (!day && lead == "this");
      if (lead == "last" || lead == "this") year = year_of(*today_) - (past ? 0 : 1);
    }
    if (day) {
      if (const auto hint = day_hint(year, month, *day)) found_.push_back(*hint);
    } else if (year) {
      found_.push_back(month_hint(*year, month));
    } else {
      found_.push_back({.kind = DateHint::Kind::kAnyMonth, .month = month});
    }
  }

  // 2023-05-07
  std::size_t take_numbers(std::size_t at) {
    const auto year = year_number(text(at));
    const auto month = text(at + 1).size() == 2 ? whole_number(text(at + 1)) : std::nullopt;
    const auto day =
        text(at + 2).size() >= 2 ? whole_number(text(at + 2).substr(0, 2)) : std::nullopt;
    if (!year || !month || *month < 1 || *month > 12) return 0;
    const auto hint = day ? day_hint(year, *month, *day) : std::nullopt;
    found_.push_back(hint ? *hint : month_hint(*year, *month));
    return hint ? 3 : 2;
  }

  std::size_t take_relative(std::size_t at) {
    const std::string_view word = text(at);
    const auto one_day = [&](std::int64_t back) {
      found_.push_back(days(*today_ - back, *today_ - back));
    };
    if (word == "today" || word == "tonight") return one_day(0), 1;
    if (word == "yesterday") {
      const bool before = at >= 2 && text(at - 1) == "before" && text(at - 2) == "day";
      return one_day(before ? 2 : 1), 1;
    }
    if (word == "last" && text(at + 1) == "night") return one_day(1), 2;
    if (word == "last" || word == "this" || word == "previous" || word == "past") {
      return take_unit(at + 1, word == "this" ? 0 : 1) ? 2 : 0;
    }
    if (word == "on" && weekday(text(at + 1))) return take_unit(at + 1, 1) ? 2 : 0;
    const auto count = count_word(word);
    if (count && text(at + 2) == "ago") return take_ago(*count, text(at + 1)) ? 3 : 0;
    return 0;
  }

  static std::optional<unsigned> weekday(std::string_view word) {
    const auto found = std::find(std::begin(kDays), std::end(kDays), word);
    if (found == std::end(kDays)) return std::nullopt;
    return static_cast<unsigned>(found - std::begin(kDays));
  }

  // The week, month, year, weekend or day of the week so many before this one.
  bool take_unit(std::size_t at, int back) {
    const std::string_view unit = text(at);
    const ch::weekday now{ch::sys_days{ch::days(*today_)}};
    const std::int64_t monday = *today_ - (now.iso_encoding() - 1);
    if (const auto named = weekday(unit)) {
      const std::int64_t since = (now.c_encoding() + 7 - *named) % 7;
      const std::int64_t day = *today_ - (since == 0 && back > 0 ? 7 : since);
      found_.push_back(days(day, day));
    } else if (unit == "week") {
      found_.push_back(days(monday - 7 * back, monday - 7 * back + 6));
    } else if (unit == "weekend") {
      const std::int64_t saturday = monday + 5 - (*today_ > monday + 5 && back > 0 ? 0 : 7 * back);
      found_.push_back(days(saturday, saturday + 1));
    } else if (unit == "month") {
      add_months_ago(back);
    } else if (unit == "year") {
      found_.push_back(year_hint(year_of(*today_) - back));
    } else {
      return false;
    }
    return true;
  }

  void add_months_ago(int back) {
    const int months = year_of(*today_) * 12 + month_of(*today_) - 1 - back;
    found_.push_back(month_hint(months / 12, months % 12 + 1));
  }

  bool take_ago(int count, std::string_view unit) {
    if (unit.ends_with('s')) unit.remove_suffix(1);
    if (unit == "day") {
      found_.push_back(days(*today_ - count, *today_ - count));
    } else if (unit == "week") {
      found_.push_back(days(*today_ - 7 * count - 3, *today_ - 7 * count + 3));
    } else if (unit == "month" && count < 12'000) {
      add_months_ago(count);
    } else if (unit == "year" && count < 1000) {
      found_.push_back(year_hint(year_of(*today_) - count));
    } else {
      return false;
    }
    return true;
  }

  WordSplitter splitter_;
  std::vector<Token> tokens_;
  std::optional<std::int64_t> today_;
  std::vector<DateHint> found_;
};

}  // namespace

std::int64_t day_of(Timestamp time) {
  constexpr std::int64_t kDayUs = 86'400'000'000;
  const std::int64_t day = time.us / kDayUs;
  return time.us % kDayUs < 0 ? day - 1 : day;
}

DateFit fit(const DateHint& hint, std::int64_t day) {
  using Kind = DateHint::Kind;
  const auto same_month = [&](std::int64_t other) {
    const auto a = date_of(day);
    const auto b = date_of(other);
    return a.year() == b.year() && a.month() == b.month();
  };
  switch (hint.kind) {
    case Kind::kDays:
      if (day >= hint.first - 1 && day <= hint.last + 1) return DateFit::kDay;
      return same_month(hint.first) || same_month(hint.last) ? DateFit::kMonth : DateFit::kNone;
    case Kind::kMonth:
      return day >= hint.first && day <= hint.last ? DateFit::kMonth : DateFit::kNone;
    case Kind::kYear:
      return day >= hint.first && day <= hint.last ? DateFit::kYear : DateFit::kNone;
    case Kind::kAnyMonth:
      return month_of(day) == hint.month ? DateFit::kMonth : DateFit::kNone;
    case Kind::kAnyDay: {
      if (month_of(day) != hint.month) return DateFit::kNone;
      const int on = static_cast<int>(unsigned(date_of(day).day()));
      return std::abs(on - hint.day) <= 1 ? DateFit::kDay : DateFit::kMonth;
    }
  }
  return DateFit::kNone;
}

std::vector<DateHint> find_dates(std::string_view question, Timestamp now) {
  return Finder(question, now).find();
}

}  // namespace skein
