// Our tokens against those of npm's js-tiktoken: on a stored corpus, and on random text that the
// real js-tiktoken encodes while the test runs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <random>
#include <string>
#include <vector>

#include "skein/tokens.h"
#include "support/characters.h"
#include "support/git_sandbox.h"
#include "support/node_script.h"

namespace skein::test {
namespace {

using Tokens = std::vector<std::uint32_t>;

void expect_same_tokens(const std::vector<std::string>& texts) {
  const std::vector<std::string> lines = run_node_script("js_tiktoken.cjs", {}, texts);
  ASSERT_EQ(lines.size(), texts.size());
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const Tokens expected = boost::json::value_to<Tokens>(boost::json::parse(lines[i]));
    ASSERT_EQ(encode_tokens(texts[i]), expected) << boost::json::serialize(texts[i]);
    ASSERT_EQ(count_tokens(texts[i]), expected.size());
  }
}

std::string random_text(std::mt19937_64& random) {
  static const std::vector<std::string> parts = {
      " ",      "  ",     "\t",     "\n",     "\r\n",   "\r",  "'s",     "'LL",  "'",   "/", "//",
      "a",      "B",      "ab",     "AB",     "Ab",     "aB",  "1",      "22",   "é",   "Ñ", "ǅ",
      "ʰ",      "\u0301", "\u0903", "中",     "文",     "カ",  "½",      "😀",   "_",   "-", ".",
      "\u00a0", "\u3000", "\ufeff", "\u0085", "\u200d", "the", "tokens", "0x7f", "();", "Ⅷ"};
  std::string text;
  for (std::uint64_t left = random() % 60; left > 0; --left) {
    if (random() % 8 == 0) {
      const auto c = static_cast<char32_t>(random() % (random() % 2 == 0 ? 0x3000 : 0x30000));
      if (is_assigned(c)) append_utf8(text, c);
    } else {
      const std::string& part = parts[random() % parts.size()];
      for (std::uint64_t times = random() % 6 == 0 ? random() % 40 : 1; times > 0; --times) {
        text += part;
      }
    }
  }
  return text;
}

TEST(Tokens, OfTheStoredCorpusAreThoseOfJsTiktoken) {
  const auto lines = lines_of(get_file(SKEIN_SOURCE_DIR "/tests/fixtures/tokens.jsonl"));
  ASSERT_GT(lines.size(), 60u);
  for (const std::string& line : lines) {
    const boost::json::value entry = boost::json::parse(line);
    const std::string text(entry.at("text").as_string());
    EXPECT_EQ(encode_tokens(text), boost::json::value_to<Tokens>(entry.at("tokens"))) << line;
  }
}

TEST(Tokens, OfRandomTextAreThoseOfJsTiktoken) {
  std::mt19937_64 random(7);
  std::vector<std::string> texts;
  for (int i = 0; i < 1200; ++i) texts.push_back(random_text(random));
  expect_same_tokens(texts);
}

TEST(Tokens, OfEveryCharacterBetweenLettersAreThoseOfJsTiktoken) {
  std::vector<std::string> texts;
  std::string text;
  int in_text = 0;
  for (char32_t c = 1; c < 0x110000; ++c) {
    if (!is_assigned(c) || is_private(c)) continue;
    if (c >= 0x3400 && c < 0xD800 && c % 16 != 0) continue;  // Han and Hangul: a sample
    if (c >= 0x17000 && c < 0x1B000 && c % 16 != 0) continue;
    if (c >= 0x20000 && c < 0xE0000 && c % 16 != 0) continue;
    append_utf8(text, c);
    text += "aB";
    append_utf8(text, c);
    text += c % 2 == 0 ? " " : "1";
    if (++in_text % 40 == 0) texts.push_back(std::move(text)), text.clear();
  }
  texts.push_back(text);
  expect_same_tokens(texts);
}

TEST(Tokens, OfLongPiecesAreTheSameWhicheverWayTheyAreMerged) {
  // Longer than what is merged pair by pair, and short enough for js-tiktoken, whose time grows
  // with the square.
  std::mt19937_64 random(11);
  std::vector<std::string> texts;
  for (const std::size_t size : {127u, 128u, 129u, 130u, 400u, 900u}) {
    texts.emplace_back(size, 'a');
    std::string letters;
    for (std::size_t i = 0; i < size; ++i) letters += static_cast<char>('a' + random() % 26);
    texts.push_back(letters);
    std::string han;
    for (std::size_t i = 0; i < size / 3; ++i) append_utf8(han, 0x4E00 + random() % 0x5000);
    texts.push_back(han);
  }
  expect_same_tokens(texts);
}

TEST(Tokens, OfAWordOfFourMegabytesAreCountedInTimeThatGrowsWithIt) {
  // By the square of its length this would take hours, and the test its time limit.
  EXPECT_EQ(count_tokens(std::string(1 << 22, 'a')), (std::size_t{1} << 22) / 8);
}

TEST(Tokens, OfBytesThatAreNotUtf8AreCountedToo) {
  const std::string bytes = "a\xff\xfe\xc3(\xe2\x82 \xf0\x9f b\x80";
  EXPECT_GT(count_tokens(bytes), 0u);
  EXPECT_EQ(count_tokens(""), 0u);
}

}  // namespace
}  // namespace skein::test
