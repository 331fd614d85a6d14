// Text as the numbers of BERT's word pieces.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "recall/embedding/bert_words.h"
#include "skein/error.h"

namespace skein {

// The tokenizer that a tokenizer.json of a BERT model describes. Thread-safe once it is made.
class BertTokenizer {
 public:
  // kDamaged: not such a file, or one that asks for more than this knows; the message says what.
  // `name` begins it.
  static Result<BertTokenizer> parse(std::string_view tokenizer_json, const std::string& name);

  // [CLS], the pieces of the text, [SEP]: at most `max_tokens` in all, the text's end is left out.
  // The names of special tokens in a text are those tokens. `text` is valid UTF-8; takes time in
  // proportion to the part that is looked at.
  std::vector<std::int64_t> encode(std::string_view text, std::size_t max_tokens) const;

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const {
      return std::hash<std::string_view>{}(text);
    }
  };
  using Pieces = std::unordered_map<std::string, std::int64_t, Hash, std::equal_to<>>;
  using Ids = std::vector<std::int64_t>;
  struct Special {
    std::string text;
    std::int64_t id;
  };

  BertTokenizer() = default;
  Result<void> read_normalizer(std::string_view json);
  Result<void> read_specials(std::string_view json);
  Result<void> read_model(std::string_view json);
  bool append_section(std::string_view text, std::size_t limit, Ids& ids) const;
  void append_word(std::string_view word, Ids& ids) const;

  BertNormalizer normalizer_;
  std::vector<Special> specials_;  // longest first
  Pieces first_;                   // pieces that begin a word
  Pieces later_;                   // pieces within a word, without their prefix
  std::size_t longest_piece_ = 0;  // bytes
  std::size_t max_word_ = 100;     // characters; longer words are unknown
  std::int64_t unknown_ = 0;
  std::int64_t start_ = 0;
  std::int64_t end_ = 0;
};

}  // namespace skein
