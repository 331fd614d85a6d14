#include "core/visible.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace skein::test {
namespace {

TEST(Visible, ShowsControlsAsEscapes) {
  EXPECT_EQ(visible("a\x1b[2K\r\x7f\xc2\x9b!\n\tb"), "a\\x1b[2K\\x0d\\x7f\\u009b!\n\tb");
  EXPECT_EQ(visible_line("a\n\tb"), "a\\n\\tb");
}

TEST(Visible, ShowsWhatHidesOrReordersTextAsEscapes) {
  const struct {
    const char* text;
    const char* shown;
  } cases[] = {
      {"\u00ad", "\\u00ad"},      {"\u034f", "\\u034f"},
      {"\u061c", "\\u061c"},      {"\u115f\u1160", "\\u115f\\u1160"},
      {"\u17b4", "\\u17b4"},      {"\u180b", "\\u180b"},
      {"\u180e", "\\u180e"},      {"\u200b", "\\u200b"},
      {"\u200f", "\\u200f"},      {"\u2028", "\\u2028"},
      {"\u202e", "\\u202e"},      {"\u2060", "\\u2060"},
      {"\u2066", "\\u2066"},      {"\u3164", "\\u3164"},
      {"\ufe00", "\\ufe00"},      {"\ufe0f", "\\ufe0f"},
      {"\ufeff", "\\ufeff"},      {"\uffa0", "\\uffa0"},
      {"\ufff9", "\\ufff9"},      {"\ufffb", "\\ufffb"},
      {"\U0001d173", "\\u1d173"}, {"\U000e0001", "\\ue0001"},
      {"\U000e0041", "\\ue0041"}, {"\U000e0100", "\\ue0100"},
      {"\U000e01ef", "\\ue01ef"},
  };
  for (const auto& [text, shown] : cases) {
    EXPECT_EQ(visible(std::string("a") + text + "b"), std::string("a") + shown + "b");
  }
}

TEST(Visible, LeavesOtherTextAsItIs) {
  for (const char* text :
       {"plain", "Grüße, \u65e5\u672c\u8a9e \u0441\u043e", "\U0001f600 \u2764\ufe0f",
        "\ufffd\u3000\ufffc", "\xff\xc3(\xe2\x80", ""}) {
    EXPECT_EQ(visible(text), text);
    EXPECT_EQ(visible_line(text), text);
  }
}

}  // namespace
}  // namespace skein::test
