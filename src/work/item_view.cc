#include "work/item_view.h"

#include <algorithm>
#include <string>
#include <unordered_map>

#include "core/text.h"

namespace skein {
namespace {

constexpr double kAlike = 0.8;
constexpr double kAlikeWithKey = 0.65;
constexpr double kKeyWeight = 3;

bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_alnum(char c) { return is_upper(c) || is_digit(c) || (c >= 'a' && c <= 'z'); }

using Words = std::vector<std::string>;  // sorted, each once

struct Tokens {
  Words keys;
  Words words;

  std::size_t count() const { return keys.size() + words.size(); }
  double weight() const {
    return kKeyWeight * static_cast<double>(keys.size()) + static_cast<double>(words.size());
  }
};

void make_set(Words& words) {
  std::sort(words.begin(), words.end());
  words.erase(std::unique(words.begin(), words.end()), words.end());
}

Tokens tokens_of(std::string_view text) {
  Tokens tokens;
  std::string rest;
  for (std::size_t at = 0; at < text.size();) {
    const bool begins_word = at == 0 || !is_alnum(text[at - 1]);
    const std::size_t length = begins_word ? issue_key_length(text.substr(at)) : 0;
    if (length > 0 && (at + length == text.size() || !is_alnum(text[at + length]))) {
      tokens.keys.emplace_back(text.substr(at, length));
      rest += ' ';
      at += length;
    } else {
      rest += text[at++];
    }
  }
  tokens.words = words_of(fold_text(rest));
  make_set(tokens.keys);
  make_set(tokens.words);
  return tokens;
}

bool contains(const Words& words, const std::string& word) {
  return std::binary_search(words.begin(), words.end(), word);
}

double common(const Words& a, const Words& b) {
  return static_cast<double>(std::count_if(
      a.begin(), a.end(), [&b](const std::string& word) { return contains(b, word); }));
}

// Whether `a` has a number or key that `b` lacks.
bool names_something_else(const Tokens& a, const Tokens& b) {
  return std::any_of(a.words.begin(), a.words.end(),
                     [&b](const std::string& word) {
                       return std::any_of(word.begin(), word.end(), is_digit) &&
                              !contains(b.words, word);
                     }) ||
         std::any_of(a.keys.begin(), a.keys.end(),
                     [&b](const std::string& key) { return !contains(b.keys, key); });
}

bool are_alike(const Tokens& a, const Tokens& b) {
  if (a.count() < 2 || b.count() < 2) return false;
  if (names_something_else(a, b) && names_something_else(b, a)) return false;
  const double keys = common(a.keys, b.keys);
  const double shared = kKeyWeight * keys + common(a.words, b.words);
  return 2 * shared / (a.weight() + b.weight()) >= (keys > 0 ? kAlikeWithKey : kAlike);
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

bool is_project_state(const WorkItem& item) {
  std::string_view text = item.text;
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  return begin != std::string_view::npos && text.substr(begin).starts_with(kProjectStatePrefix);
}

std::vector<WorkItem> shown_items(const std::vector<WorkItem>& items, const ProjectOf& project_of) {
  std::vector<WorkItem> shown;
  std::unordered_map<std::string, std::vector<std::size_t>> seen;  // by text and deed
  for (const WorkItem& item : items) {
    if (is_project_state(item)) continue;
    const std::string deed =
        item.status == ItemStatus::kOpen ? "open" : std::to_string(item.resolved_at.us);
    std::vector<std::size_t>& alike = seen[deed + " " + fold_text(item.text)];
    const bool is_shown = std::any_of(alike.begin(), alike.end(), [&](std::size_t other) {
      return !project_of || project_of(shown[other]) == project_of(item);
    });
    if (is_shown) continue;
    alike.push_back(shown.size());
    shown.push_back(item);
  }
  return shown;
}

ItemTotals count_items(const std::vector<WorkItem>& shown) {
  ItemTotals totals;
  for (const WorkItem& item : shown) {
    ++(item.status == ItemStatus::kOpen ? totals.open : totals.resolved);
  }
  return totals;
}

const WorkItem* near_duplicate(std::string_view text, const std::vector<WorkItem>& shown) {
  const std::string folded = fold_text(text);
  const Tokens tokens = tokens_of(text);
  const WorkItem* alike = nullptr;
  for (const WorkItem& item : shown) {
    if (item.status != ItemStatus::kOpen) continue;
    if (fold_text(item.text) == folded) return &item;
    if (alike == nullptr && are_alike(tokens, tokens_of(item.text))) alike = &item;
  }
  return alike;
}

}  // namespace skein
