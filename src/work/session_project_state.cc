// Reads lines such as "PROJECT STATE: Skein: OD-523done OD-524~waits OD-525->write tests", and what
// people write instead: "OD-1 ✅, OD-2Done, od-3→write tests".
#include <algorithm>
#include <set>

#include "skein/work_sessions.h"
#include "work/item_likeness.h"
#include "work/item_view.h"

namespace skein {
namespace {

constexpr std::string_view kSpace = " \t\r\n";
constexpr std::string_view kSeparators = " \t\r\n,;|/(";

std::string_view trimmed(std::string_view text, std::string_view what = kSpace) {
  const std::size_t first = text.find_first_not_of(what);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(what) - first + 1);
}

char upper(char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; }

std::string in_capitals(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(), upper);
  return out;
}

// The length of the mark at the front of the text that says that something is done, or 0.
std::size_t done_mark(std::string_view text) {
  for (const std::string_view mark : {"✓", "✔", "✅", "☑"}) {
    if (!text.starts_with(mark)) continue;
    constexpr std::string_view kEmojiForm = "\uFE0F";
    const bool has_form = text.substr(mark.size()).starts_with(kEmojiForm);
    return mark.size() + (has_form ? kEmojiForm.size() : 0);
  }
  constexpr std::string_view kDone = "DONE";
  if (in_capitals(text.substr(0, kDone.size())) != kDone) return 0;
  const char next = text.size() > kDone.size() ? upper(text[kDone.size()]) : ' ';
  return next >= 'A' && next <= 'Z' ? 0 : kDone.size();
}

// The length of the arrow at the front of the text, or 0.
std::size_t arrow(std::string_view text) {
  for (const std::string_view mark : {"->", "=>", "→", "⇒", "➡"}) {
    if (text.starts_with(mark)) return mark.size();
  }
  return 0;
}

bool is_marked(std::string_view behind_key) {
  const std::string_view rest = trimmed(behind_key);
  return rest.starts_with('~') || arrow(rest) > 0 || done_mark(rest) > 0;
}

struct Key {
  std::size_t at = std::string_view::npos;  // npos: there is none
  std::size_t length = 0;
};

// The prefixes of the line's keys in capitals. In small letters a key is one where a mark follows:
// "phase-2" in a note is none.
std::set<std::string> key_prefixes(std::string_view text) {
  std::set<std::string> prefixes;
  const std::string capitals = in_capitals(text);
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (at > 0 && kSeparators.find(text[at - 1]) == std::string_view::npos) continue;
    const std::size_t length = issue_key_length(std::string_view(capitals).substr(at));
    if (length == 0) continue;
    const bool as_written = issue_key_length(text.substr(at)) > 0;
    if (as_written || is_marked(text.substr(at + length))) {
      prefixes.insert(capitals.substr(at, capitals.find('-', at) - at));
    }
  }
  return prefixes;
}

// The first issue key of the text that begins a word.
Key find_key(std::string_view text, const std::set<std::string>& prefixes) {
  const std::string capitals = in_capitals(text);
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (at > 0 && kSeparators.find(text[at - 1]) == std::string_view::npos) continue;
    const std::size_t length = issue_key_length(std::string_view(capitals).substr(at));
    if (length == 0) continue;
    if (prefixes.contains(capitals.substr(at, capitals.find('-', at) - at))) return {at, length};
  }
  return {};
}

// What stands behind a key, up to the next one.
void add_entry(ProjectState& state, const std::string& key, std::string_view rest) {
  constexpr std::string_view kBetween = " \t\r\n,;|/(";
  rest = trimmed(rest);
  rest = rest.substr(0, rest.find_last_not_of(kBetween) + 1);
  if (const std::size_t mark = done_mark(rest); mark > 0) {
    state.done.push_back(key);
    rest = trimmed(rest.substr(mark));
    if (trimmed(rest, ").,;").empty()) return;
  }
  if (const std::size_t mark = arrow(rest); mark > 0) {
    state.next.push_back({key, std::string(trimmed(rest.substr(mark)))});
    return;
  }
  if (rest.starts_with('~')) rest = trimmed(rest.substr(1));
  state.notes.push_back({key, std::string(rest)});
}

}  // namespace

std::optional<ProjectState> parse_project_state(std::string_view text) {
  std::string_view rest = trimmed(text);
  if (!rest.starts_with(kProjectStatePrefix)) return std::nullopt;
  ProjectState state;
  state.text = std::string(rest);
  rest.remove_prefix(kProjectStatePrefix.size());

  const std::set<std::string> prefixes = key_prefixes(rest);
  Key key = find_key(rest, prefixes);
  std::string_view name = trimmed(rest.substr(0, key.at));
  if (name.ends_with('(')) name = trimmed(name.substr(0, name.size() - 1));
  if (name.ends_with(':')) name.remove_suffix(1);
  state.project = std::string(trimmed(name));
  while (key.at != std::string_view::npos) {
    const std::string word = in_capitals(rest.substr(key.at, key.length));
    rest.remove_prefix(key.at + key.length);
    key = find_key(rest, prefixes);
    add_entry(state, word, rest.substr(0, key.at));
  }
  return state;
}

}  // namespace skein
