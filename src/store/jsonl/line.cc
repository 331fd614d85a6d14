#include "store/jsonl/line.h"

#include <algorithm>
#include <charconv>
#include <system_error>

#include "store/codec.h"

namespace skein::jsonl {

std::optional<std::uint64_t> trailing_number(std::string_view line, std::string_view name) {
  // A quote inside a JSON string is escaped, so that these bytes can only be a member's name.
  const std::string member = ",\"" + std::string(name) + "\":";
  const auto at = line.rfind(member);
  if (at == std::string_view::npos) return std::nullopt;
  const char* first = line.data() + at + member.size();
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(first, line.data() + line.size(), value);
  if (error != std::errc() || end == first) return std::nullopt;
  return value;
}

std::optional<Seq> line_seq(std::string_view line) {
  // Mostly it is the last member before the checksum.
  constexpr std::string_view kMember = R"(,"seq":)";
  std::string_view digits = line.substr(0, line.size() - std::min(line.size(), kFrameBytes));
  const auto before = digits.find_last_not_of("0123456789");
  std::optional<Seq> seq;
  if (before != std::string_view::npos && digits.substr(0, before + 1).ends_with(kMember)) {
    Seq value = 0;
    const char* end = digits.data() + digits.size();
    const auto parsed = std::from_chars(digits.data() + before + 1, end, value);
    if (parsed.ec == std::errc() && parsed.ptr == end) seq = value;
  } else {
    seq = trailing_number(line, kSeqField);
  }
  if (!seq || *seq == 0 || *seq > Seq{1} << 53) return std::nullopt;
  return seq;
}

bool may_be_at(Seq claimed, std::uint64_t offset) {
  constexpr Seq kMostLost = 1'000'000;
  return claimed <= kMostLost + offset / 2;
}

std::string_view without_cr(std::string_view line) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

bool is_blank(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; });
}

}  // namespace skein::jsonl
