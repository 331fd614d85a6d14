// Whether two texts of work items say nearly the same.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace skein {

// The length of the issue key at the front of the text (two or more capitals and digits, a hyphen,
// digits: OD-692), or 0. What follows it may be anything but a digit.
std::size_t issue_key_length(std::string_view text);

// A text, taken apart for comparison.
class ItemWording {
 public:
  // `issue`: a key that the text has besides those in it; empty: none.
  explicit ItemWording(std::string_view text, std::string_view issue = {});

  bool has_keys() const { return !keys_.empty(); }

  // Two texts are alike if they have the same content words, in whatever order: stop words,
  // endings, common abbreviations and how compounds are written do not count, and one content word
  // of its own on either side makes a difference. Words that say little ("new", "existing") may be
  // in one of them only, and so may a final clause that explains ("so that …", ", seen on …").
  // Texts that share an issue key (OD-692, #1187) are alike if they share a third of the content
  // words of the shorter one and do not contradict each other: by a number or key of each, by a
  // negation, by words that exclude each other (enable/disable, staging/production, fix/deploy), or
  // by one word in place of another. Symmetric.
  bool is_like(const ItemWording& other) const;

 private:
  ItemWording() = default;
  bool says_the_same_as(const ItemWording& other) const;

  struct Word {
    std::string text;  // folded
    std::string stem;
    std::string role;  // the word that gives it one ("from"); mostly none
    bool counts = false;
  };

  void read_words(std::string_view folded);
  bool has(std::string_view stem) const;
  std::vector<const Word*> words_not_in(const ItemWording& other) const;
  bool has_compound(const std::string& joined) const;
  bool is_part_of_compound_in(const ItemWording& other, std::size_t at) const;
  bool contradicts(const ItemWording& other) const;
  bool swaps_roles_with(const ItemWording& other) const;
  bool replaces_one_word_of(const ItemWording& other) const;
  std::vector<std::string> content() const;

  std::vector<std::string> keys_;   // sorted
  std::vector<Word> words_;         // in order, stop words included
  std::vector<std::string> stems_;  // of those that count, sorted, each once
  std::vector<ItemWording> main_;   // the text without its explanation, where it has one
};

}  // namespace skein
