#include "core/time_zone.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <limits>

#include "core/file.h"
#include "core/quote.h"
#include "core/try.h"

namespace skein {
namespace {

constexpr std::size_t kMaxFileBytes = std::size_t{1} << 20;
constexpr std::size_t kMaxNameBytes = 64;
constexpr std::int64_t kDay = 86'400;
constexpr std::int64_t kWidestShift = 2 * kDay;  // of clocks at once; the widest was a day

std::int64_t days_since_1970(int year, unsigned month, unsigned day) {
  using namespace std::chrono;
  return sys_days(year_month_day(std::chrono::year(year), std::chrono::month(month),
                                 std::chrono::day(day)))
      .time_since_epoch()
      .count();
}

int year_of(std::int64_t seconds) {
  using namespace std::chrono;
  const sys_days day = floor<days>(sys_seconds(std::chrono::seconds(seconds)));
  return static_cast<int>(year_month_day(day).year());
}

bool is_leap(int year) { return std::chrono::year(year).is_leap(); }

tl::unexpected<Error> damaged(std::string_view name, std::string_view what) {
  return fail(ErrorCode::kDamaged,
              "time zone " + quote(name) + ": its file is no TZif file: " + std::string(what));
}

// Reads big-endian numbers; at the end of the bytes it has failed, and gives zeros.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : rest_(bytes) {}

  std::int64_t number(std::size_t size) {
    const std::string_view bytes = take(size);
    std::uint64_t value = !bytes.empty() && (bytes[0] & 0x80) != 0 ? ~std::uint64_t{0} : 0;
    for (const char c : bytes) value = value << 8 | static_cast<unsigned char>(c);
    return static_cast<std::int64_t>(value);
  }
  std::string_view take(std::size_t size) {
    if (size > rest_.size()) {
      failed_ = true;
      rest_ = {};
      return {};
    }
    const std::string_view taken = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return taken;
  }
  std::string_view rest() const { return rest_; }
  bool failed() const { return failed_; }

 private:
  std::string_view rest_;
  bool failed_ = false;
};

struct Header {
  int version = 1;
  std::size_t isut = 0, isstd = 0, leap = 0, time = 0, type = 0, chars = 0;

  std::size_t body_bytes(std::size_t time_size) const {
    return time * (time_size + 1) + type * 6 + chars + leap * (time_size + 4) + isstd + isut;
  }
};

std::optional<Header> read_header(Reader& reader) {
  if (reader.take(4) != "TZif") return std::nullopt;
  Header header;
  const std::string_view version = reader.take(1);
  if (version.empty()) return std::nullopt;
  header.version = version[0] == '\0' ? 1 : version[0] - '0';
  reader.take(15);
  for (std::size_t* count :
       {&header.isut, &header.isstd, &header.leap, &header.time, &header.type, &header.chars}) {
    const std::int64_t value = reader.number(4);
    if (value < 0 || value > static_cast<std::int64_t>(kMaxFileBytes)) return std::nullopt;
    *count = static_cast<std::size_t>(value);
  }
  return reader.failed() ? std::nullopt : std::optional(header);
}

}  // namespace

// POSIX TZ, with the extensions of RFC 8536: times from -167 to 167 hours.
class TimeZone::RuleParser {
 public:
  explicit RuleParser(std::string_view text) : rest_(text) {}

  std::optional<Rule> parse() {
    Rule rule;
    if (!abbreviation() || !time(rule.standard)) return std::nullopt;
    rule.standard = -rule.standard;
    if (rest_.empty()) return rule;
    if (!abbreviation()) return std::nullopt;
    rule.daylight = rule.standard + 3600;
    if (!rest_.empty() && rest_.front() != ',') {
      if (!time(rule.daylight)) return std::nullopt;
      rule.daylight = -rule.daylight;
    }
    rule.begin = change();
    rule.end = change();
    if (!rule.begin || !rule.end || !rest_.empty()) return std::nullopt;
    return rule;
  }

