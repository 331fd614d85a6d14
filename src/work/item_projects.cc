#include "work/item_projects.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "core/quote.h"
#include "core/try.h"
#include "work/item_view.h"

namespace skein {
namespace {

const ItemNotes* notes_in(const WorkItem& item, const NotesById& notes,
                          const std::optional<std::string>& project) {
  const auto found = notes.find(item.id);
  if (found == notes.end()) return nullptr;
  for (const ItemNotes& one : found->second) {
    if (!project || one.project == *project) return &one;
  }
  return nullptr;
}

}  // namespace

bool belongs_to(const WorkItem& item, const NotesById& notes, std::string_view project,
                const WorkPlace& place) {
  if (notes_in(item, notes, std::nullopt) == nullptr) return place.project == project;
  return notes_in(item, notes, std::string(project)) != nullptr;
}

std::string project_of(const WorkItem& item, const NotesById& notes, const WorkPlace& place) {
  const ItemNotes* own = notes_in(item, notes, place.project);
  const ItemNotes* any = own != nullptr ? own : notes_in(item, notes, std::nullopt);
  return any != nullptr ? any->project : place.project;
}

ProjectOf project_lookup(Store& store, const WorkPlace& place) {
  return [&store, &place](const WorkItem& item) {
    const auto notes = read_notes(store, std::span(&item, 1));
    return notes ? project_of(item, *notes, place) : item.id;
  };
}

Result<std::vector<WorkItem>> items_of_project(Store& store, const std::vector<WorkItem>& items,
                                               const std::string& project, const WorkPlace& place) {
  SKEIN_ASSIGN(const NotesById notes, read_notes(store, items));
  std::vector<WorkItem> own;
  for (const WorkItem& item : items) {
    if (belongs_to(item, notes, project, place)) own.push_back(item);
  }
  return own;
}

ItemDetails details_of(const WorkItem& item, const NotesById& notes,
                       const std::optional<std::string>& project, const WorkPlace& place,
                       Timestamp now) {
  ItemDetails details;
  details.project = project.value_or(project_of(item, notes, place));
  const ItemNotes* noted = notes_in(item, notes, details.project);
  details.vitality = vitality_of(item, noted, now);
  if (noted != nullptr) {
    details.opened_by = noted->opened_by;
    details.closed_by = noted->closed_by;
  }
  return details;
}

Result<void> note_project(Store& store, const std::string& project,
                          const std::vector<WorkItem>& items) {
  SKEIN_ASSIGN(const NotesById notes, read_notes(store, items));
  std::vector<std::string> missing;
  std::map<std::string, Timestamp> created;
  for (const WorkItem& item : items) {
    if (notes_in(item, notes, project) != nullptr) continue;
    missing.push_back(item.id);
    created[item.id] = item.created_at;
  }
  return change_notes(store, project, missing, [&created](ItemNotes& note) {
    if (note.touches == 0) touch(note, created[note.id]);
  });
}

Result<void> refuse_duplicate(Store& store, const WorkPlace& place, const std::string& project,
                              std::vector<WorkItem> shown, const WorkItem& wanted) {
  if (is_project_state(wanted)) return {};
  Result<void> looked_up;
  const auto is_of_project = [&](const WorkItem& item) {
    const auto notes = read_notes(store, std::span(&item, 1));
    if (!notes) looked_up = tl::unexpected(notes.error());
    return !notes || belongs_to(item, *notes, project, place);
  };
  const ItemWording wording(wanted.text, wanted.linear_issue);
  // Issues of others can only be in common with keys of its own.
  if (wording.has_keys()) add_issues(store, shown);
  const OpenWordings open(shown);
  const WorkItem* const alike = open.find(wording, wanted.text, is_of_project);
  SKEIN_TRY(looked_up);
  if (alike == nullptr) return {};
  return fail(ErrorCode::kConflict,
              fmt::format("{} is open and says nearly the same: {}; allow_duplicate creates "
                          "another one",
                          alike->id, quote(alike->text, limits::kMaxItemTextBytes)));
}

}  // namespace skein
