#include <algorithm>
#include <charconv>

#include "api/demo/stories.h"
#include "core/quote.h"
#include "core/try.h"

namespace skein {
namespace {

tl::unexpected<Error> wrong(std::size_t line, std::string_view what) {
  return fail(ErrorCode::kInvalid,
              "line " + std::to_string(line) + " of the demo's stories: " + std::string(what));
}

// "13d3h", "55m"
Result<std::chrono::milliseconds> parse_ago(std::string_view text, std::size_t line) {
  std::chrono::milliseconds ago{0};
  std::string_view rest = text;
  while (!rest.empty()) {
    int number = 0;
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), number);
    rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
    const char unit = error == std::errc() && !rest.empty() ? rest.front() : '?';
    if (unit == 'd') ago += std::chrono::hours(24 * number);
    if (unit == 'h') ago += std::chrono::hours(number);
    if (unit == 'm') ago += std::chrono::minutes(number);
    if (unit != 'd' && unit != 'h' && unit != 'm')
      return wrong(line, "how long ago is " + quote(text, 40) + "?");
    rest.remove_prefix(1);
  }
  return ago;
}

// Lines with those that continue them.
Result<std::vector<DemoStep>> read_steps(std::string_view text) {
  std::vector<DemoStep> steps;
  std::size_t number = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    ++number;
    if (line.empty() || line.starts_with("  ")) {
      if (!steps.empty()) steps.back().text.append("\n").append(line.empty() ? "" : line.substr(2));
      if (steps.empty() && !line.empty()) return wrong(number, "nothing that it continues");
      continue;
    }
    const std::size_t space = std::min(line.find(' '), line.size());
    steps.push_back({std::string(line.substr(0, space)),
                     std::string(line.substr(std::min(space + 1, line.size()))), number});
  }
  for (DemoStep& step : steps) step.text.erase(step.text.find_last_not_of('\n') + 1);
  return steps;
}

// Every "[[a|b]]" becomes one of the two; equally many alternatives agree with each other.
std::string chosen(std::string_view text, std::uint64_t chance) {
  std::string out;
  for (;;) {
    const std::size_t begin = text.find("[[");
    const std::size_t end = begin == std::string_view::npos ? begin : text.find("]]", begin);
    if (end == std::string_view::npos) return out.append(text);
    out += text.substr(0, begin);
    const std::string_view inside = text.substr(begin + 2, end - begin - 2);
    const auto count = static_cast<std::size_t>(std::count(inside.begin(), inside.end(), '|')) + 1;
    out += demo_parts(inside, count, "|")[chance % count];
    text.remove_prefix(end + 2);
  }
}

}  // namespace

std::uint64_t DemoChance::next() {
  std::uint64_t z = state_ += 0x9E3779B97F4A7C15ULL;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
  return z ^ (z >> 31);
}

std::int64_t DemoChance::between(std::int64_t low, std::int64_t high) {
  return low + static_cast<std::int64_t>(next() % static_cast<std::uint64_t>(high - low + 1));
}

std::vector<std::string> demo_parts(std::string_view text, std::size_t count,
                                    std::string_view separator) {
  std::vector<std::string> parts;
  while (parts.size() + 1 < count) {
    const std::size_t end = std::min(text.find(separator), text.size());
    parts.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + separator.size(), text.size()));
  }
  parts.emplace_back(text);
  return parts;
}

Result<DemoScript> read_demo_script(std::string_view text, std::uint64_t seed) {
  SKEIN_ASSIGN(const std::vector<DemoStep> steps, read_steps(text));
  DemoScript script;
  DemoChance chance(seed);
  for (auto step = steps.begin(); step != steps.end();) {
    if (step->verb != "at") {
      script.cast.push_back(*step++);
      continue;
    }
    const auto next_at = std::find_if(step + 1, steps.end(),
                                      [](const DemoStep& other) { return other.verb == "at"; });
    const auto times =
        static_cast<std::size_t>(std::count(step->text.begin(), step->text.end(), ' '));
    for (const std::string& time : demo_parts(step->text, times + 1, " ")) {
      DemoSection section;
      section.line = step->line;
      SKEIN_ASSIGN(section.ago, parse_ago(time, step->line));
      const std::uint64_t choice = chance.next();
      for (auto each = step + 1; each != next_at; ++each) {
        section.steps.push_back({each->verb, chosen(each->text, choice), each->line});
      }
      script.sections.push_back(std::move(section));
    }
    step = next_at;
  }
  std::sort(script.sections.begin(), script.sections.end(),
            [](const DemoSection& a, const DemoSection& b) {
              return std::pair(-a.ago.count(), a.line) < std::pair(-b.ago.count(), b.line);
            });
  return script;
}

}  // namespace skein
