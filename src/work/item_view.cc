#include "work/item_view.h"

#include <algorithm>
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
  std::unordered_map<std::string, std::vector<std::size_t>> seen;  // by text and deed
  for (const WorkItem& item : items) {
    if (is_project_state(item)) continue;
    const std::string deed =
        item.status == ItemStatus::kOpen ? "open" : std::to_string(item.resolved_at.us);
    std::vector<std::size_t>& alike = seen[deed + " " + text_key(item.text)];
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

OpenWordings::OpenWordings(const std::vector<WorkItem>& shown) {
  for (const WorkItem& item : shown) add(item);
}

void OpenWordings::add(const WorkItem& item) {
  if (item.status != ItemStatus::kOpen || is_project_state(item)) return;
  open_.push_back({item, text_key(item.text), ItemWording(item.text)});
}

const WorkItem* OpenWordings::find(std::string_view text, const Accept& accept) const {
  const auto accepted = [&accept](const Entry& entry) { return !accept || accept(entry.item); };
  const std::string key = text_key(text);
  for (const Entry& entry : open_) {
    if (entry.key == key && accepted(entry)) return &entry.item;
  }
  const ItemWording wording(text);
  for (const Entry& entry : open_) {
    if (wording.is_like(entry.wording) && accepted(entry)) return &entry.item;
  }
  return nullptr;
}

}  // namespace skein
