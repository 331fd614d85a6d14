// Our word pieces against those of npm's @huggingface/tokenizers: on a stored corpus, and on text
// made at random that the real one cuts while the test runs.
#include "recall/embedding/bert_tokenizer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <random>

#include "core/file.h"
#include "recall/embedding/model_files.h"
#include "support/characters.h"
#include "support/expect.h"
#include "support/git_sandbox.h"
#include "support/node_script.h"

namespace skein::test {
namespace {

using testing::ElementsAre;
using testing::SizeIs;
using Ids = std::vector<std::int64_t>;

constexpr std::size_t kNoLimit = 1'000'000;

ModelFiles model_files(std::string_view name = "bge-small-en-v1.5") {
  return must(find_model_files(*find_model(name), {}));
}

BertTokenizer tokenizer_of(const ModelFiles& files) {
  return must(BertTokenizer::parse(get_file(files.tokenizer), "tokenizer.json"));
}

const BertTokenizer& tokenizer() {
  static const BertTokenizer made = tokenizer_of(model_files());
  return made;
}

void expect_same_pieces(const std::vector<std::string>& texts) {
  const std::string folder = parent_folder(model_files().tokenizer);
  const std::vector<std::string> lines = run_node_script("hf_tokenizer.cjs", {folder}, texts);
  ASSERT_EQ(lines.size(), texts.size());
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const Ids expected = boost::json::value_to<Ids>(boost::json::parse(lines[i]));
    ASSERT_EQ(tokenizer().encode(texts[i], kNoLimit), expected) << boost::json::serialize(texts[i]);
  }
}

TEST(WordPieces, OfTheStoredCorpusAreThoseOfTheReference) {
  const auto lines = lines_of(get_file(SKEIN_SOURCE_DIR "/tests/fixtures/word_pieces.jsonl"));
  ASSERT_GT(lines.size(), 300u);
  const BertTokenizer fallback = tokenizer_of(model_files("all-MiniLM-L6-v2"));
  for (const std::string& line : lines) {
    const boost::json::value entry = boost::json::parse(line);
    const std::string text(entry.at("text").as_string());
    const Ids expected = boost::json::value_to<Ids>(entry.at("ids"));
    EXPECT_EQ(tokenizer().encode(text, kNoLimit), expected) << line;
    EXPECT_EQ(fallback.encode(text, kNoLimit), expected) << line;
  }
}

TEST(WordPieces, OfRandomTextAreThoseOfTheReference) {
  static const std::vector<std::string> parts = {
      " ",       "  ", "\t",     "\n",     "the",    "Embedding", "ING",    "x1",     "_",
      "-",       ".",  "'",      "’",      "Σ",      "ΑΣ",        "ς",      "É",      "e\u0301",
      "\u0323",  "ñ",  "İ",      "ı",      "ß",      "ẞ",         "中",     "文",     "カ\u3099",
      "한",      "글", "\u00a0", "\u200d", "\ufeff", "\u0000",    "\u00ad", "\ufffd", "😀",
      "[SEP]",   "[",  "]",      "[UNK]",  "##",     "#",         "ﬁ",      "Ⅷ",      "½",
      "\u302e",  "ก็",  "क्ष",     "ﷺ",      "𠀀",     "ʰ",         "^",      "`",      "€",
      "\u2028x", "ǅ",  "ſ",      "K",      "Å",      "·",         ":",      "ⓐ",      "\u1abb"};
  std::mt19937_64 random(7);
  std::vector<std::string> texts;
  for (int i = 0; i < 3000; ++i) {
    std::string text;
    for (std::uint64_t left = random() % 40; left > 0; --left) {
      const auto c = static_cast<char32_t>(random() % (random() % 2 == 0 ? 0x3000 : 0x30000));
      if (random() % 8 != 0) {
        text += parts[random() % parts.size()];
      } else if (is_assigned(c)) {
        append_utf8(text, c);
      }
    }
    texts.push_back(text);
  }
  expect_same_pieces(texts);
}

TEST(WordPieces, OfEveryCharacterWithinAWordAndAloneAreThoseOfTheReference) {
  std::vector<std::string> texts;
  std::string text;
  int in_text = 0;
  for (char32_t c = 0; c < 0x110000; ++c) {
    if (!is_assigned(c) || (is_private(c) && c % 999 != 0)) continue;
    if (c == 0x1171E) continue;  // was a spacing mark once, and is none in newer tables
    if (c >= 0x17000 && c < 0x1B000 && c % 16 != 0) continue;  // Tangut, Khitan, Han: a sample
    if (c >= 0x20000 && c < 0xE0000 && c % 64 != 0) continue;
    text += "in";
    append_utf8(text, c);
    text += "g ";
    append_utf8(text, c);
    text += " AΣ";
    append_utf8(text, c);
    text += "b ";
    if (++in_text % 40 == 0) texts.push_back(std::move(text)), text.clear();
  }
  texts.push_back(text);
  expect_same_pieces(texts);
}

TEST(WordPieces, BeyondTheLimitAreLeftOutAndTheEndIsMarkedAllTheSame) {
  const std::string text = "one two [MASK] embeddings";
  const Ids whole = tokenizer().encode(text, kNoLimit);
  ASSERT_GE(whole.size(), 7u);
  for (std::size_t limit = 2; limit < whole.size() + 2; ++limit) {
    Ids expected = whole;
    if (limit < whole.size()) {
      expected.resize(limit - 1);
      expected.push_back(whole.back());
    }
    EXPECT_EQ(tokenizer().encode(text, limit), expected) << limit;
  }
  EXPECT_THAT(tokenizer().encode(text, 0), ElementsAre(whole.front(), whole.back()));
}

TEST(WordPieces, OfHostileTextsOfMegabytesTakeTimeThatGrowsWithThem) {
  // By the square of their length these would take hours, and the test its time limit.
  const std::size_t size = std::size_t{1} << 20;
  std::string marks = "a";
  while (marks.size() < size) marks += "\u0323\u0301\u302e\u302f";
  std::string sigmas = "A";
  while (sigmas.size() < size) sigmas += "Σ''''";
  std::string specials;
  while (specials.size() < size) specials += "[MASK";
  EXPECT_THAT(tokenizer().encode(std::string(size, 'a'), 512), SizeIs(3));
  EXPECT_THAT(tokenizer().encode(marks, 512), SizeIs(3));
  EXPECT_THAT(tokenizer().encode(sigmas, 512), SizeIs(512));
  EXPECT_THAT(tokenizer().encode(specials, 512), SizeIs(512));
}

constexpr std::string_view kSmall = R"({
  "added_tokens": [{"id": 0, "content": "[CLS]", "special": true}],
  "normalizer": {"type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": false,
                 "strip_accents": null, "lowercase": false},
  "model": {"type": "WordPiece", "unk_token": "<u>", "continuing_subword_prefix": "@",
            "max_input_chars_per_word": 3,
            "vocab": {"[CLS]": 0, "[SEP]": 1, "<u>": 2, "a": 3, "É": 4, "@é": 5, "中文": 6}}})";

