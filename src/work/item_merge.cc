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

// Items of one text.
struct Alike {
  std::vector<WorkItem*> open;
  std::vector<WorkItem*> resolved;
};

// Each open item takes the first resolution after its creation in its project. Every item is looked
// at once: a list from elsewhere may have any number with one text.
void resolve_alike(const Alike& alike, const ProjectOf& project_of) {
  std::map<std::string, std::vector<WorkItem*>> by_project;
  const auto project = [&](const WorkItem& item) {
    return project_of ? project_of(item) : std::string();
  };
  for (WorkItem* item : alike.resolved) by_project[project(*item)].push_back(item);
  for (auto& [name, resolved] : by_project) {
    std::sort(resolved.begin(), resolved.end(),
              [](const WorkItem* a, const WorkItem* b) { return resolved_earlier(*a, *b); });
  }
  for (WorkItem* item : alike.open) {
    const auto found = by_project.find(project(*item));
    if (found == by_project.end()) continue;
    const auto first = std::upper_bound(
        found->second.begin(), found->second.end(), item->created_at,
        [](Timestamp created, const WorkItem* by) { return created < by->resolved_at; });
    if (first != found->second.end()) take_resolution(*item, **first);
  }
}

void resolve_equal_texts(std::vector<WorkItem>& items, const ProjectOf& project_of) {
  std::unordered_map<std::string, Alike> by_text;
  for (WorkItem& item : items) {
    if (item.status == ItemStatus::kResolved && item.resolved_at.is_set()) {
      by_text[text_key(item.text)].resolved.push_back(&item);
    }
  }
  if (by_text.empty()) return;
  for (WorkItem& item : items) {
    if (item.status == ItemStatus::kResolved) continue;
    const auto found = by_text.find(text_key(item.text));
    if (found != by_text.end()) found->second.open.push_back(&item);
  }
  for (const auto& [text, alike] : by_text) {
    if (!alike.open.empty()) resolve_alike(alike, project_of);
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

namespace {

// Neighbours first, then what came of them: an item with notes of all the others is written a few
// times only, however many there are.
WorkItem join_all(std::vector<WorkItem> items) {
  while (items.size() > 1) {
    for (std::size_t i = 0; i + 1 < items.size(); i += 2) {
      items[i / 2] = join(items[i], items[i + 1]);
    }
    if (items.size() % 2 == 1) items[items.size() / 2] = std::move(items.back());
    items.resize((items.size() + 1) / 2);
  }
  return std::move(items.front());
}

}  // namespace

void join_equal_ids(std::vector<WorkItem>& items) {
  std::vector<std::vector<WorkItem>> by_id;
  std::unordered_map<std::string, std::size_t> place_of_id;
  for (WorkItem& item : items) {
    const auto [place, is_new] = place_of_id.emplace(item.id, by_id.size());
    if (is_new) by_id.emplace_back();
    by_id[place->second].push_back(std::move(item));
  }
  std::vector<WorkItem> joined;
  joined.reserve(by_id.size());
  for (std::vector<WorkItem>& same : by_id) joined.push_back(join_all(std::move(same)));
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
