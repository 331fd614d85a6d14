#include "cli/style.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>

#include "cli/output.h"

namespace skein {
namespace {

constexpr std::size_t kUsualColumns = 80;
constexpr std::size_t kNarrowest = 20;

const char* code_of(Tone tone) {
  switch (tone) {
    case Tone::kPlain:
      return "";
    case Tone::kFaint:
      return "2";
    case Tone::kStrong:
      return "1";
    case Tone::kCyan:
      return "36";
    case Tone::kGreen:
      return "32";
    case Tone::kYellow:
      return "33";
    case Tone::kMagenta:
      return "35";
  }
  return "";
}

bool is_set(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0';
}

// One character of valid UTF-8.
struct Character {
  std::size_t bytes = 1;
  std::size_t columns = 1;
};

std::size_t columns_of(std::uint32_t code) {
  struct Range {
    std::uint32_t first, last;
  };
  constexpr Range kNothing[] = {{0x300, 0x36F},   {0x483, 0x489},   {0x591, 0x5BD},
                                {0x610, 0x61A},   {0x64B, 0x65F},   {0x1AB0, 0x1AFF},
                                {0x1DC0, 0x1DFF}, {0x200B, 0x200F}, {0x20D0, 0x20FF},
                                {0xFE00, 0xFE0F}, {0xFE20, 0xFE2F}, {0xE0100, 0xE01EF}};
  constexpr Range kWide[] = {{0x1100, 0x115F},   {0x2E80, 0x303E},   {0x3041, 0x33FF},
                             {0x3400, 0x4DBF},   {0x4E00, 0x9FFF},   {0xA000, 0xA4CF},
                             {0xAC00, 0xD7A3},   {0xF900, 0xFAFF},   {0xFE30, 0xFE4F},
                             {0xFF00, 0xFF60},   {0xFFE0, 0xFFE6},   {0x1F300, 0x1F64F},
                             {0x1F680, 0x1F6FF}, {0x1F900, 0x1F9FF}, {0x20000, 0x3FFFD}};
  const auto within = [code](const Range& range) {
    return code >= range.first && code <= range.last;
  };
  if (std::any_of(std::begin(kNothing), std::end(kNothing), within)) return 0;
  return std::any_of(std::begin(kWide), std::end(kWide), within) ? 2 : 1;
}

Character next_character(std::string_view text) {
  const auto first = static_cast<unsigned char>(text[0]);
  if (first < 0x80) return {};
  const std::size_t bytes = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (text.size() < bytes) return {};
  std::uint32_t code = first & (0xFFU >> (bytes + 1));
  for (std::size_t i = 1; i < bytes; ++i) {
    code = code << 6 | (static_cast<unsigned char>(text[i]) & 0x3FU);
  }
  return {bytes, columns_of(code)};
}

// As many bytes of the line as fit, ending after a space where there is one.
std::size_t fitting_bytes(std::string_view line, std::size_t columns) {
  std::size_t used = 0;
  std::size_t after_space = 0;
  for (std::size_t at = 0; at < line.size();) {
    const Character next = next_character(line.substr(at));
    if (used + next.columns > columns) {
      if (line[at] == ' ') return at;
      return after_space > 0 ? after_space : std::max<std::size_t>(at, next.bytes);
    }
    used += next.columns;
    at += next.bytes;
    if (line[at - 1] == ' ') after_space = at;
  }
  return line.size();
}

}  // namespace

std::string Style::paint(Tone tone, std::string_view text) const {
  if (!colours || tone == Tone::kPlain || text.empty()) return std::string(text);
  return fmt::format("\x1b[{}m{}\x1b[0m", code_of(tone), text);
}

std::string Style::time(Timestamp then) const {
  return terminal ? relative_time(then, now) : then.str();
}

std::string Style::stored(std::string_view text) const {
  return terminal ? visible(text) : std::string(text);
}

std::string Style::stored_line(std::string_view text) const {
  return terminal ? visible_line(text) : std::string(text);
}

Style style_for(int fd, Timestamp now) {
  Style style;
  style.now = now;
  style.terminal = ::isatty(fd) == 1;
  if (!style.terminal) return style;
  const char* kind = std::getenv("TERM");
  style.colours = !is_set("NO_COLOR") && !(kind != nullptr && std::string_view(kind) == "dumb");
  winsize size{};
  const bool known = ::ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  style.width = std::max<std::size_t>(kNarrowest, known ? size.ws_col : kUsualColumns);
  return style;
}

Tone tone_of(Role role) {
  switch (role) {
    case Role::kUser:
      return Tone::kCyan;
    case Role::kAssistant:
      return Tone::kGreen;
    case Role::kSystem:
      return Tone::kYellow;
    case Role::kTool:
      return Tone::kMagenta;
  }
  return Tone::kPlain;
}

Tone tone_of(ThreadStatus status) {
  switch (status) {
    case ThreadStatus::kActive:
      return Tone::kGreen;
    case ThreadStatus::kPaused:
      return Tone::kYellow;
    case ThreadStatus::kClosed:
    case ThreadStatus::kArchived:
      return Tone::kFaint;
  }
  return Tone::kPlain;
}

std::string relative_time(Timestamp then, Timestamp now) {
  constexpr std::int64_t kMinute = 60;
  constexpr std::int64_t kHour = 60 * kMinute;
  constexpr std::int64_t kDay = 24 * kHour;
  if (!then.is_set()) return "";
  const std::int64_t seconds = (now.us - then.us) / 1'000'000;
  const std::int64_t away = seconds < 0 ? -seconds : seconds;
  if (away >= 31 * kDay) return then.str().substr(0, 10);
  const auto said = [&](std::int64_t count, std::string_view unit) {
    return seconds < 0 ? fmt::format("in {} {}", count, unit)
                       : fmt::format("{} {} ago", count, unit);
  };
  if (away < 10) return "just now";
  if (away < kMinute) return said(away, "s");
  if (away < kHour) return said(away / kMinute, "min");
  if (away < kDay) return said(away / kHour, "h");
  return said(away / kDay, away < 2 * kDay ? "day" : "days");
}

std::size_t display_width(std::string_view text) {
  std::size_t columns = 0;
  while (!text.empty()) {
    const Character next = next_character(text);
    columns += next.columns;
    text.remove_prefix(next.bytes);
  }
  return columns;
}

std::string wrapped(std::string_view text, std::string_view indent, std::size_t width) {
  const std::size_t columns = width > indent.size() + 1 ? width - indent.size() : 1;
  std::string out;
  while (true) {
    const std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    do {
      const std::size_t bytes = width == 0 ? line.size() : fitting_bytes(line, columns);
      std::string_view part = line.substr(0, bytes);
      line.remove_prefix(bytes);
      if (!line.empty()) {  // the space at a break is not seen
        part = part.substr(0, part.find_last_not_of(' ') + 1);
        if (line.front() == ' ') line.remove_prefix(1);
      }
      if (!part.empty()) out.append(indent).append(part);
      out += '\n';
    } while (!line.empty());
    if (end == std::string_view::npos) return out;
    text.remove_prefix(end + 1);
  }
}

}  // namespace skein