TEST(WordPieces, FollowTheSettingsOfTheFile) {
  const BertTokenizer small = must(BertTokenizer::parse(kSmall, "small"));
  EXPECT_THAT(small.encode("a É aé A é 中文 aééé[CLS]", 20),
              ElementsAre(0, 3, 4, 3, 5, 2, 2, 6, 2, 0, 1));
}

TEST(WordPieces, OfAFileThatIsNotUnderstoodAreRefused) {
  const auto changed = [](std::string_view what, std::string_view into) {
    std::string json(kSmall);
    json.replace(json.find(what), what.size(), into);
    return BertTokenizer::parse(json, "small.json");
  };
  EXPECT_TRUE(fails(changed("BertNormalizer", "NFC"), ErrorCode::kDamaged, {"small.json", "NFC"}));
  EXPECT_TRUE(fails(changed("WordPiece", "BPE"), ErrorCode::kDamaged, {"BPE"}));
  EXPECT_TRUE(fails(changed("\"[SEP]\": 1", "\"x\": 1"), ErrorCode::kDamaged, {"[SEP]"}));
  EXPECT_TRUE(fails(changed("\"a\": 3", "\"a\": \"b\""), ErrorCode::kDamaged, {"\"a\""}));
  EXPECT_TRUE(fails(changed("\"special\"", "\"lstrip\""), ErrorCode::kDamaged, {"added token"}));
  EXPECT_FALSE(BertTokenizer::parse("{", "small.json").has_value());
  EXPECT_TRUE(fails(BertTokenizer::parse("[]", "small.json"), ErrorCode::kDamaged, {"small.json"}));
}

}  // namespace
}  // namespace skein::test
