#include "work/item_merge.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>

#include "core/json_object.h"
#include "work/item_texts.h"

namespace skein {
namespace {

bool said_earlier(const WorkItem& a, const WorkItem& b) {
  // Of texts of the same time the longer one says more.
  const auto written = [](const WorkItem& item) {
    return std::pair(item.created_at_written.empty(), std::string_view(item.created_at_written));
  };
  return std::tuple(a.created_at, b.text.size(), std::string_view(a.text), written(a)) <
         std::tuple(b.created_at, a.text.size(), std::string_view(b.text), written(b));
}

// Known before unknown.
auto rank(const std::optional<std::string>& text) {
  return std::pair(!text.has_value(), std::string_view(text ? *text : std::string_view()));
}

bool resolved_earlier(const WorkItem& a, const WorkItem& b) {
  const auto key = [](const WorkItem& item) {
    return std::tuple(item.status == ItemStatus::kOpen, !item.resolved_at.is_set(),
                      item.resolved_at, rank(item.resolved_by_session), rank(item.resolution_note),
                      item.resolved_at_written.empty(), std::string_view(item.resolved_at_written));
  };
  return key(a) < key(b);
}

void take_resolution(WorkItem& item, const WorkItem& from) {
  item.status = from.status;
  item.resolved_at = from.resolved_at;
  item.resolved_at_written = from.resolved_at_written;
  item.resolved_by_session = from.resolved_by_session;
  item.resolution_note = from.resolution_note;
}

// Which of two lists came first must not show: by name, and of two values for one name the one
// whose text sorts first. The notes are given.
Json join_fields(const Json& a, const Json& b, const std::string& notes) {
  std::map<std::string, std::string> values;
  JsonObjectReader reader;
  std::vector<JsonMember> members;
  for (const Json* object : {&a, &b}) {
    members.clear();
    if (!object->empty()) reader.read(object->text(), members);
    for (const JsonMember& member : members) {
      if (member.name == kNotesField) continue;
      const auto [known, is_new] =
          values.emplace(std::string(member.name), std::string(member.value));
      if (!is_new && member.value < known->second) known->second = std::string(member.value);
    }
  }
  if (!notes.empty()) values.emplace(kNotesField, notes);
  if (values.empty()) return {};
  JsonObject joined;
  for (const auto& [name, value] : values) joined.add_json(name, value);
  return Json::trusted(joined.str());
}

void resolve_equal_texts(std::vector<WorkItem>& items, const ProjectOf& project_of) {
  std::unordered_map<std::string, std::vector<std::size_t>> resolved_by_text;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (items[i].status == ItemStatus::kResolved && items[i].resolved_at.is_set()) {
      resolved_by_text[text_key(items[i].text)].push_back(i);
    }
  }
  if (resolved_by_text.empty()) return;
  for (WorkItem& item : items) {
    if (item.status == ItemStatus::kResolved) continue;
    const auto found = resolved_by_text.find(text_key(item.text));
    if (found == resolved_by_text.end()) continue;
    const WorkItem* first = nullptr;
    for (const std::size_t i : found->second) {
      const bool applies = item.created_at < items[i].resolved_at &&
                           (!project_of || project_of(items[i]) == project_of(item));
      if (applies && (first == nullptr || resolved_earlier(items[i], *first))) first = &items[i];
    }
    if (first != nullptr) take_resolution(item, *first);
  }
}

// As they came, unless both have some: then by their text.
void join_others(std::vector<Json>& others, const std::vector<Json>& more) {
  if (more.empty() || others == more) return;
  const bool both = !others.empty();
  others.insert(others.end(), more.begin(), more.end());
  if (!both) return;
  std::sort(others.begin(), others.end(),
            [](const Json& a, const Json& b) { return a.text() < b.text(); });
  others.erase(std::unique(others.begin(), others.end()), others.end());
}

}  // namespace

WorkItem join(const WorkItem& a, const WorkItem& b) {
  WorkItem item = said_earlier(b, a) ? b : a;
  item.source_session =
      rank(b.source_session) < rank(a.source_session) ? b.source_session : a.source_session;
  take_resolution(item, resolved_earlier(b, a) ? b : a);
  // As they came, unless the two have different ones.
  const bool same_fields = a.text == b.text && (a.extra == b.extra || b.extra.empty());
  if (same_fields) {
    item.extra = a.extra;
  } else if (a.text == b.text && a.extra.empty()) {
    item.extra = b.extra;
  } else {
    item.extra = join_fields(a.extra, b.extra, joined_notes(a, b, item.text));
  }
  return item;
}

void join_equal_ids(std::vector<WorkItem>& items) {
  std::vector<WorkItem> joined;
  joined.reserve(items.size());
  std::unordered_map<std::string, std::size_t> place_of_id;
  for (WorkItem& item : items) {
    const auto [place, is_new] = place_of_id.emplace(item.id, joined.size());
    if (is_new) {
      joined.push_back(std::move(item));
    } else {
      joined[place->second] = join(joined[place->second], item);
    }
  }
  std::sort(joined.begin(), joined.end(), [](const WorkItem& a, const WorkItem& b) {
    return std::tie(a.created_at, a.id) < std::tie(b.created_at, b.id);
  });
  items = std::move(joined);
}

ItemList merge(ItemList a, const ItemList& b, const ProjectOf& project_of) {
  a.items.insert(a.items.end(), b.items.begin(), b.items.end());
  join_equal_ids(a.items);
  resolve_equal_texts(a.items, project_of);
  join_others(a.others, b.others);
  return a;
}

}  // namespace skein
