// The words of a work item's text, reduced so that two wordings of one piece of work compare equal.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace skein {

// A phrase that is replaced before a text is split: "pull request" and "pr".
struct PhraseAlias {
  std::string_view phrase;
  std::string_view alias;
};
std::vector<PhraseAlias> phrase_aliases();

// Says nothing by itself ("the", "please", "still"): it does not tell items apart.
bool is_stop_word(std::string_view word);

// Says little ("new", "existing", "support"): an item with it is like one without it, but not like
// one with another such word.
bool is_weak_word(std::string_view stem);

// Turns the meaning of a text around ("not", "without").
bool is_negation(std::string_view stem);

// Gives a role to the words behind it: "from" and "to" tell a source from a target.
bool is_role_marker(std::string_view word);

// The form that the word is compared in: abbreviations spelled out, interchangeable verbs as one
// of them, endings off. Words of other languages stay as they are.
std::string stem_of(std::string_view word);

// Groups of words that exclude each other (enable/disable, staging/production), by stem. A word may
// be in several; none for most words.
std::vector<int> alternative_groups(std::string_view stem);

}  // namespace skein
