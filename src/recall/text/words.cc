#include "recall/text/words.h"

#include <utf8proc.h>

#include <algorithm>
#include <cstdlib>
#include <memory>

namespace skein {
namespace {

enum class Kind { kOther, kWord, kUnspaced, kConnector, kApostrophe };

struct Character {
  Kind kind = Kind::kOther;
  std::size_t bytes = 1;
  char32_t code = 0;
};

bool is_unspaced(char32_t c) {
  if (c < 0x0E00) return false;
  return c <= 0x0EFF || (c >= 0x1000 && c <= 0x109F) || (c >= 0x1780 && c <= 0x17FF) ||
         (c >= 0x1100 && c <= 0x11FF) || (c >= 0x3040 && c <= 0x30FF) ||
         (c >= 0x3400 && c <= 0x4DBF) || (c >= 0x4E00 && c <= 0x9FFF) ||
         (c >= 0xAC00 && c <= 0xD7AF) || (c >= 0xF900 && c <= 0xFAFF) ||
         (c >= 0x20000 && c <= 0x3FFFF);
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
bool is_ascii_word(char c) { return is_digit(c) || is_upper(c) || is_lower(c); }

Character character_at(std::string_view text, std::size_t at) {
  const char c = text[at];
  if ((c & 0x80) == 0) {
    if (is_ascii_word(c)) return {Kind::kWord, 1, static_cast<char32_t>(c)};
    if (c == '_' || c == '.') return {Kind::kConnector, 1, static_cast<char32_t>(c)};
    return {c == '\'' ? Kind::kApostrophe : Kind::kOther, 1, static_cast<char32_t>(c)};
  }
  utf8proc_int32_t code = 0;
  const auto length = utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(&text[at]),
                                       static_cast<utf8proc_ssize_t>(text.size() - at), &code);
  if (length < 1) return {};
  const auto bytes = static_cast<std::size_t>(length);
  const auto character = static_cast<char32_t>(code);
  if (code == 0x2019 || code == 0x02BC) return {Kind::kApostrophe, bytes, character};
  const auto category = utf8proc_category(code);
  if (category < UTF8PROC_CATEGORY_LU || category > UTF8PROC_CATEGORY_NO) {
    // Joiners and the like stand inside words of some scripts.
    return {category == UTF8PROC_CATEGORY_CF ? Kind::kWord : Kind::kOther, bytes, character};
  }
  return {is_unspaced(character) ? Kind::kUnspaced : Kind::kWord, bytes, character};
}

bool is_english_tail(std::string_view word) {
  constexpr std::string_view kTails[] = {"s", "t", "re", "ll", "ve", "d", "m"};
  return std::find(std::begin(kTails), std::end(kTails), word) != std::end(kTails);
}

// Whether a part ends between these two, inside an identifier such as getHTTPServer.
bool is_hump(std::string_view chunk, std::size_t at) {
  if (at == 0 || !is_upper(chunk[at])) return false;
  if (is_lower(chunk[at - 1])) return true;
  return is_upper(chunk[at - 1]) && at + 1 < chunk.size() && is_lower(chunk[at + 1]);
}

}  // namespace

std::span<const Word> WordSplitter::split(std::string_view text) {
  text_ = text;
  arena_.clear();
  in_arena_.clear();
  words_.clear();
  std::size_t at = 0;
  bool after_apostrophe = false;
  while (at < text.size()) {
    const Character first = character_at(text, at);
    if (first.kind != Kind::kWord && first.kind != Kind::kUnspaced) {
      after_apostrophe = first.kind == Kind::kApostrophe && at > 0 && !words_.empty() &&
                         words_.back().offset + words_.back().bytes == at;
      at += first.bytes;
      continue;
    }
    std::size_t end = at + first.bytes;
    while (end < text.size()) {
      const Character next = character_at(text, end);
      const bool joins = first.kind == Kind::kWord && next.kind == Kind::kConnector &&
                         end + 1 < text.size() && character_at(text, end + 1).kind == Kind::kWord;
      if (next.kind != first.kind && !joins) break;
      end += next.bytes;
    }
    if (first.kind == Kind::kUnspaced) {
      add_grams(at, end);
    } else if (!after_apostrophe || !is_english_tail(text.substr(at, end - at))) {
      split_chunk(at, end);
    }
    after_apostrophe = false;
    at = end;
  }
  for (std::size_t i = 0; i < words_.size(); ++i) {
    words_[i].text =
        std::string_view(arena_).substr(in_arena_[i].begin, in_arena_[i].end - in_arena_[i].begin);
  }
  return words_;
}

void WordSplitter::cut_parts(std::string_view chunk, std::size_t begin) {
  parts_.clear();
  std::size_t start = 0;
  const auto end_part = [&](std::size_t end) {
    if (end > start) parts_.push_back({begin + start, begin + end});
  };
  for (std::size_t i = 0; i < chunk.size(); ++i) {
    if (chunk[i] == '_' || chunk[i] == '.') {
      end_part(i);
      start = i + 1;
    } else if (is_hump(chunk, i)) {
      end_part(i);
      start = i;
    }
  }
  end_part(chunk.size());
}

void WordSplitter::split_chunk(std::size_t begin, std::size_t end) {
  cut_parts(text_.substr(begin, end - begin), begin);
  for (const Piece& part : parts_) add(part.begin, part.end, WordKind::kWord);
  if (parts_.size() > 1) add(begin, end, WordKind::kCompound);
}

void WordSplitter::add_grams(std::size_t begin, std::size_t end) {
  std::size_t previous = begin;
  for (std::size_t at = begin; at < end;) {
    const std::size_t next = at + character_at(text_, at).bytes;
    add(at, next, WordKind::kSingle);
    if (at > begin) add(previous, next, WordKind::kGram);
    previous = at;
    at = next;
  }
}

void WordSplitter::add(std::size_t begin, std::size_t end, WordKind kind) {
  const std::size_t start = arena_.size();
  fold_into_arena(text_.substr(begin, end - begin));
  if (arena_.size() - start > kMaxWordBytes) {
    std::size_t cut = start + kMaxWordBytes;
    while ((arena_[cut] & 0xC0) == 0x80) --cut;
    arena_.resize(cut);
  }
  if (arena_.size() == start) return;
  in_arena_.push_back({start, arena_.size()});
  words_.push_back(
      {{}, kind, static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end - begin)});
}

void WordSplitter::fold_into_arena(std::string_view raw) {
  bool ascii = true;
  const std::size_t start = arena_.size();
  for (const char c : raw) {
    ascii = ascii && (c & 0x80) == 0;
    arena_ += is_upper(c) ? static_cast<char>(c - 'A' + 'a') : c;
  }
  if (ascii) return;
  constexpr auto kOptions = static_cast<utf8proc_option_t>(
      UTF8PROC_STABLE | UTF8PROC_COMPOSE | UTF8PROC_COMPAT | UTF8PROC_CASEFOLD | UTF8PROC_IGNORE);
  utf8proc_uint8_t* mapped = nullptr;
  const auto length = utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(raw.data()),
                                   static_cast<utf8proc_ssize_t>(raw.size()), &mapped, kOptions);
  const std::unique_ptr<utf8proc_uint8_t, decltype(&std::free)> owner(mapped, &std::free);
  if (length < 0) return;
  arena_.resize(start);
  arena_.append(reinterpret_cast<const char*>(mapped), static_cast<std::size_t>(length));
}

}  // namespace skein
