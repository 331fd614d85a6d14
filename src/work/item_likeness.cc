#include "work/item_likeness.h"

#include <algorithm>
#include <iterator>

#include "core/text.h"
#include "work/item_words.h"

namespace skein {
namespace {

using Strings = std::vector<std::string>;

bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_alnum(char c) { return is_upper(c) || is_lower(c) || is_digit(c); }

char to_upper(char c) { return is_lower(c) ? static_cast<char>(c - 'a' + 'A') : c; }

void make_set(Strings& strings) {
  std::sort(strings.begin(), strings.end());
  strings.erase(std::unique(strings.begin(), strings.end()), strings.end());
}

Strings common(const Strings& a, const Strings& b) {
  Strings both;
  std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(both));
  return both;
}

// Names of standards look like issue keys.
bool is_standard(std::string_view key) {
  constexpr std::string_view kStandards[] = {"UTF", "SHA",  "ISO", "RFC", "AES", "MD", "GPT",
                                             "RSA", "HTTP", "TLS", "SSL", "HS",  "RS", "ES"};
  const std::string_view name = key.substr(0, key.find('-'));
  return std::find(std::begin(kStandards), std::end(kStandards), name) != std::end(kStandards);
}

// "#1187" at the front of the text, or nothing.
std::string issue_number_at(std::string_view text) {
  std::size_t length = text.starts_with('#') ? 1 : 0;
  while (length > 0 && length < text.size() && is_digit(text[length])) ++length;
  return std::string(text.substr(0, length > 1 ? length : 0));
}

// The issue key at the front of the text in capitals, or nothing. In small letters it needs two
// digits, or `is_label` and a colon after it: "step-1" is none.
std::string key_at(std::string_view text, bool is_label) {
  std::size_t length = issue_key_length(text);
  std::string key(text.substr(0, length));
  if (length == 0) {
    std::string capitals(text.substr(0, std::min<std::size_t>(text.size(), 40)));
    std::transform(capitals.begin(), capitals.end(), capitals.begin(), to_upper);
    length = issue_key_length(capitals);
    key = capitals.substr(0, length);
    const std::size_t digits = length - std::min(length, key.find('-') + 1);
    const bool has_colon = length < text.size() && text[length] == ':';
    if (length > 0 && digits < 2 && !(is_label && has_colon)) return {};
  }
  if (length < text.size() && is_alnum(text[length])) return {};
  return key.empty() || is_standard(key) ? std::string() : key;
}

// Takes the issue keys out of the text.
Strings take_keys(std::string& text) {
  Strings keys;
  std::string rest;
  for (std::size_t at = 0; at < text.size();) {
    const bool begins_word = at == 0 || !is_alnum(text[at - 1]);
    std::string key;
    if (begins_word) {
      const std::string_view rest_of_text = std::string_view(text).substr(at);
      key = text[at] == '#' ? issue_number_at(rest_of_text) : key_at(rest_of_text, at == 0);
    }
    if (key.empty()) {
      rest += text[at++];
      continue;
    }
    at += key.size();
    rest += ' ';
    keys.push_back(std::move(key));
  }
  text = std::move(rest);
  make_set(keys);
  return keys;
}

// The keys in what somebody gave as an issue ("PROJ-123", an address that ends with it), else all
// of it.
Strings keys_of_issue(std::string_view issue) {
  std::string capitals(issue);
  std::transform(capitals.begin(), capitals.end(), capitals.begin(), to_upper);
  std::string rest = capitals;
  Strings keys = take_keys(rest);
  if (keys.empty() && !fold_text(issue).empty()) keys.push_back(std::move(capitals));
  return keys;
}

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) {
    text.replace(at, from.size(), to);
  }
}

// Keeps apart what splitting into words would make equal: 1.2 and 2.1, C++ and C#.
std::string spelled_out(std::string folded) {
  replace_all(folded, "[open]", " ");
  replace_all(folded, "(open)", " ");
  replace_all(folded, "follow up:", " ");
  replace_all(folded, "follow-up:", " ");
  replace_all(folded, "\u2019", "'");
  replace_all(folded, "can't", "can not");
  replace_all(folded, "won't", "will not");
  replace_all(folded, "n't", " not");
  replace_all(folded, "++", "plusplus");
  std::string out;
  for (std::size_t i = 0; i < folded.size(); ++i) {
    const char before = i > 0 ? folded[i - 1] : ' ';
    const char after = i + 1 < folded.size() ? folded[i + 1] : ' ';
    if (folded[i] == '.' && is_digit(before) && is_digit(after)) {
      out += "dot";
    } else if (folded[i] == '#' && is_alnum(before)) {
      out += "sharp";
    } else {
      out += folded[i];
    }
  }
  // Particles of scripts that are written without spaces.
  for (const std::string_view particle : {"的", "了", "の", "を", "は", "が", "する"}) {
    replace_all(out, particle, "");
  }
  return out;
}

