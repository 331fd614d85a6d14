#include "cli/line_diff.h"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace skein {
namespace {

constexpr std::size_t kContext = 3;
constexpr std::size_t kMostLines = 4000;  // beyond that the whole middle counts as changed

struct Line {
  char mark;  // ' ', '-' or '+'
  std::string_view text;
};

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

// How many lines the rests of both texts have in common, from each pair of places on.
class CommonLines {
 public:
  CommonLines(const std::vector<std::string_view>& a, const std::vector<std::string_view>& b)
      : width_(b.size() + 1), lengths_((a.size() + 1) * width_) {
    for (std::size_t i = a.size(); i-- > 0;) {
      for (std::size_t j = b.size(); j-- > 0;) {
        lengths_[i * width_ + j] =
            a[i] == b[j] ? at(i + 1, j + 1) + 1 : std::max(at(i + 1, j), at(i, j + 1));
      }
    }
  }
  std::uint32_t at(std::size_t i, std::size_t j) const { return lengths_[i * width_ + j]; }

 private:
  const std::size_t width_;
  std::vector<std::uint32_t> lengths_;
};

std::vector<Line> compared(const std::vector<std::string_view>& a,
                           const std::vector<std::string_view>& b) {
  std::vector<Line> lines;
  std::size_t i = 0;
  std::size_t j = 0;
  if (a.size() <= kMostLines && b.size() <= kMostLines) {
    const CommonLines common(a, b);
    while (i < a.size() && j < b.size()) {
      if (a[i] == b[j]) {
        lines.push_back({' ', a[i++]});
        ++j;
      } else if (common.at(i + 1, j) >= common.at(i, j + 1)) {
        lines.push_back({'-', a[i++]});
      } else {
        lines.push_back({'+', b[j++]});
      }
    }
  }
  while (i < a.size()) lines.push_back({'-', a[i++]});
  while (j < b.size()) lines.push_back({'+', b[j++]});
  return lines;
}

}  // namespace

std::string line_diff(std::string_view before, std::string_view after) {
  if (before == after) return {};
  const std::vector<Line> lines = compared(lines_of(before), lines_of(after));
  std::vector<bool> shown(lines.size(), false);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (lines[i].mark == ' ') continue;
    const std::size_t first = i - std::min(i, kContext);
    const std::size_t last = std::min(i + kContext, lines.size() - 1);
    std::fill(shown.begin() + static_cast<std::ptrdiff_t>(first),
              shown.begin() + static_cast<std::ptrdiff_t>(last) + 1, true);
  }
  std::string out;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (shown[i]) {
      out.append(1, lines[i].mark).append(lines[i].text).append("\n");
    } else if (i == 0 || shown[i - 1]) {
      out += "…\n";
    }
  }
  return out;
}

}  // namespace skein
