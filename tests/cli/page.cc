#include "page.h"

#include <fstream>
#include <span>
#include <sstream>

namespace skein::test {
namespace {

constexpr std::string_view kAnything = "…";

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

bool line_matches(std::string_view shown, std::string_view said) {
  const std::size_t gap = shown.find(kAnything);
  if (gap == std::string_view::npos) return shown == said;
  if (!said.starts_with(shown.substr(0, gap))) return false;
  const std::string_view rest = shown.substr(gap + kAnything.size());
  for (std::size_t at = gap; at <= said.size(); ++at) {
    if (line_matches(rest, said.substr(at))) return true;
  }
  return false;
}

bool matches(std::span<const std::string> shown, std::span<const std::string> said) {
  if (shown.empty()) return said.empty();
  if (shown[0] == kAnything) {
    for (std::size_t skipped = 0; skipped <= said.size(); ++skipped) {
      if (matches(shown.subspan(1), said.subspan(skipped))) return true;
    }
    return false;
  }
  return !said.empty() && line_matches(shown[0], said[0]) &&
         matches(shown.subspan(1), said.subspan(1));
}

// A block that a fence opens: commands and their answers, or a file.
class Block {
 public:
  Block(std::string_view fence, std::vector<PageStep>& steps) : steps_(steps) {
    const std::size_t space = fence.find(' ');
    console_ = fence == "```console";
    if (!console_ && space != std::string_view::npos) {
      const std::string file(fence.substr(space + 1));
      steps_.push_back(
          {"mkdir -p \"$(dirname " + file + ")\" && cat >" + file + " <<'END OF FILE'\n", "",
           true});
      file_ = true;
    }
  }
  void add(const std::string& line) {
    if (file_) {
      steps_.back().command += line + "\n";
    } else if (console_ && line.starts_with("$ ")) {
      steps_.push_back({line.substr(2), ""});
    } else if (console_ && line.starts_with("> ")) {
      steps_.back().command += "\n" + line.substr(2);
    } else if (console_ && !steps_.empty()) {
      steps_.back().output += line + "\n";
    }
  }
  void end() {
    if (file_) steps_.back().command += "END OF FILE";
  }

 private:
  std::vector<PageStep>& steps_;
  bool console_ = false;
  bool file_ = false;
};

struct Answer {
  std::string output;
  int code = 0;
};

std::vector<Answer> run_all(const std::vector<PageStep>& steps, Start start) {
  std::string script = "exec 2>&1\ntrap 'kill $(jobs -p) 2>/dev/null' EXIT\n";
  for (const PageStep& step : steps) script += step.command + "\nprintf '\\001%d\\n' $?\n";
  start.arguments = {"-c", script};
  std::vector<Answer> answers(1);
  std::istringstream lines(Running(start).finish().out);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t end = line.find('\001');
    if (end == std::string::npos) {
      answers.back().output += line + "\n";
      continue;
    }
    answers.back().output += line.substr(0, end);
    answers.back().code = std::stoi(line.substr(end + 1));
    answers.emplace_back();
  }
  answers.pop_back();
  return answers;
}

}  // namespace

std::vector<PageStep> steps_of_page(const std::string& file) {
  std::ifstream stream(std::string(SKEIN_SOURCE_DIR) + "/" + file);
  EXPECT_TRUE(stream.is_open()) << file;
  std::vector<PageStep> steps;
  std::optional<Block> block;
  for (std::string line; std::getline(stream, line);) {
    if (!line.starts_with("```")) {
      if (block) block->add(line);
    } else if (block) {
      block->end();
      block.reset();
    } else {
      block.emplace(line, steps);
    }
  }
  return steps;
}

void expect_as_shown(const std::vector<PageStep>& steps, Start start) {
  ASSERT_GT(steps.size(), 5U);
  const std::vector<Answer> answers = run_all(steps, std::move(start));
  for (std::size_t i = 0; i < std::min(steps.size(), answers.size()); ++i) {
    const PageStep& step = steps[i];
    const bool refused = step.output.starts_with("skein: ");
    EXPECT_EQ(answers[i].code != 0, refused) << step.command << "\n" << answers[i].output;
    if (step.output.empty()) continue;
    EXPECT_TRUE(matches(lines_of(step.output), lines_of(answers[i].output)))
        << step.command << "\nsaid:\n"
        << answers[i].output << "shown:\n"
        << step.output;
  }
  ASSERT_EQ(answers.size(), steps.size());
}

}  // namespace skein::test
