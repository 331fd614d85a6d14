// The commands in the documentation, run as they stand there.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <span>
#include <sstream>

#include "program.h"

namespace skein::test {
namespace {

struct Shown {
  std::string command;
  std::string output;  // as the page shows it; "…" stands for anything
};

// What ```console blocks of the page show, in order.
std::vector<Shown> commands_in(const std::string& page) {
  std::ifstream file(std::string(SKEIN_SOURCE_DIR) + "/docs/" + page);
  EXPECT_TRUE(file.is_open()) << page;
  std::vector<Shown> all;
  bool inside = false;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("```")) {
      inside = line == "```console";
    } else if (inside && line.starts_with("$ ")) {
      all.push_back({line.substr(2), ""});
    } else if (inside && !all.empty()) {
      all.back().output += line + "\n";
    }
  }
  return all;
}

constexpr std::string_view kAnything = "…";

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

// "…" stands for anything within a line.
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

// And alone on a line for any number of lines.
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

struct Answer {
  std::string output;
  int code = 0;
};

// All commands in one shell, so that what one sets the next can use.
std::vector<Answer> run_all(const Workspace& workspace, const std::vector<Shown>& commands) {
  std::string script = "exec 2>&1\n";
  for (const Shown& shown : commands) script += shown.command + "\nprintf '\\001%d\\n' $?\n";
  std::vector<Answer> answers(1);
  std::istringstream lines(workspace.shell(script).out);
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

void expect_as_shown(const std::string& page) {
  const Workspace workspace;
  const std::vector<Shown> commands = commands_in(page);
  ASSERT_GT(commands.size(), 5U);
  const std::vector<Answer> answers = run_all(workspace, commands);
  ASSERT_EQ(answers.size(), commands.size());
  for (std::size_t i = 0; i < commands.size(); ++i) {
    const Shown& shown = commands[i];
    const bool refused = shown.output.starts_with("skein: ");
    EXPECT_EQ(answers[i].code != 0, refused) << shown.command << "\n" << answers[i].output;
    if (shown.output.empty()) continue;
    EXPECT_TRUE(matches(lines_of(shown.output), lines_of(answers[i].output)))
        << shown.command << "\nsaid:\n"
        << answers[i].output << "shown:\n"
        << shown.output;
  }
}

TEST(Documentation, TheCommandsAboutConversationsAnswerAsShown) {
  expect_as_shown("conversations.md");
}

TEST(Documentation, TheCommandsAboutAgentsAnswerAsShown) { expect_as_shown("agents.md"); }
TEST(Documentation, TheCommandsAboutCheckpointsAnswerAsShown) { expect_as_shown("checkpoints.md"); }
TEST(Documentation, TheCommandsAboutImportsAnswerAsShown) { expect_as_shown("import.md"); }
TEST(Documentation, TheCommandsAboutWorkItemsAnswerAsShown) { expect_as_shown("work-items.md"); }

}  // namespace
}  // namespace skein::test
