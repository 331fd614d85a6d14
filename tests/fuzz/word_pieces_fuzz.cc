// Word pieces: what stands before the first line end is a tokenizer.json if it begins with a brace,
// and the rest is a text, of any bytes. A text never makes more pieces than allowed, and a shorter
// limit only cuts.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "fuzz/support/check.h"
#include "recall/embedding/bert_tokenizer.h"

namespace {

constexpr std::string_view kSmall =
    R"({"added_tokens":[{"id":1,"content":"[SEP]"},{"id":4,"content":"[SE"}],)"
    R"("normalizer":{"type":"BertNormalizer"},"model":{"type":"WordPiece","vocab":)"
    R"({"[CLS]":0,"[SEP]":1,"[UNK]":2,"a":3,"##a":5,"ς":6,"σ":7,"中":8,"e":9,".":10,"##b":11}}})";

void try_text(const skein::BertTokenizer& tokenizer, std::string_view text) {
  const std::vector<std::int64_t> all = tokenizer.encode(text, 64);
  FUZZ_CHECK(all.size() >= 2 && all.size() <= 64);
  std::vector<std::int64_t> few = tokenizer.encode(text, 8);
  FUZZ_CHECK(few.size() <= 8 && few.back() == all.back());
  for (std::size_t i = 0; i + 1 < few.size(); ++i) FUZZ_CHECK(few[i] == all[i]);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view text = skein::fuzz::as_text(data, size);
  if (text.starts_with('{')) {
    const std::string_view json = text.substr(0, text.find('\n'));
    text.remove_prefix(json.size());
    if (const auto made = skein::BertTokenizer::parse(json, "input"); made.has_value()) {
      try_text(*made, text);
    }
  }
  static const skein::BertTokenizer small = *skein::BertTokenizer::parse(kSmall, "small");
  try_text(small, text);
  return 0;
}
