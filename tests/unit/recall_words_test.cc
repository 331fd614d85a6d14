#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "recall/text/analyzer.h"

namespace skein::test {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Not;

std::vector<std::string> words(std::string_view text) {
  WordSplitter splitter;
  std::vector<std::string> out;
  for (const Word& word : splitter.split(text)) out.emplace_back(word.text);
  return out;
}

std::vector<std::string> terms(std::string_view text, Language usual = Language::kEnglish) {
  Analyzer analyzer;
  std::vector<std::string> out;
  analyzer.analyse(text, usual, [&](std::string_view term) { out.emplace_back(term); });
  return out;
}

std::string stem(std::string_view word, Language language) {
  Stemmer stemmer;
  return std::string(stemmer.stem(word, language));
}

TEST(RecallWords, AreFoldedAndSeparatedByWhateverIsNoLetter) {
  EXPECT_THAT(words("Hello, WORLD! (again)"), ElementsAre("hello", "world", "again"));
  EXPECT_THAT(words("  \t\n"), IsEmpty());
  EXPECT_THAT(words(""), IsEmpty());
}

TEST(RecallWords, LoseWhatFollowsAnEnglishApostrophe) {
  EXPECT_THAT(words("Anna's dog doesn't bark, we'll see"),
              ElementsAre("anna", "dog", "doesn", "bark", "we", "see"));
  EXPECT_THAT(words("Anna’s"), ElementsAre("anna"));
  EXPECT_THAT(words("l'amour O'Brien"), ElementsAre("l", "amour", "o", "brien"));
}

TEST(RecallWords, OfIdentifiersAreTheirPartsAndTheWhole) {
  EXPECT_THAT(words("getUserById"), ElementsAre("get", "user", "by", "id", "getuserbyid"));
  EXPECT_THAT(words("parseHTTPResponse"),
              ElementsAre("parse", "http", "response", "parsehttpresponse"));
  EXPECT_THAT(words("max_retry_count"), ElementsAre("max", "retry", "count", "max_retry_count"));
  EXPECT_THAT(words("src/store/open_url.cc"),
              ElementsAre("src", "store", "open", "url", "cc", "open_url.cc"));
  EXPECT_THAT(words("v1.2.3"), ElementsAre("v1", "2", "3", "v1.2.3"));
  EXPECT_THAT(words("utf8 bm25"), ElementsAre("utf8", "bm25"));
}

TEST(RecallWords, AtTheEndOfASentenceHaveNoFullStop) {
  EXPECT_THAT(words("It ends. Then it goes on..."),
              ElementsAre("it", "ends", "then", "it", "goes", "on"));
}

TEST(RecallWords, OfScriptsWithoutSpacesArePairsOfCharacters) {
  EXPECT_THAT(words("東京都"), ElementsAre("東", "京", "東京", "都", "京都"));
  EXPECT_THAT(words("서울"), ElementsAre("서", "울", "서울"));
  EXPECT_THAT(words("私はC++が好き"), Contains("c"));
  EXPECT_THAT(words("สวัสดี"), Contains("สว"));
}

TEST(RecallWords, OfOtherScriptsAreWholeWords) {
  EXPECT_THAT(words("Привет, мир"), ElementsAre("привет", "мир"));
  EXPECT_THAT(words("שלום עולם"), ElementsAre("שלום", "עולם"));
  EXPECT_THAT(words("Ελλάδα"), ElementsAre("ελλάδα"));
  EXPECT_THAT(words("ＦＵＬＬ ｗｉｄｔｈ"), ElementsAre("full", "width"));
}

TEST(RecallWords, AreNotUpsetByBytesThatAreNoText) {
  EXPECT_THAT(words("a\xFF\xFE b"), ElementsAre("a", "b"));
  EXPECT_THAT(words(std::string_view("a\0b", 3)), ElementsAre("a", "b"));
  EXPECT_THAT(words("\xE6\x9D"), IsEmpty());
}

TEST(RecallWords, AreCutBetweenCharactersWhenTheyAreVeryLong) {
  const std::string ascii(1000, 'x');
  EXPECT_EQ(words(ascii).front().size(), kMaxWordBytes);
  std::string cyrillic = "x";
  for (int i = 0; i < 100; ++i) cyrillic += "ж";
  EXPECT_EQ(words(cyrillic).front().size(), kMaxWordBytes - 1);
}

TEST(RecallTerms, AreStemsInTheLanguageOfTheMessage) {
  EXPECT_THAT(terms("we were running in the mornings"), Contains("run"));
  EXPECT_EQ(terms("Die Katzen sind auf dem Dach und schlafen")[1],
            stem("katze", Language::kGerman));
  EXPECT_THAT(terms("les chansons que nous avons chantées"), Contains("chanson"));
  EXPECT_EQ(stem("кошками", Language::kEnglish), stem("кошка", Language::kEnglish));
}

TEST(RecallTerms, OfAShortMessageAreInTheUsualLanguage) {
  EXPECT_THAT(terms("Häuser", Language::kGerman), ElementsAre(stem("haus", Language::kGerman)));
}

TEST(RecallTerms, HaveNoAccentsSoThatTheyAreFoundWithoutThem) {
  EXPECT_EQ(stem("café", Language::kEnglish), stem("cafe", Language::kEnglish));
  EXPECT_EQ(stem("naïve", Language::kEnglish), stem("naive", Language::kEnglish));
  // Marks that are vowels of their script stay.
  EXPECT_NE(stem("கலை", Language::kUnknown), stem("கல", Language::kUnknown));
}

TEST(RecallTerms, OfAMessageSayWhetherItAsks) {
  Analyzer analyzer;
  const auto asks = [&](std::string_view text) {
    return analyzer.analyse(text, Language::kEnglish, [](std::string_view) {}).asks;
  };
  EXPECT_TRUE(asks("How are you?  "));
  EXPECT_TRUE(asks("\"Really?\""));
  EXPECT_TRUE(asks("本当ですか？"));
  EXPECT_FALSE(asks("Why? Because."));
  EXPECT_FALSE(asks(""));
}

TEST(RecallTerms, OfHugeMessagesAreThoseOfTheBeginning) {
  std::string text = "first ";
  text.append(kMaxAnalysedBytes, ' ');
  text += "last";
  EXPECT_THAT(terms(text), ElementsAre("first"));
}

TEST(RecallLanguages, AreToldByTheirWordsOfGrammar) {
  const auto detect = [](std::vector<std::string_view> list) { return detect_language(list); };
  EXPECT_EQ(detect({"what", "did", "they", "say"}), Language::kEnglish);
  EXPECT_EQ(detect({"ich", "habe", "nicht", "gesehen"}), Language::kGerman);
  EXPECT_EQ(detect({"dónde", "está", "el", "perro"}), Language::kSpanish);
  EXPECT_EQ(detect({"jag", "har", "inte", "sett"}), Language::kSwedish);
  EXPECT_EQ(detect({"kubernetes"}), Language::kUnknown);
}

TEST(RecallLanguages, HaveStemmersThatExist) {
  for (std::size_t i = 1; i < kLanguages; ++i) {
    EXPECT_NE(stemmer_name(static_cast<Language>(i)), nullptr) << i;
  }
  EXPECT_NE(stem("running", Language::kEnglish), "running");
  EXPECT_NE(stem("chantées", Language::kFrench), "chantées");
  EXPECT_THAT(terms("the"), Not(IsEmpty()));
}

}  // namespace
}  // namespace skein::test
