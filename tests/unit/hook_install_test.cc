#include "work/hook_install.h"
#include "core/quote.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "skein/json.h"
#include "support/expect.h"

namespace skein::test {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

std::size_t occurrences(const std::string& text, std::string_view part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++count;
  }
  return count;
}

TEST(HookInstallation, WritesAllHooksIntoEmptySettings) {
  for (const char* empty : {"", "  \n", "{}", "{ }\n"}) {
    const std::string settings = must(with_hooks(empty, "skein"));
    EXPECT_TRUE(ok(Json::parse_object(settings)));
    for (const char* event : {"PostToolUse", "SessionStart", "SessionEnd", "Stop"}) {
      EXPECT_THAT(settings, HasSubstr(std::string("\"") + event + "\": ["));
    }
    EXPECT_THAT(settings,
                HasSubstr(R"("skein --start-dir \"$CLAUDE_PROJECT_DIR\" hook post-tool-use")"));
  }
}

TEST(HookInstallation, TwiceIsOnce) {
  const std::string once = must(with_hooks("", "skein"));
  EXPECT_EQ(must(with_hooks(once, "skein")), once);
}

TEST(HookInstallation, KeepsWhatIsThereByteForByte) {
  const std::string settings = R"({
  "model": "opus",
  "permissions": {
    "allow": ["Bash",   "Read"]
  },
  "hooks": {
    "PreToolUse": [
      {
        "matcher": "Bash",
        "hooks": [{ "type": "command", "command": "./check" }]
      }
    ],
    "PostToolUse": [
      {
        "matcher": "Write",
        "hooks": [{ "type": "command", "command": "prettier --write" }]
      }
    ]
  },
  "big": 12345678901234567890
}
)";
  const std::string after = must(with_hooks(settings, "skein"));
  EXPECT_THAT(after, StartsWith(settings.substr(0, settings.find("\n    ]\n  },"))));
  EXPECT_THAT(after, HasSubstr("\"big\": 12345678901234567890\n}\n"));
  EXPECT_EQ(occurrences(after, "\"PostToolUse\""), 1u);
  EXPECT_EQ(occurrences(after, "prettier"), 1u);
  EXPECT_EQ(occurrences(after, "hook post-tool-use"), 1u);
  EXPECT_EQ(must(with_hooks(after, "skein")), after);
}

TEST(HookInstallation, BringsHooksOfAnotherPlaceUpToDate) {
  const std::string before = must(with_hooks("", "/old/skein"));
  const std::string after = must(with_hooks(before, "'/new place/skein'"));
  EXPECT_EQ(after, must(with_hooks("", "'/new place/skein'")));
}

TEST(HookInstallation, RefusesSettingsThatItDoesNotUnderstand) {
  const auto refused = [](std::string_view settings, std::string_view why) {
    EXPECT_TRUE(fails(with_hooks(settings, "skein"), ErrorCode::kInvalid, {why})) << settings;
  };
  refused("{", "JSON");
  refused("// a comment\n{}", "JSON");
  refused("[]", "object");
  refused(R"({"hooks": []})", "\"hooks\" must be an object");
  refused(R"({"hooks": {"Stop": {}}})", "Stop");
}

TEST(ShellQuoting, LeavesPlainWordsAndWrapsOthers) {
  EXPECT_EQ(shell_quoted("/usr/bin/skein"), "/usr/bin/skein");
  EXPECT_EQ(shell_quoted("a b"), "'a b'");
  EXPECT_EQ(shell_quoted("it's $HOME"), "'it'\\''s $HOME'");
  EXPECT_EQ(shell_quoted(""), "''");
}

}  // namespace
}  // namespace skein::test
