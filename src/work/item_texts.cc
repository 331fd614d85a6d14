#include "work/item_texts.h"

#include <algorithm>
#include <set>

#include "core/json_array.h"
#include "core/json_object.h"
#include "core/text.h"

namespace skein {
namespace {

bool is_hex(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); }

// The values of the notes of an object of unknown fields. What is no array is one value.
std::set<std::string> notes_of(const Json& extra) {
  std::set<std::string> notes;
  if (extra.empty()) return notes;
  JsonObjectReader reader;
  std::vector<JsonMember> members;
  reader.read(extra.text(), members);
  for (const JsonMember& member : members) {
    if (member.name != kNotesField) continue;
    if (!member.value.starts_with('[')) notes.emplace(member.value);
    for (const RawJson value : json_elements(member.value)) notes.emplace(value);
  }
  return notes;
}

std::string array_of(const std::set<std::string>& values) {
  return json_array_of(std::vector<std::string>(values.begin(), values.end()));
}

}  // namespace

std::string_view without_stale_id(std::string_view text) {
  if (!text.starts_with("t-")) return text;
  std::size_t end = 2;
  while (end < text.size() && is_hex(text[end])) ++end;
  constexpr std::size_t kFewestDigits = 6;  // fewer may be a word: "t-bed: …"
  if (end < 2 + kFewestDigits || end >= text.size() || text[end] != ':') return text;
  const std::size_t begin = text.find_first_not_of(" \t\r\n", end + 1);
  return begin == std::string_view::npos ? text : text.substr(begin);
}

std::string text_key(std::string_view text) {
  const std::string folded = fold_text(text);
  std::string_view key = without_stale_id(folded);
  const auto drop = [&key](std::string_view end) {
    const bool found = key.ends_with(end);
    if (found) key.remove_suffix(end.size());
    return found;
  };
  while (drop(".") || drop("!") || drop("?") || drop(";") || drop(":") || drop(",") || drop(" ") ||
         drop("。") || drop("！") || drop("？")) {
  }
  return key.empty() ? folded : std::string(key);
}

std::vector<std::string> notes_of(const WorkItem& item) {
  std::vector<std::string> texts;
  for (const std::string& note : notes_of(item.extra)) {
    if (auto text = json_to_string(note)) texts.push_back(*std::move(text));
  }
  return texts;
}

void add_note(WorkItem& item, std::string_view text) {
  std::set<std::string> notes = notes_of(item.extra);
  if (text_key(item.text) == text_key(text) || !notes.insert(Json::string(text).text()).second) {
    return;
  }
  JsonObject changed;
  JsonObjectReader reader;
  std::vector<JsonMember> members;
  if (!item.extra.empty()) reader.read(item.extra.text(), members);
  for (const JsonMember& member : members) {
    if (member.name != kNotesField) changed.add_json(member.name, member.value);
  }
  changed.add_json(kNotesField, array_of(notes));
  item.extra = Json::trusted(changed.str());
}

std::string joined_notes(const WorkItem& a, const WorkItem& b, std::string_view text) {
  std::set<std::string> notes = notes_of(a.extra);
  notes.merge(notes_of(b.extra));
  notes.insert(Json::string(a.text).text());
  notes.insert(Json::string(b.text).text());
  notes.erase(Json::string(text).text());
  return notes.empty() ? "" : array_of(notes);
}

}  // namespace skein
