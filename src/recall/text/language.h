// Languages: which one a text is in, and which of its words say nothing.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace skein {

// Those that have a stemmer, and kUnknown. Kept in index files by number: add at the end only.
enum class Language : std::uint8_t {
  kUnknown,
  kEnglish,
  kGerman,
  kFrench,
  kSpanish,
  kItalian,
  kPortuguese,
  kDutch,
  kSwedish,
  kDanish,
  kNorwegian,
  kFinnish,
  kHungarian,
  kRomanian,
  kTurkish,
  kCatalan,
  kRussian,
  kGreek,
  kArabic,
  kHindi,
  kTamil,
  kArmenian,
};
inline constexpr std::size_t kLanguages = 22;

// The name by which libstemmer knows it; null for kUnknown.
const char* stemmer_name(Language language);

// Of a script that mostly one of the languages is written in; kUnknown for Latin and all others.
Language language_of_script(char32_t character);

// Words as fold_text gives them. A word that carries grammar and no topic: "the", "did", "what".
bool is_stop_word(Language language, std::string_view folded);

// The language of a text written in Latin letters, by its stop words; kUnknown, if they are too few
// to tell. Takes the folded words of the text.
Language detect_language(std::span<const std::string_view> words);

}  // namespace skein
