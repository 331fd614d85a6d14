#include "thread/extract/terms.h"

#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <unordered_set>

namespace skein {
namespace {

constexpr std::size_t kLongestWord = 64;  // bytes; longer ones are no words

bool is_stop_word(std::string_view word) {
  static const std::unordered_set<std::string_view> kWords = {
      "the",  "and",   "for",   "are",  "but",   "not",   "you",   "all",  "any",  "can",  "had",
      "her",  "was",   "one",   "our",  "out",   "has",   "him",   "his",  "how",  "its",  "may",
      "now",  "see",   "who",   "did",  "get",   "she",   "too",   "use",  "that", "this", "with",
      "have", "from",  "they",  "will", "would", "there", "their", "what", "when", "make", "like",
      "into", "just",  "your",  "some", "could", "them",  "than",  "then", "only", "also", "over",
      "such", "which", "about", "been", "were",  "is",    "it",    "in",   "of",   "to",   "on",
      "at",   "by",    "an",    "as",   "be",    "we",    "he",    "do",   "if",   "or",   "so",
      "my",   "me",    "no",    "up",   "us",    "am",    "let",   "here", "does", "these"};
  return kWords.contains(word);
}

// Scripts that are written without spaces between words.
bool is_unspaced(utf8proc_int32_t c) {
  return (c >= 0x3040 && c <= 0x30FF) || (c >= 0x3400 && c <= 0x9FFF) ||
         (c >= 0xF900 && c <= 0xFAFF) || (c >= 0x20000 && c <= 0x3FFFF) ||
         (c >= 0x0E00 && c <= 0x0EFF);
}

bool is_word_char(utf8proc_int32_t c) {
  if (c < 0x80) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  }
  const utf8proc_category_t category = utf8proc_category(c);
  return category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_NO;
}

void append_utf8(std::string& text, utf8proc_int32_t c) {
  std::array<utf8proc_uint8_t, 4> bytes{};
  const auto size = utf8proc_encode_char(c, bytes.data());
  text.append(reinterpret_cast<const char*>(bytes.data()), static_cast<std::size_t>(size));
}

// Walks over a text and hands out words.
class WordReader {
 public:
  explicit WordReader(std::string_view text) : text_(text) {}

  // False at the end.
  bool next(std::string& word, bool& notable) {
    word.clear();
    bool digit = false;
    bool inner_sign = false;
    std::size_t capitals = 0;
    std::size_t length = 0;
    const bool at_start = first_;
    while (at_ < text_.size()) {
      const utf8proc_int32_t c = peek();
      if (is_unspaced(c)) {
        if (length > 0) break;
        return unspaced(c, word, notable);
      }
      if (!is_word_char(c)) {
        if (length > 0 && is_inner(c)) {
          inner_sign = inner_sign || c != '\'';
          append_utf8(word, c);
          at_ += size_;
          continue;
        }
        at_ += size_;
        last_unspaced_ = 0;
        if (length > 0) break;
        continue;
      }
      last_unspaced_ = 0;
      digit = digit || (c >= '0' && c <= '9');
      if (utf8proc_tolower(c) != c) ++capitals;
      append_utf8(word, utf8proc_tolower(c));
      ++length;
      at_ += size_;
    }
    if (length == 0) return false;
    first_ = false;
    notable = digit || inner_sign || capitals > 1 || (capitals == 1 && !at_start) ||
              word.find('_') != std::string::npos;
    return true;
  }

 private:
  utf8proc_int32_t peek() {
    utf8proc_int32_t c = 0;
    const auto size =
        utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text_.data() + at_),
                         static_cast<utf8proc_ssize_t>(text_.size() - at_), &c);
    size_ = size > 0 ? static_cast<std::size_t>(size) : 1;
    return size > 0 ? c : ' ';
  }

  // Signs that hold a word together when a letter follows: 3.14, src/main.cc, node-fetch.
  bool is_inner(utf8proc_int32_t c) const {
    if (c != '.' && c != '/' && c != '-' && c != '\'' && c != ':' && c != '@') return false;
    if (at_ + 1 >= text_.size()) return false;
    const auto next = static_cast<unsigned char>(text_[at_ + 1]);
    return next < 0x80 && is_word_char(next);
  }

  bool unspaced(utf8proc_int32_t c, std::string& word, bool& notable) {
    if (last_unspaced_ != 0) append_utf8(word, last_unspaced_);
    append_utf8(word, c);
    last_unspaced_ = c;
    at_ += size_;
    first_ = false;
    notable = false;
    return true;
  }

  const std::string_view text_;
  std::size_t at_ = 0;
  std::size_t size_ = 1;
  bool first_ = true;
  utf8proc_int32_t last_unspaced_ = 0;
};

}  // namespace

std::vector<Term> TermTable::terms_of(std::string_view text) {
  std::vector<Term> terms;
  std::string word;
  bool notable = false;
  for (WordReader reader(text); reader.next(word, notable);) {
    if (word.size() < 2 || word.size() > kLongestWord || is_stop_word(word)) continue;
    const std::uint32_t id =
        ids_.try_emplace(word, static_cast<std::uint32_t>(ids_.size())).first->second;
    terms.push_back({id, notable});
  }
  // Of equals the notable one first, so that it is the one that stays.
  std::sort(terms.begin(), terms.end(), [](const Term& a, const Term& b) {
    return a.id != b.id ? a.id < b.id : a.notable > b.notable;
  });
  terms.erase(std::unique(terms.begin(), terms.end(),
                          [](const Term& a, const Term& b) { return a.id == b.id; }),
              terms.end());
  return terms;
}

}  // namespace skein
