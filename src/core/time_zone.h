// Time zones, from the system's database (TZif files, RFC 8536).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "skein/error.h"

namespace skein {

// Times are seconds: moments since 1970 in UTC, and local times as if they were such.
//
// Beyond the last change that a file lists, its rule for the future holds, also in files that list
// few (made by `zic -b slim`). Immutable, so safe to read from any thread.
class TimeZone {
 public:
  static constexpr const char* kFolder = "/usr/share/zoneinfo";

  // "Europe/Berlin", "UTC"; kInvalid for what cannot be a name, kNotFound for what is none. "UTC"
  // needs no database.
  static Result<TimeZone> load(std::string_view name, const std::string& folder = kFolder);
  // The contents of such a file. kDamaged when they are not.
  static Result<TimeZone> parse(std::string name, std::string_view bytes);

  // The name of the zone that `tz` (the variable TZ, where it is set), the link `localtime` or the
  // file `timezone` say, in this order; "UTC" where none does. kInvalid: `tz` is no name.
  struct SystemFiles {
    std::string localtime = "/etc/localtime";
    std::string timezone = "/etc/timezone";
    std::string folder = kFolder;
  };
  static Result<std::string> system_name(const char* tz, const SystemFiles& files);

  const std::string& name() const { return name_; }

  // Seconds that local time is ahead of UTC at that moment.
  std::int32_t offset_at(std::int64_t moment) const;
  std::int64_t local_at(std::int64_t moment) const { return moment + offset_at(moment); }

  // The moments at which clocks show that time: none, when they were moved over it, or two, when
  // they were moved back. Earliest first.
  std::vector<std::int64_t> moments_of(std::int64_t local) const;

  // Whether clocks are moved at a moment of [from, to].
  bool changes_within(std::int64_t from, std::int64_t to) const {
    return !changes_between(from, to).empty();
  }

  // For a local time that clocks were moved over: the moment at which they were.
  std::int64_t end_of_gap(std::int64_t local) const;

 private:
  // When daylight saving begins or ends, each year.
  struct YearlyChange {
    enum class Kind { kJulian, kZeroBased, kWeekday };
    Kind kind = Kind::kWeekday;
    int day = 0;    // of the year, or of the week (0: Sunday)
    int month = 0;  // kWeekday
    int week = 0;   // kWeekday; 5: the last one
    std::int32_t seconds = 7200;

    // As local time.
    std::int64_t in_year(int year) const;
  };
  // The rule for the future: "CET-1CEST,M3.5.0,M10.5.0/3".
  struct Rule {
    std::int32_t standard = 0;
    std::int32_t daylight = 0;
    std::optional<YearlyChange> begin{};  // none: no daylight saving
    std::optional<YearlyChange> end{};

    std::int32_t offset_at(std::int64_t moment) const;
    // Moments of all changes in that year.
    std::vector<std::int64_t> changes_in(int year) const;
  };
  class RuleParser;

  // All changes in [from, to].
  std::vector<std::int64_t> changes_between(std::int64_t from, std::int64_t to) const;

  std::string name_;
  std::vector<std::int64_t> changes_;  // moments, rising
  std::vector<std::int32_t> offsets_;  // from each change on
  std::int32_t first_offset_ = 0;      // before the first change
  std::optional<Rule> rule_;           // after the last one
};

}  // namespace skein
