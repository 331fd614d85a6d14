// Which file names occur in the text of a command.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "skein/error.h"

namespace skein {

enum class Spelled { kNowhere, kAboveOthers, kAtEnd };  // "x" of "x/y" is above others

// Where a command line, with its scripts and variables, spells a file name: as a word, or as a
// part of one, between any punctuation ("--import=./x.js", "-fMakefile", "require('./x.js')").
// Quotes and backslashes inside a name, and "%2e", make no difference. A name that a program puts
// together ("./x*", "$A.js", "\x2e") is not spelled. Not thread-safe.
class SpelledNames {
 public:
  SpelledNames() = default;
  SpelledNames(const SpelledNames&) = delete;
  SpelledNames& operator=(const SpelledNames&) = delete;

  // Once, and before all else. Words that belong to no common text are separated by NUL. kInvalid:
  // the text is too long to be searched; the message is a predicate.
  Result<void> read(std::string text);

  // Also where only "x" of "x.js" is spelled: interpreters add such endings. kInvalid: so many
  // names needed so many comparisons that more would take long.
  Result<Spelled> find(std::string_view file_name);
  // "." or ".." where a folder would be, an empty entry of PATH, or a name of the working folder
  // in a common language, such as PWD.
  bool has_dot() const { return has_dot_; }
  // Whether the variable PATH may be set.
  bool has_path() const { return words_.contains("PATH"); }

 private:
  Result<void> add_words();
  void add_option_letters(std::size_t begin, std::size_t end);
  bool is_option(std::size_t word) const;
  bool continues_a_word(std::size_t at) const;
  bool is_dot(std::size_t at) const;
  bool has_empty_path_entry() const;
  Result<Spelled> find_exactly(std::string_view name);
  bool goes_on(std::size_t end) const;

  std::string text_;
  // Where each run of letters and digits begins. The keys are views of text_.
  std::unordered_map<std::string_view, std::vector<std::size_t>> words_;
  std::size_t comparisons_ = 0;
  bool has_dot_ = false;
};

}  // namespace skein
