#include "work/item_view.h"

#include <set>
#include <string>
#include <unordered_map>

#include "work/item_texts.h"

namespace skein {

bool is_project_state(const WorkItem& item) {
  std::string_view text = item.text;
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  return begin != std::string_view::npos && text.substr(begin).starts_with(kProjectStatePrefix);
}

std::vector<WorkItem> shown_items(const std::vector<WorkItem>& items, const ProjectOf& project_of) {
  std::vector<WorkItem> shown;
  struct Seen {
    std::size_t first = 0;           // in `shown`
    std::set<std::string> projects;  // empty: nobody has asked for that of the first
  };
  std::unordered_map<std::string, Seen> seen;  // by text and deed
  for (const WorkItem& item : items) {
    if (is_project_state(item)) continue;
    const std::string deed =
        item.status == ItemStatus::kOpen ? "open" : std::to_string(item.resolved_at.us);
    const auto [found, is_new] = seen.try_emplace(deed + " " + text_key(item.text));
    Seen& alike = found->second;
    if (is_new) {
      alike.first = shown.size();
    } else {
      if (!project_of) continue;
      if (alike.projects.empty()) alike.projects.insert(project_of(shown[alike.first]));
      if (!alike.projects.insert(project_of(item)).second) continue;
    }
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

OpenWordings::OpenWordings(const std::vector<WorkItem>& shown) {
  for (const WorkItem& item : shown) add(item);
}

void OpenWordings::add(const WorkItem& item) {
  if (item.status != ItemStatus::kOpen || is_project_state(item)) return;
  open_.push_back({item, text_key(item.text), ItemWording(item.text, item.linear_issue)});
}

const WorkItem* OpenWordings::find(const ItemWording& wording, std::string_view text,
                                   const Accept& accept) const {
  const auto accepted = [&accept](const Entry& entry) { return !accept || accept(entry.item); };
  const std::string key = text_key(text);
  for (const Entry& entry : open_) {
    if (entry.key == key && accepted(entry)) return &entry.item;
  }
  for (const Entry& entry : open_) {
    if (wording.is_like(entry.wording) && accepted(entry)) return &entry.item;
  }
  return nullptr;
}

}  // namespace skein