// "From A to B": a capital A inside of a text in small letters is a name, not an article.
std::string with_named_a(std::string text) {
  if (std::none_of(text.begin(), text.end(), is_lower)) return text;
  for (std::size_t at = 2; at < text.size(); ++at) {
    const bool alone = text[at] == 'A' && text[at - 1] == ' ' && is_alnum(text[at - 2]) &&
                       (at + 1 == text.size() || !is_alnum(text[at + 1]));
    if (alone) text.replace(at, 1, "name-a");
  }
  return text;
}

// The part of the folded text before a clause that explains it; all of it, if there is none.
std::string_view main_part(std::string_view folded) {
  std::size_t end = folded.size();
  for (const std::string_view opening : {" so that ", " because ", " since ", ", which "}) {
    end = std::min(end, folded.find(opening));
  }
  for (const std::string_view mark : {", ", " - ", " (", "; "}) {
    for (const std::string_view word :
         {"seen ", "reported ", "found ", "noticed ", "failed ", "fails ", "failing ", "see ",
          "because ", "since ", "so ", "as ", "it ", "this "}) {
      end = std::min(end, folded.find(std::string(mark) + std::string(word)));
    }
  }
  return folded.substr(0, end);
}

// "v2" is "2".
std::string_view without_version_sign(std::string_view word) {
  const bool is_version = word.size() > 1 && word[0] == 'v' && is_digit(word[1]);
  return is_version ? word.substr(1) : word;
}

bool has_digit(std::string_view word) { return std::any_of(word.begin(), word.end(), is_digit); }

bool is_opposite(std::string_view a, std::string_view b) {
  for (const std::string_view prefix : {"un", "dis", "de", "non", "in"}) {
    if (b.size() == a.size() + prefix.size() && b.starts_with(prefix) && b.ends_with(a))
      return true;
  }
  return false;
}

bool exclude_each_other(const std::string& a, const std::string& b) {
  if (has_digit(a) && has_digit(b)) return true;
  if (is_opposite(a, b) || is_opposite(b, a)) return true;
  const std::vector<int> groups = alternative_groups(b);
  const std::vector<int> own = alternative_groups(a);
  return std::any_of(own.begin(), own.end(), [&groups](int group) {
    return std::find(groups.begin(), groups.end(), group) != groups.end();
  });
}

Strings with_aliases(Strings words) {
  static const std::vector<std::pair<Strings, std::string>> aliases = [] {
    std::vector<std::pair<Strings, std::string>> split;
    for (const auto& [phrase, alias] : phrase_aliases()) {
      split.emplace_back(words_of(phrase), std::string(alias));
    }
    return split;
  }();
  Strings out;
  for (std::size_t at = 0; at < words.size();) {
    std::size_t taken = 0;
    for (const auto& [phrase, alias] : aliases) {
      const bool fits = phrase.size() <= words.size() - at &&
                        std::equal(phrase.begin(), phrase.end(), words.begin() + at);
      if (!fits) continue;
      if (!alias.empty()) out.push_back(alias);
      taken = phrase.size();
      break;
    }
    if (taken == 0) out.push_back(std::move(words[at]));
    at += std::max<std::size_t>(taken, 1);
  }
  return out;
}

}  // namespace

std::size_t issue_key_length(std::string_view text) {
  std::size_t at = 0;
  while (at < text.size() && (is_upper(text[at]) || (at > 0 && is_digit(text[at])))) ++at;
  if (at < 2 || at >= text.size() || text[at] != '-') return 0;
  const std::size_t digits = ++at;
  while (at < text.size() && is_digit(text[at])) ++at;
  return at > digits ? at : 0;
}

ItemWording::ItemWording(std::string_view text, std::string_view issue) {
  constexpr std::size_t kLeast = 3;  // content words that say something without the explanation
  std::string rest(text);
  keys_ = take_keys(rest);
  for (std::string& key : keys_of_issue(issue)) keys_.push_back(std::move(key));
  make_set(keys_);
  const std::string folded = fold_text(with_named_a(std::move(rest)));
  read_words(folded);
  const std::string_view main = main_part(folded);
  if (main.size() == folded.size()) return;
  ItemWording shorter;
  shorter.keys_ = keys_;
  shorter.read_words(main);
  if (shorter.stems_.size() >= kLeast) main_.push_back(std::move(shorter));
}

void ItemWording::read_words(std::string_view folded) {
  std::string role;
  bool after_modal = false;  // "need to": this "to" gives no role
  for (std::string& word : with_aliases(words_of(spelled_out(std::string(folded))))) {
    Word read;
    read.counts = !is_stop_word(word);
    if (is_role_marker(word)) {
      role = after_modal ? "" : word;
    } else if (!read.counts && word != "a" && word != "an" && word != "the") {
      role.clear();
    }
    after_modal = word == "need" || word == "needs" || word == "have" || word == "has" ||
                  word == "want" || word == "ought";
    read.stem = stem_of(without_version_sign(word));
    if (read.counts) read.role = role;
    read.text = std::move(word);
    if (read.counts) stems_.push_back(read.stem);
    words_.push_back(std::move(read));
  }
  make_set(stems_);
}

