// Our tokens against those of npm's js-tiktoken: on a stored corpus, and on random text that the
// real js-tiktoken encodes while the test runs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <utf8proc.h>

#include <array>
#include <boost/json.hpp>
#include <cstdio>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "skein/tokens.h"
#include "support/temp_dir.h"

namespace skein::test {
namespace {

using Tokens = std::vector<std::uint32_t>;

std::vector<std::string> lines_of(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

std::vector<Tokens> js_tiktoken(const std::vector<std::string>& texts) {
  const TempDir folder;
  const std::filesystem::path in = folder.path() / "texts";
  const std::filesystem::path out = folder.path() / "tokens";
  std::ofstream(in) << [&texts] {
    std::string lines;
    for (const std::string& text : texts) lines += boost::json::serialize(text) + "\n";
    return lines;
  }();
  const std::string command = "node '" SKEIN_SOURCE_DIR "/tests/support/js_tiktoken.cjs' <'" +
                              in.string() + "' >'" + out.string() + "'";
  EXPECT_EQ(std::system(command.c_str()), 0) << command;
  std::vector<Tokens> all;
  for (const std::string& line : lines_of(out)) {
    all.push_back(boost::json::value_to<Tokens>(boost::json::parse(line)));
  }
  return all;
}

void expect_same_tokens(const std::vector<std::string>& texts) {
  const std::vector<Tokens> expected = js_tiktoken(texts);
  ASSERT_EQ(expected.size(), texts.size());
  for (std::size_t i = 0; i < texts.size(); ++i) {
    ASSERT_EQ(encode_tokens(texts[i]), expected[i]) << boost::json::serialize(texts[i]);
    ASSERT_EQ(count_tokens(texts[i]), expected[i].size());
  }
}

void append_utf8(std::string& text, char32_t c) {
  std::array<utf8proc_uint8_t, 4> bytes{};
  const auto size = utf8proc_encode_char(static_cast<utf8proc_int32_t>(c), bytes.data());
  text.append(reinterpret_cast<const char*>(bytes.data()), static_cast<std::size_t>(size));
}

// Characters that Unicode had assigned when our tables were made; others may get another class.
bool is_assigned(char32_t c) {
  const auto category = utf8proc_category(static_cast<utf8proc_int32_t>(c));
  return category != UTF8PROC_CATEGORY_CN && category != UTF8PROC_CATEGORY_CS;
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
  const auto lines = lines_of(SKEIN_SOURCE_DIR "/tests/fixtures/tokens.jsonl");
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
    if (!is_assigned(c) ||
        utf8proc_category(static_cast<utf8proc_int32_t>(c)) == UTF8PROC_CATEGORY_CO) {
      continue;
    }
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