 private:
  bool take(char c) {
    if (rest_.empty() || rest_.front() != c) return false;
    rest_.remove_prefix(1);
    return true;
  }
  bool abbreviation() {
    const bool quoted = take('<');
    std::size_t size = 0;
    const auto belongs = [&](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
             (quoted && ((c >= '0' && c <= '9') || c == '+' || c == '-'));
    };
    while (size < rest_.size() && belongs(rest_[size])) ++size;
    rest_.remove_prefix(size);
    return size >= 3 && (!quoted || take('>'));
  }
  bool number(int& value, int low, int high) {
    std::size_t size = 0;
    value = 0;
    while (size < rest_.size() && size < 4 && rest_[size] >= '0' && rest_[size] <= '9') {
      value = value * 10 + (rest_[size++] - '0');
    }
    rest_.remove_prefix(size);
    return size > 0 && value >= low && value <= high;
  }
  // [+-]hh[:mm[:ss]]
  bool time(std::int32_t& seconds) {
    const bool negative = take('-');
    if (!negative) take('+');
    int hours = 0;
    int minutes = 0;
    int rest = 0;
    if (!number(hours, 0, 167)) return false;
    if (take(':') && !number(minutes, 0, 59)) return false;
    if (take(':') && !number(rest, 0, 59)) return false;
    seconds = (hours * 3600 + minutes * 60 + rest) * (negative ? -1 : 1);
    return true;
  }
  std::optional<YearlyChange> change() {
    YearlyChange change;
    if (!take(',')) return std::nullopt;
    if (take('M')) {
      if (!number(change.month, 1, 12) || !take('.') || !number(change.week, 1, 5) || !take('.') ||
          !number(change.day, 0, 6)) {
        return std::nullopt;
      }
    } else if (take('J')) {
      change.kind = YearlyChange::Kind::kJulian;
      if (!number(change.day, 1, 365)) return std::nullopt;
    } else {
      change.kind = YearlyChange::Kind::kZeroBased;
      if (!number(change.day, 0, 365)) return std::nullopt;
    }
    if (take('/') && !time(change.seconds)) return std::nullopt;
    return change;
  }

  std::string_view rest_;
};

std::int64_t TimeZone::YearlyChange::in_year(int year) const {
  const std::int64_t first = days_since_1970(year, 1, 1);
  std::int64_t date = 0;
  switch (kind) {
    case Kind::kJulian:  // never counts 29 February
      date = first + day - 1 + (is_leap(year) && day >= 60 ? 1 : 0);
      break;
    case Kind::kZeroBased:
      date = first + day;
      break;
    case Kind::kWeekday: {
      const std::int64_t month_begin = days_since_1970(year, static_cast<unsigned>(month), 1);
      const int weekday = static_cast<int>(((month_begin + 4) % 7 + 7) % 7);
      const int month_days = static_cast<int>(
          (month == 12 ? days_since_1970(year + 1, 1, 1)
                       : days_since_1970(year, static_cast<unsigned>(month) + 1, 1)) -
          month_begin);
      int offset = (day - weekday + 7) % 7 + (week - 1) * 7;
      if (offset >= month_days) offset -= 7;
      date = month_begin + offset;
      break;
    }
  }
  return date * kDay + seconds;
}

std::vector<std::int64_t> TimeZone::Rule::changes_in(int year) const {
  if (!begin) return {};
  return {begin->in_year(year) - standard, end->in_year(year) - daylight};
}

std::int32_t TimeZone::Rule::offset_at(std::int64_t moment) const {
  if (!begin) return standard;
  // The last change before the moment says it; a change may fall into the next year's days.
  const int year = year_of(moment);
  std::int64_t latest = std::numeric_limits<std::int64_t>::min();
  std::int32_t offset = standard;
  for (int y = year - 1; y <= year + 1; ++y) {
    const std::int64_t begins = begin->in_year(y) - standard;
    const std::int64_t ends = end->in_year(y) - daylight;
    if (begins <= moment && begins >= latest) {
      latest = begins;
      offset = daylight;
    }
    // Of a beginning and an end at one moment, the beginning counts: it is always daylight saving.
    if (ends <= moment && ends > latest) {
      latest = ends;
      offset = standard;
    }
  }
  return offset;
}

Result<std::string> TimeZone::system_name(const char* tz, const SystemFiles& files) {
  const std::string prefix = files.folder + "/";
  if (tz != nullptr) {
    std::string name = tz;
    if (name.starts_with(':')) name.erase(0, 1);
    if (name.empty()) return std::string("UTC");  // so POSIX wants it
    if (name.starts_with(prefix)) name.erase(0, prefix.size());
    if (load(name, files.folder)) return name;
    return fail(ErrorCode::kInvalid, "TZ is " + quote(tz) +
                                         ", which is no name of a time zone such as "
                                         "\"Europe/Berlin\": name the zone");
  }
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::path link = fs::read_symlink(files.localtime, error);
  if (!error) {
    const fs::path target = (fs::path(files.localtime).parent_path() / link).lexically_normal();
    const std::string path = target.string();
    if (path.starts_with(prefix) && load(path.substr(prefix.size()), files.folder)) {
      return path.substr(prefix.size());
    }
  }
  SKEIN_ASSIGN(const auto written, read_file(files.timezone, kMaxFileBytes));
  if (written) {
    const std::string name = written->substr(0, written->find_first_of(" \t\r\n"));
    if (load(name, files.folder)) return name;
  }
  return std::string("UTC");
}

