// What the store knows of an item, besides what is in the file.
#pragma once

#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "skein/work_items.h"

namespace skein {

// An item is noted once for each project that it belongs to, usually one.
struct ItemNotes {
  std::string id;
  std::string project;
  ItemLinks opened_by;
  ItemLinks closed_by;
  std::string linear_issue;
  double heat = 0;  // as of touched_at
  Timestamp touched_at;
  std::uint64_t touches = 0;
};

// Adds a touch.
void touch(ItemNotes& notes, Timestamp now);

// Of an item of which nothing is noted, `notes` is null: its creation counts as its only touch.
Vitality vitality_of(const WorkItem& item, const ItemNotes* notes, Timestamp now);

Result<void> check_links(const ItemLinks& links);
Result<void> check_issue(const std::string& issue);

using NotesById = std::map<std::string, std::vector<ItemNotes>, std::less<>>;

// What is noted of these items, in whatever projects.
Result<NotesById> read_notes(Store& store, std::span<const WorkItem> items);

// Sets the issues of the items. What cannot be read has none.
void add_issues(Store& store, std::span<WorkItem> items);
// The same of notes that were read; empty, if none has one.
std::string issue_in(const NotesById& notes, const std::string& id);

// Changes what is noted of the items in the project, making notes where there are none, in one
// write; again, if somebody else wrote at the same time.
Result<void> change_notes(Store& store, const std::string& project, std::vector<std::string> ids,
                          const std::function<void(ItemNotes&)>& change);

// The ids of items that link to all of these.
Result<std::vector<std::string>> linked_items(Store& store, const ItemLinks& links);

}  // namespace skein
