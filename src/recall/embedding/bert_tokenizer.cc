#include "recall/embedding/bert_tokenizer.h"

#include <algorithm>
#include <optional>

#include "core/json.h"
#include "core/json_array.h"
#include "core/json_fields.h"
#include "core/quote.h"
#include "core/try.h"

namespace skein {
namespace {

Error wrong(std::string message) { return {ErrorCode::kDamaged, std::move(message)}; }

bool is_char_start(char byte) { return (static_cast<unsigned char>(byte) & 0xC0) != 0x80; }

std::size_t count_chars(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(text, is_char_start));
}

}  // namespace

Result<BertTokenizer> BertTokenizer::parse(std::string_view tokenizer_json,
                                           const std::string& name) {
  SKEIN_TRY(validate_json(tokenizer_json, name));
  JsonFields fields(tokenizer_json);
  BertTokenizer tokenizer;
  const auto named = [&name](Error error) {
    error.message = name + ": " + error.message;
    return error;
  };
  const auto read = [&]() -> Result<void> {
    SKEIN_TRY(tokenizer.read_normalizer(fields.take_object("normalizer").value_or("{}")));
    SKEIN_TRY(tokenizer.read_model(fields.take_object("model").value_or("{}")));
    return tokenizer.read_specials(
        fields.take<RawJson>("added_tokens", json_to_array).value_or("[]"));
  };
  SKEIN_TRY(read().map_error(named));
  return tokenizer;
}

Result<void> BertTokenizer::read_normalizer(std::string_view json) {
  JsonFields fields(json);
  const std::string type = fields.take_string("type").value_or("");
  if (type != "BertNormalizer") {
    return tl::unexpected(wrong("the normalizer has to be BertNormalizer, not " + quote(type)));
  }
  normalizer_.clean_text = fields.take_bool("clean_text").value_or(true);
  normalizer_.space_han = fields.take_bool("handle_chinese_chars").value_or(true);
  normalizer_.lowercase = fields.take_bool("lowercase").value_or(true);
  normalizer_.strip_accents = fields.take_bool("strip_accents").value_or(normalizer_.lowercase);
  return {};
}

Result<void> BertTokenizer::read_model(std::string_view json) {
  JsonFields fields(json);
  const std::string type = fields.take_string("type").value_or("");
  if (type != "WordPiece") {
    return tl::unexpected(wrong("the model has to be WordPiece, not " + quote(type)));
  }
  max_word_ = static_cast<std::size_t>(
      std::max<std::int64_t>(0, fields.take_int("max_input_chars_per_word").value_or(100)));
  const std::string unknown = fields.take_string("unk_token").value_or("[UNK]");
  const std::string prefix = fields.take_string("continuing_subword_prefix").value_or("##");
  const JsonFields vocabulary(fields.take_object("vocab").value_or("{}"));
  for (const JsonFields::Field& piece : vocabulary.others()) {
    const std::optional<std::int64_t> id = json_to_int(piece.value);
    if (!id || *id < 0)
      return tl::unexpected(wrong("the piece " + quote(piece.name) + " has no number"));
    first_.emplace(piece.name, *id);
    if (piece.name.starts_with(prefix)) later_.emplace(piece.name.substr(prefix.size()), *id);
    longest_piece_ = std::max(longest_piece_, piece.name.size());
  }
  const auto find = [this](const std::string& name, std::int64_t& id) -> Result<void> {
    const auto found = first_.find(name);
    if (found == first_.end()) return tl::unexpected(wrong("the vocabulary lacks " + quote(name)));
    id = found->second;
    return {};
  };
  SKEIN_TRY(find(unknown, unknown_));
  SKEIN_TRY(find("[CLS]", start_));
  return find("[SEP]", end_);
}

Result<void> BertTokenizer::read_specials(std::string_view json) {
  for (const RawJson element : json_elements(json)) {
    JsonFields fields(element);
    Special special{.text = fields.take_string("content").value_or(""),
                    .id = fields.take_int("id").value_or(-1)};
    const bool plain = !fields.take_bool("single_word").value_or(false) &&
                       !fields.take_bool("lstrip").value_or(false) &&
                       !fields.take_bool("rstrip").value_or(false) &&
                       !fields.take_bool("normalized").value_or(false);
    if (special.text.empty() || special.id < 0 || !plain) {
      return tl::unexpected(wrong("an added token is not a plain one: " + excerpt(element)));
    }
    specials_.push_back(std::move(special));
  }
  std::ranges::sort(
      specials_, [](const Special& a, const Special& b) { return a.text.size() > b.text.size(); });
  return {};
}

std::vector<std::int64_t> BertTokenizer::encode(std::string_view text,
                                                std::size_t max_tokens) const {
  const std::size_t limit = std::max<std::size_t>(max_tokens, 2) - 1;
  Ids ids{start_};
  std::vector<std::size_t> next(specials_.size());
  for (std::size_t i = 0; i < next.size(); ++i) next[i] = text.find(specials_[i].text);
  std::size_t begin = 0;
  while (ids.size() < limit) {
    const auto nearest = std::ranges::min_element(next);
    const std::size_t at = nearest == next.end() ? std::string_view::npos : *nearest;
    const bool more = append_section(text.substr(begin, at - begin), limit, ids);
    if (at == std::string_view::npos || !more) break;
    const Special& special = specials_[static_cast<std::size_t>(nearest - next.begin())];
    ids.push_back(special.id);
    begin = at + special.text.size();
    for (std::size_t i = 0; i < next.size(); ++i) {
      if (next[i] < begin) next[i] = text.find(specials_[i].text, begin);
    }
  }
  ids.push_back(end_);
  return ids;
}

// False when there is no room for more.
bool BertTokenizer::append_section(std::string_view text, std::size_t limit, Ids& ids) const {
  for_each_bert_word(text, normalizer_, [&](std::string_view word) {
    append_word(word, ids);
    return ids.size() < limit;
  });
  if (ids.size() > limit) ids.resize(limit);
  return ids.size() < limit;
}

// The longest piece that the rest of the word begins with, again and again; a word that some rest
// has none for is unknown as a whole.
void BertTokenizer::append_word(std::string_view word, Ids& ids) const {
  const std::size_t before = ids.size();
  bool known = count_chars(word) <= max_word_;
  for (std::size_t at = 0; known && at < word.size();) {
    const Pieces& pieces = at == 0 ? first_ : later_;
    std::size_t size = std::min(longest_piece_, word.size() - at);
    auto found = pieces.end();
    for (; size > 0; --size) {
      if (at + size < word.size() && !is_char_start(word[at + size])) continue;
      found = pieces.find(word.substr(at, size));
      if (found != pieces.end()) break;
    }
    known = found != pieces.end();
    if (known) ids.push_back(found->second);
    at += size;
  }
  if (known) return;
  ids.resize(before);
  ids.push_back(unknown_);
}

}  // namespace skein
