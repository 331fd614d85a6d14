#include "work/item_view.h"

#include <algorithm>
#include <set>
#include <string>
#include <unordered_set>

#include "core/text.h"

namespace skein {
namespace {

constexpr double kAlike = 0.8;
constexpr double kAlikeWithKey = 0.65;
constexpr double kKeyWeight = 3;

bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_alnum(char c) { return is_upper(c) || is_digit(c) || (c >= 'a' && c <= 'z'); }

struct Tokens {
  std::set<std::string> keys;
  std::set<std::string> words;

  double weight() const {
    return kKeyWeight * static_cast<double>(keys.size()) + static_cast<double>(words.size());
  }
};

Tokens tokens_of(std::string_view text) {
  Tokens tokens;
  std::string rest;
  for (std::size_t at = 0; at < text.size();) {
    const bool begins_word = at == 0 || !is_alnum(text[at - 1]);
    const std::size_t length = begins_word ? issue_key_length(text.substr(at)) : 0;
    if (length > 0 && (at + length == text.size() || !is_alnum(text[at + length]))) {
      tokens.keys.emplace(text.substr(at, length));
      rest += ' ';
      at += length;
    } else {
      rest += text[at++];
    }
  }
  for (std::string& word : words_of(fold_text(rest))) tokens.words.insert(std::move(word));
  return tokens;
}

std::size_t common(const std::set<std::string>& a, const std::set<std::string>& b) {
  return static_cast<std::size_t>(std::count_if(
      a.begin(), a.end(), [&b](const std::string& word) { return b.contains(word); }));
}

// Whether one has a number or key that the other lacks.
bool names_something_else(const Tokens& a, const Tokens& b) {
  const auto lacks = [](const std::set<std::string>& has, const std::set<std::string>& other,
                        bool any) {
    return std::any_of(has.begin(), has.end(), [&](const std::string& word) {
      return (any || std::any_of(word.begin(), word.end(), is_digit)) && !other.contains(word);
    });
  };
  return lacks(a.words, b.words, false) || lacks(a.keys, b.keys, true);
}

bool are_alike(const Tokens& a, const Tokens& b) {
  if (a.keys.size() + a.words.size() < 2 || b.keys.size() + b.words.size() < 2) return false;
  if (names_something_else(a, b) && names_something_else(b, a)) return false;
  const std::size_t keys = common(a.keys, b.keys);
  const double shared =
      kKeyWeight * static_cast<double>(keys) + static_cast<double>(common(a.words, b.words));
  const double dice = 2 * shared / (a.weight() + b.weight());
  return dice >= (keys > 0 ? kAlikeWithKey : kAlike);
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

std::vector<WorkItem> shown_items(const std::vector<WorkItem>& items) {
  std::vector<WorkItem> shown;
  std::unordered_set<std::string> seen;
  for (const WorkItem& item : items) {
    if (is_project_state(item)) continue;
    const std::string deed =
        item.status == ItemStatus::kOpen ? "open" : std::to_string(item.resolved_at.us);
    if (seen.insert(deed + " " + fold_text(item.text)).second) shown.push_back(item);
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
