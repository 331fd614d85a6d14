// Reads lines such as "PROJECT STATE: Skein: OD-523done OD-524~waits OD-525->write tests".
#include "skein/work_sessions.h"
#include "work/item_view.h"

namespace skein {
namespace {

constexpr std::string_view kSpace = " \t\r\n";

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(kSpace);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

struct Key {
  std::size_t at = std::string_view::npos;  // npos: there is none
  std::size_t length = 0;
};

// The first issue key of the text that begins a word.
Key find_key(std::string_view text) {
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (at > 0 && kSpace.find(text[at - 1]) == std::string_view::npos) continue;
    if (const std::size_t length = issue_key_length(text.substr(at)); length > 0) {
      return {at, length};
    }
  }
  return {};
}

// What stands behind a key, up to the next one.
void add_entry(ProjectState& state, std::string_view key, std::string_view rest) {
  rest = trimmed(rest);
  if (rest.starts_with("done")) {
    state.done.emplace_back(key);
    rest = trimmed(rest.substr(4));
    if (rest.empty()) return;
  }
  if (rest.starts_with("->")) {
    state.next.push_back({std::string(key), std::string(trimmed(rest.substr(2)))});
  } else {
    if (rest.starts_with('~')) rest = trimmed(rest.substr(1));
    state.notes.push_back({std::string(key), std::string(rest)});
  }
}

}  // namespace

std::optional<ProjectState> parse_project_state(std::string_view text) {
  std::string_view rest = trimmed(text);
  if (!rest.starts_with(kProjectStatePrefix)) return std::nullopt;
  ProjectState state;
  state.text = std::string(rest);
  rest.remove_prefix(kProjectStatePrefix.size());

  Key key = find_key(rest);
  std::string_view name = trimmed(rest.substr(0, key.at));
  if (name.ends_with(':')) name.remove_suffix(1);
  state.project = std::string(trimmed(name));
  while (key.at != std::string_view::npos) {
    const std::string_view word = rest.substr(key.at, key.length);
    rest.remove_prefix(key.at + key.length);
    key = find_key(rest);
    add_entry(state, word, rest.substr(0, key.at));
  }
  return state;
}

}  // namespace skein
