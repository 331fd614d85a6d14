// Words without their endings.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "recall/text/language.h"

struct sb_stemmer;

namespace skein {

// What words are found by: the stem in its language (of its script, where that tells one), accents
// taken off. Not thread-safe.
class Stemmer {
 public:
  Stemmer();
  ~Stemmer();

  // `folded` as WordSplitter gives it. Lives until the next call.
  std::string_view stem(std::string_view folded, Language language);

 private:
  struct Free {
    void operator()(sb_stemmer* stemmer) const;
  };
  // Stems that were made before: most words of a text are frequent ones.
  using Made = std::unordered_map<std::string, std::string>;

  std::string make(std::string_view folded, Language language);

  std::array<std::unique_ptr<sb_stemmer, Free>, kLanguages> stemmers_;
  std::array<Made, kLanguages> made_;
  std::string key_;
};

}  // namespace skein