Result<TimeZone> TimeZone::load(std::string_view name, const std::string& folder) {
  const bool plain = std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-' || c == '+' || c == '/';
  });
  if (name.empty() || name.size() > kMaxNameBytes || !plain || name.front() == '/' ||
      name.back() == '/' || name.find("//") != std::string_view::npos) {
    return fail(ErrorCode::kInvalid,
                "a time zone is named like \"Europe/Berlin\", got " + quote(name));
  }
  if (name == "UTC") {
    TimeZone utc;
    utc.name_ = name;
    return utc;
  }
  std::string path = folder + "/" + std::string(name);
  std::error_code error;
  // Names of one zone are often links to each other.
  const auto real = std::filesystem::canonical(path, error);
  if (error || !std::filesystem::is_regular_file(real, error)) {
    return fail(ErrorCode::kNotFound, "there is no time zone " + quote(name));
  }
  SKEIN_ASSIGN(const auto bytes, read_file(real.string(), kMaxFileBytes));
  if (!bytes) return fail(ErrorCode::kNotFound, "there is no time zone " + quote(name));
  return parse(std::string(name), *bytes);
}

Result<TimeZone> TimeZone::parse(std::string name, std::string_view bytes) {
  Reader reader(bytes);
  auto header = read_header(reader);
  if (!header) return damaged(name, "its header");
  std::size_t time_size = 4;
  if (header->version >= 2) {
    reader.take(header->body_bytes(4));
    header = read_header(reader);
    if (!header) return damaged(name, "its second header");
    time_size = 8;
  }
  if (header->body_bytes(time_size) > reader.rest().size() || header->type == 0) {
    return damaged(name, "it is cut off");
  }
  TimeZone zone;
  for (std::size_t i = 0; i < header->time; ++i) zone.changes_.push_back(reader.number(time_size));
  const std::string_view types = reader.take(header->time);
  std::vector<std::int32_t> offsets;
  for (std::size_t i = 0; i < header->type; ++i) {
    offsets.push_back(static_cast<std::int32_t>(reader.number(4)));
    reader.take(2);
  }
  reader.take(header->chars + header->leap * (time_size + 4) + header->isstd + header->isut);
  for (const char type : types) {
    const auto index = static_cast<unsigned char>(type);
    if (index >= offsets.size()) return damaged(name, "a type that it does not list");
    zone.offsets_.push_back(offsets[index]);
  }
  const bool sane = std::all_of(offsets.begin(), offsets.end(), [](std::int32_t offset) {
    return offset > -kDay * 2 && offset < kDay * 2;
  });
  if (!sane || !std::is_sorted(zone.changes_.begin(), zone.changes_.end())) {
    return damaged(name, "changes out of order, or offsets beyond two days");
  }
  zone.first_offset_ = offsets.front();
  zone.name_ = std::move(name);
  std::string_view footer = reader.rest();
  if (time_size == 8 && footer.starts_with('\n')) {
    footer.remove_prefix(1);
    footer = footer.substr(0, footer.find('\n'));
    if (!footer.empty()) {
      zone.rule_ = RuleParser(footer).parse();
      if (!zone.rule_) return damaged(zone.name_, "its rule " + quote(footer));
    }
  }
  return zone;
}

std::int32_t TimeZone::offset_at(std::int64_t moment) const {
  const auto after = std::upper_bound(changes_.begin(), changes_.end(), moment);
  if (after == changes_.end() && rule_) return rule_->offset_at(moment);
  if (after == changes_.begin()) return first_offset_;
  return offsets_[static_cast<std::size_t>(after - changes_.begin()) - 1];
}

std::vector<std::int64_t> TimeZone::changes_between(std::int64_t from, std::int64_t to) const {
  std::vector<std::int64_t> changes;
  for (auto it = std::lower_bound(changes_.begin(), changes_.end(), from);
       it != changes_.end() && *it <= to; ++it) {
    changes.push_back(*it);
  }
  if (!rule_) return changes;
  const std::int64_t last = changes_.empty() ? from - 1 : changes_.back();
  for (int year = year_of(from) - 1; year <= year_of(to) + 1; ++year) {
    for (const std::int64_t change : rule_->changes_in(year)) {
      if (change >= from && change <= to && change > last) changes.push_back(change);
    }
  }
  return changes;
}

std::vector<std::int64_t> TimeZone::moments_of(std::int64_t local) const {
  const std::int64_t from = local - kWidestShift;
  std::vector<std::int32_t> offsets = {offset_at(from)};
  for (const std::int64_t change : changes_between(from, local + kWidestShift)) {
    offsets.push_back(offset_at(change));
  }
  std::vector<std::int64_t> moments;
  for (const std::int32_t offset : offsets) {
    const std::int64_t moment = local - offset;
    if (offset_at(moment) == offset) moments.push_back(moment);
  }
  std::sort(moments.begin(), moments.end());
  moments.erase(std::unique(moments.begin(), moments.end()), moments.end());
  return moments;
}

std::int64_t TimeZone::end_of_gap(std::int64_t local) const {
  for (const std::int64_t change : changes_between(local - kWidestShift, local + kWidestShift)) {
    if (change + offset_at(change - 1) <= local && local < local_at(change)) return change;
  }
  return local - offset_at(local);
}

}  // namespace skein
