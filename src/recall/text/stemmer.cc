#include "recall/text/stemmer.h"

#include <libstemmer.h>
#include <utf8proc.h>

#include <algorithm>
#include <cstdlib>

namespace skein {
namespace {

bool is_ascii(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return (c & 0x80) == 0; });
}

char32_t first_character(std::string_view text) {
  utf8proc_int32_t code = 0;
  const auto length = utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                                       static_cast<utf8proc_ssize_t>(text.size()), &code);
  return length > 0 ? static_cast<char32_t>(code) : U' ';
}

// So that "café" is found by "cafe".
std::string without_marks(std::string text) {
  if (is_ascii(text)) return text;
  utf8proc_uint8_t* mapped = nullptr;
  const auto length = utf8proc_map(
      reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
      static_cast<utf8proc_ssize_t>(text.size()), &mapped,
      static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_DECOMPOSE | UTF8PROC_STRIPMARK));
  const std::unique_ptr<utf8proc_uint8_t, decltype(&std::free)> owner(mapped, &std::free);
  if (length > 0) {
    text.assign(reinterpret_cast<const char*>(mapped), static_cast<std::size_t>(length));
  }
  return text;
}

bool is_latin(char32_t c) { return c < 0x250 || (c >= 0x1E00 && c < 0x1F00); }

bool marks_can_go(char32_t c) { return c < 0x0530 || (c >= 0x1E00 && c < 0x2000); }

}  // namespace

void Stemmer::Free::operator()(sb_stemmer* stemmer) const { sb_stemmer_delete(stemmer); }

Stemmer::Stemmer() = default;
Stemmer::~Stemmer() = default;

std::string_view Stemmer::stem(std::string_view folded, Language language) {
  constexpr std::size_t kKept = 50'000;  // for each language
  Made& made = made_[static_cast<std::size_t>(language)];
  key_.assign(folded);
  if (const auto found = made.find(key_); found != made.end()) return found->second;
  if (made.size() >= kKept) made.clear();
  return made.emplace(key_, make(folded, language)).first->second;
}

std::string Stemmer::make(std::string_view folded, Language language) {
  const char32_t first = first_character(folded);
  if (!is_latin(first)) language = language_of_script(first);
  std::string stem(folded);
  if (const char* name = stemmer_name(language)) {
    auto& stemmer = stemmers_[static_cast<std::size_t>(language)];
    if (!stemmer) stemmer.reset(sb_stemmer_new(name, nullptr));
    const auto* text =
        stemmer ? sb_stemmer_stem(stemmer.get(), reinterpret_cast<const sb_symbol*>(stem.data()),
                                  static_cast<int>(stem.size()))
                : nullptr;
    if (text != nullptr) {
      stem.assign(reinterpret_cast<const char*>(text),
                  static_cast<std::size_t>(sb_stemmer_length(stemmer.get())));
    }
  }
  if (stem.empty()) stem.assign(folded);
  return marks_can_go(first) ? without_marks(std::move(stem)) : stem;
}

}  // namespace skein