bool ItemWording::has(std::string_view stem) const {
  return std::binary_search(stems_.begin(), stems_.end(), stem);
}

// Two neighbours that make one word: "time out".
bool ItemWording::has_compound(const std::string& joined) const {
  for (std::size_t i = 0; i + 1 < words_.size(); ++i) {
    const std::string both = words_[i].text + words_[i + 1].text;
    if (both == joined || stem_of(both) == stem_of(joined)) return true;
  }
  return false;
}

bool ItemWording::is_part_of_compound_in(const ItemWording& other, std::size_t at) const {
  const auto found = [&other](const std::string& joined) {
    const std::string stem = stem_of(joined);
    return other.has(stem);
  };
  return (at > 0 && found(words_[at - 1].text + words_[at].text)) ||
         (at + 1 < words_.size() && found(words_[at].text + words_[at + 1].text));
}

std::vector<const ItemWording::Word*> ItemWording::words_not_in(const ItemWording& other) const {
  std::vector<const Word*> own;
  for (std::size_t i = 0; i < words_.size(); ++i) {
    const Word& word = words_[i];
    if (!word.counts || other.has(word.stem)) continue;
    if (other.has_compound(word.text) || is_part_of_compound_in(other, i)) continue;
    own.push_back(&word);
  }
  return own;
}

// "From A to B" and "from B to A".
bool ItemWording::swaps_roles_with(const ItemWording& other) const {
  const auto role_in = [](const ItemWording& wording, const std::string& stem,
                          const std::string& role) {
    return std::any_of(wording.words_.begin(), wording.words_.end(), [&](const Word& word) {
      return word.counts && word.stem == stem && word.role == role;
    });
  };
  const auto moved = [&](const ItemWording& a, const ItemWording& b, const std::string& role) {
    return std::any_of(a.words_.begin(), a.words_.end(), [&](const Word& word) {
      return word.role == role && b.has(word.stem) && !role_in(b, word.stem, role);
    });
  };
  return std::any_of(words_.begin(), words_.end(), [&](const Word& word) {
    return !word.role.empty() && moved(*this, other, word.role) && moved(other, *this, word.role);
  });
}

bool ItemWording::contradicts(const ItemWording& other) const {
  const auto own = words_not_in(other);
  const auto others = other.words_not_in(*this);
  const auto negates = [](const Word* word) { return is_negation(word->stem); };
  if (std::any_of(own.begin(), own.end(), negates) ||
      std::any_of(others.begin(), others.end(), negates)) {
    return true;
  }
  return std::any_of(own.begin(), own.end(), [&others](const Word* a) {
    return std::any_of(others.begin(), others.end(),
                       [a](const Word* b) { return exclude_each_other(a->stem, b->stem); });
  });
}

std::vector<std::string> ItemWording::content() const {
  Strings stems;
  for (const Word& word : words_) {
    if (word.counts) stems.push_back(word.stem);
  }
  return stems;
}

bool ItemWording::replaces_one_word_of(const ItemWording& other) const {
  const Strings a = content();
  const Strings b = other.content();
  if (a.size() != b.size() || a.size() < 2) return false;
  std::size_t different = 0;
  for (std::size_t i = 0; i < a.size(); ++i) different += a[i] == b[i] ? 0 : 1;
  return different == 1;
}

bool ItemWording::is_like(const ItemWording& other) const {
  return says_the_same_as(other) || (!main_.empty() && main_[0].says_the_same_as(other)) ||
         (!other.main_.empty() && says_the_same_as(other.main_[0]));
}

bool ItemWording::says_the_same_as(const ItemWording& other) const {
  const Strings shared_keys = common(keys_, other.keys_);
  if (shared_keys.size() < keys_.size() && shared_keys.size() < other.keys_.size()) return false;
  if (stems_.empty() || other.stems_.empty()) {
    return stems_.empty() && other.stems_.empty() && !shared_keys.empty();
  }
  const std::size_t shorter = std::min(stems_.size(), other.stems_.size());
  const Strings shared = common(stems_, other.stems_);
  if (shared.empty() && shorter > 2) return false;
  if (swaps_roles_with(other)) return false;
  const auto own = words_not_in(other);
  const auto others = other.words_not_in(*this);
  const auto all_weak = [](const std::vector<const Word*>& words) {
    return std::all_of(words.begin(), words.end(),
                       [](const Word* word) { return is_weak_word(word->stem); });
  };
  if (own.empty() && all_weak(others)) return true;
  if (others.empty() && all_weak(own)) return true;
  if (shared_keys.empty() || contradicts(other) || replaces_one_word_of(other)) return false;
  return 3 * shared.size() >= shorter;
}

}  // namespace skein
