// Which project an item belongs to. The file does not say; the notes in the store do, and an item
// of which nothing is noted belongs to the project of its workspace.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "work/item_formats.h"
#include "work/item_merge.h"
#include "work/item_notes.h"

namespace skein {

bool belongs_to(const WorkItem& item, const NotesById& notes, std::string_view project,
                const WorkPlace& place);
std::string project_of(const WorkItem& item, const NotesById& notes, const WorkPlace& place);

// Looks the project of an item up when it is asked for. One that cannot be looked up is alone in
// its own. Borrows its arguments.
ProjectOf project_lookup(Store& store, const WorkPlace& place);

// Those of the items that belong to the project.
Result<std::vector<WorkItem>> items_of_project(Store& store, const std::vector<WorkItem>& items,
                                               const std::string& project, const WorkPlace& place);

// As it is in `project`, if it belongs to several.
ItemDetails details_of(const WorkItem& item, const NotesById& notes,
                       const std::optional<std::string>& project, const WorkPlace& place,
                       Timestamp now);

// Notes the project of items of which nothing is noted in it, so that other places know it.
Result<void> note_project(Store& store, const std::string& project,
                          const std::vector<WorkItem>& items);

// kConflict, if an open item of the project among those shown says nearly the same.
Result<void> refuse_duplicate(Store& store, const WorkPlace& place, const std::string& project,
                              std::vector<WorkItem> shown, const WorkItem& wanted);

}  // namespace skein
