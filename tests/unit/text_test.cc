#include "core/text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/json_array.h"

namespace skein::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(FoldedText, IsTheSameForEveryCaseOfEveryScript) {
  EXPECT_EQ(fold_text("Fix THE Bug"), "fix the bug");
  EXPECT_EQ(fold_text("ÄPFEL"), fold_text("äpfel"));
  EXPECT_EQ(fold_text("STRASSE"), fold_text("straße"));
  EXPECT_EQ(fold_text("ΣΊΣΥΦΟΣ"), fold_text("σίσυφος"));
  EXPECT_EQ(fold_text("ПРИВЕТ"), fold_text("привет"));
}

TEST(FoldedText, IsTheSameHoweverCharactersAreComposed) {
  EXPECT_EQ(fold_text("caf\u00e9"), fold_text("cafe\u0301"));
  EXPECT_EQ(fold_text("ﬁle"), "file");
  EXPECT_EQ(fold_text("ＡＢＣ"), "abc");
  EXPECT_EQ(fold_text("co\u00adoperate"), "cooperate") << "a soft hyphen is not seen";
}

TEST(FoldedText, HasOneSpaceWhereThereIsWhiteSpaceAndNoneAround) {
  EXPECT_EQ(fold_text("  a \t\r\n b\u00a0c\u3000d  "), "a b c d");
  EXPECT_EQ(fold_text(" \n\u2003\u200b "), "");
}

TEST(FoldedText, KeepsBytesThatAreNotUtf8) {
  EXPECT_EQ(fold_text("A\xFF"
                      "B"),
            "a\xFF"
            "b");
}

TEST(Words, AreLettersAndDigits) {
  EXPECT_THAT(words_of("fix the bug, now: v2.1!"),
              ElementsAre("fix", "the", "bug", "now", "v2", "1"));
  EXPECT_THAT(words_of("исправить ошибку"), ElementsAre("исправить", "ошибку"));
  EXPECT_THAT(words_of(" … — "), IsEmpty());
}

TEST(Words, OfScriptsWithoutSpacesArePairsOfCharacters) {
  EXPECT_THAT(words_of("修正错误"), ElementsAre("修正", "正错", "错误"));
  EXPECT_THAT(words_of("api修正x字"), ElementsAre("api", "修正", "x", "字"));
}

TEST(ControlCharacters, AreFoundButForLineFeedsAndTabs) {
  EXPECT_FALSE(has_control_characters("a\n\tb é 修"));
  EXPECT_TRUE(has_control_characters(std::string_view("a\0b", 3)));
  EXPECT_TRUE(has_control_characters("\x1b[31m"));
  EXPECT_TRUE(has_control_characters("\u0085"));
  EXPECT_TRUE(has_control_characters("\x7f"));
}

TEST(Beginnings, AreCutBetweenCharacters) {
  EXPECT_EQ(beginning("abc", 3), "abc");
  EXPECT_EQ(beginning("abcd", 3), "abc");
  EXPECT_EQ(beginning("aäb", 2), "a");
  EXPECT_EQ(beginning("aäb", 3), "aä");
  EXPECT_EQ(beginning("語", 2), "");
  EXPECT_EQ(beginning("", 0), "");
}

TEST(HexDigits, AreAtLeastOne) {
  EXPECT_TRUE(is_hex("0aF9"));
  EXPECT_FALSE(is_hex("0ag9"));
  EXPECT_FALSE(is_hex(""));
}

TEST(JsonElements, AreThoseOfTheArrayItself) {
  EXPECT_THAT(json_elements(R"( [1, "a,]\"", {"b":[2,3]}, [4,[5]], null ] )"),
              ElementsAre("1", R"("a,]\"")", R"({"b":[2,3]})", "[4,[5]]", "null"));
  EXPECT_THAT(json_elements("[]"), IsEmpty());
  EXPECT_THAT(json_elements("[ \n ]"), IsEmpty());
  EXPECT_THAT(json_elements(R"({"a":[1]})"), IsEmpty());
  EXPECT_THAT(json_elements(""), IsEmpty());
}

}  // namespace
}  // namespace skein::test
