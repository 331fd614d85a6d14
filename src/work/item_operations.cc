#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "core/json.h"
#include "core/quote.h"
#include "core/text.h"
#include "core/try.h"
#include "work/item_file.h"
#include "work/item_merge.h"
#include "work/item_projects.h"
#include "work/item_rules.h"
#include "work/item_view.h"
#include "work/session_records.h"
#include "work/session_repository.h"

namespace skein {
namespace {

// The session that a deed belongs to, its project, and what it has to do with, where it is known.
struct Deed {
  std::optional<std::string> session;
  std::optional<std::string> project;
  ItemLinks links;
};

Result<Deed> deed_of(Store& store, const WorkPlace& place,
                     const std::optional<std::string>& session_id, const ItemLinks& links) {
  SKEIN_TRY(check_links(links));
  Deed deed{session_id, std::nullopt, links};
  if (session_id) {
    SKEIN_TRY(check_session_id(*session_id));
    SKEIN_ASSIGN(const auto session, read_session(store, *session_id));
    if (session) deed.project = session->session.project;
  } else {
    SKEIN_ASSIGN(const auto newest, newest_open_session(store, place));
    if (newest) {
      deed.session = newest->id;
      deed.project = newest->project;
    }
  }
  if (deed.links.commit.empty()) deed.links.commit = head_commit(place.checked_out());
  return deed;
}

Result<const WorkItem*> find_by_text(const std::vector<WorkItem>& shown, const std::string& text) {
  const std::string wanted = fold_text(text);
  if (wanted.empty()) return fail(ErrorCode::kInvalid, "text_match must not be blank");
  std::vector<const WorkItem*> found;
  for (const WorkItem& item : shown) {
    if (item.status != ItemStatus::kOpen) continue;
    const std::string folded = fold_text(item.text);
    if (folded == wanted) return &item;
    if (folded.find(wanted) != std::string::npos) found.push_back(&item);
  }
  if (found.size() == 1) return found[0];
  if (found.empty()) return fail(ErrorCode::kNotFound, "no open item contains " + quote(text));
  constexpr std::size_t kNamed = 5;
  std::string named;
  for (std::size_t i = 0; i < std::min(found.size(), kNamed); ++i) {
    named += fmt::format("{}{} {}", i > 0 ? ", " : "", found[i]->id, quote(found[i]->text));
  }
  if (found.size() > kNamed) named += fmt::format(" and {} more", found.size() - kNamed);
  return fail(ErrorCode::kInvalid, fmt::format("{} is in {} open items, name one by its id: {}",
                                               quote(text), found.size(), named));
}

Result<WorkItem*> find_by_id(ItemList& list, std::string_view id) {
  for (WorkItem& item : list.items) {
    if (item.id == id) return &item;
  }
  return fail(ErrorCode::kNotFound, "there is no item " + quote(id));
}

Result<WorkItem*> find_item(ItemList& list, const ResolveItem& request,
                            const ProjectOf& project_of) {
  if (request.id) return find_by_id(list, *request.id);
  const std::vector<WorkItem> shown = shown_items(list.items, project_of);
  SKEIN_ASSIGN(const WorkItem* item, find_by_text(shown, *request.text_match));
  return find_by_id(list, item->id);
}

bool is_wanted(const WorkItem& item, const ListItems& request, Timestamp now) {
  if (item.status == request.status.value_or(ItemStatus::kOpen)) return true;
  return request.include_resolved && item.status == ItemStatus::kResolved &&
         item.resolved_at.is_set() && item.resolved_at.us >= now.us - kCarriedUs;
}

}  // namespace

Result<WorkItem> WorkItems::create(const CreateItem& request) {
  SKEIN_TRY(check_item_text("text of an item", request.text));
  if (request.project) SKEIN_TRY(check_project(*request.project));
  SKEIN_ASSIGN(const Deed deed, deed_of(store_, place_, request.session_id, request.opened_by));
  const std::string project = request.project.value_or(deed.project.value_or(place_.project));
  const ProjectOf project_of = project_lookup(store_, place_);
  WorkItem item;
  const auto add = [&](ItemList& list) -> Result<void> {
    if (!request.allow_duplicate) {
      SKEIN_TRY(refuse_duplicate(store_, place_, project, shown_items(list.items, project_of),
                                 request.text));
    }
    item = new_item(list, request.text, clock_.now(), ids_);
    item.source_session = deed.session;
    SKEIN_TRY(change_notes(store_, project, {item.id}, [&](ItemNotes& notes) {
      touch(notes, item.created_at);
      notes.opened_by = deed.links;
    }));
    list = merge(std::move(list), {{item}, {}}, project_of);
    return {};
  };
  SKEIN_TRY(ItemFile(place_.folder).update(add, limits::kItemListRoomBytes));
  return item;
}

Result<ItemListing> WorkItems::list(const ListItems& request) {
  if (request.project) SKEIN_TRY(check_project(*request.project));
  SKEIN_ASSIGN(ItemList list, ItemFile(place_.folder).read());
  const ProjectOf project_of = project_lookup(store_, place_);
  list = merge(std::move(list), {}, project_of);
  std::vector<WorkItem> shown = shown_items(list.items, project_of);
  const ItemTotals totals = count_items(shown);
  ItemListing listing{.items = {}, .total_open = totals.open, .total_resolved = totals.resolved};

  const Timestamp now = clock_.now();
  std::erase_if(shown, [&](const WorkItem& item) { return !is_wanted(item, request, now); });
  if (!request.linked_to.empty()) {
    SKEIN_ASSIGN(const auto linked, linked_items(store_, request.linked_to));
    const std::unordered_set<std::string> ids(linked.begin(), linked.end());
    std::erase_if(shown, [&](const WorkItem& item) { return !ids.contains(item.id); });
  }
  NotesById notes;
  if (request.project || request.with_details) {
    SKEIN_ASSIGN(notes, read_notes(store_, shown));
  }
  for (WorkItem& item : shown) {
    if (request.project && !belongs_to(item, notes, *request.project, place_)) continue;
    ListedItem& listed = listing.items.emplace_back();
    if (request.with_details) {
      listed.details = details_of(item, notes, request.project, place_, now);
    }
    listed.item = std::move(item);
  }
  return listing;
}

Result<WorkItem> WorkItems::resolve(const ResolveItem& request) {
  if (request.id.has_value() == request.text_match.has_value()) {
    return fail(ErrorCode::kInvalid, "name an item by its id or by a text, one of the two");
  }
  if (request.id) SKEIN_TRY(check_item_id(*request.id));
  if (request.resolution_note) {
    SKEIN_TRY(check_item_text("resolution_note", *request.resolution_note));
  }
  SKEIN_ASSIGN(const Deed deed, deed_of(store_, place_, request.session_id, request.closed_by));
  const ProjectOf project_of = project_lookup(store_, place_);
  WorkItem resolved;
  SKEIN_TRY(ItemFile(place_.folder).update([&](ItemList& list) -> Result<void> {
    list = merge(std::move(list), {}, project_of);
    SKEIN_ASSIGN(WorkItem * item, find_item(list, request, project_of));
    resolved = *item;
    if (item->status == ItemStatus::kResolved) return {};
    item->status = ItemStatus::kResolved;
    item->resolved_at = resolution_time(list, item->text, clock_.now());
    item->resolved_by_session = deed.session;
    item->resolution_note = request.resolution_note;
    resolved = *item;
    list = merge(std::move(list), {}, project_of);
    if (deed.links.empty()) return {};
    return change_notes(store_, project_of(resolved), {resolved.id}, [&](ItemNotes& note) {
      touch(note, resolved.resolved_at);
      note.closed_by = deed.links;
    });
  }));
  return resolved;
}

Result<ListedItem> WorkItems::show(std::string_view id) {
  SKEIN_TRY(check_item_id(id));
  SKEIN_ASSIGN(ItemList list, ItemFile(place_.folder).read());
  list = merge(std::move(list), {}, project_lookup(store_, place_));
  SKEIN_ASSIGN(WorkItem * item, find_by_id(list, id));
  SKEIN_ASSIGN(const NotesById notes, read_notes(store_, std::span(item, 1)));
  return ListedItem{*item, details_of(*item, notes, std::nullopt, place_, clock_.now())};
}

Result<std::size_t> WorkItems::import(std::string_view json,
                                      const std::optional<std::string>& project, bool dry_run) {
  if (project) SKEIN_TRY(check_project(*project));
  SKEIN_TRY(validate_json(json, "a list of items", kMaxDocumentDepth + 1));
  if (!trim_json(json).starts_with('[')) {
    return fail(ErrorCode::kInvalid, "a list of items must be a JSON array, got " + quote(json));
  }
  const ItemList imported = read_items(json, clock_.now());
  std::vector<std::string> added;
  SKEIN_TRY(ItemFile(place_.folder).update([&](ItemList& list) -> Result<void> {
    std::unordered_set<std::string> known;
    for (const WorkItem& item : list.items) known.insert(item.id);
    for (const WorkItem& item : imported.items) {
      if (!known.contains(item.id)) added.push_back(item.id);
    }
    if (dry_run) return {};
    SKEIN_TRY(note_project(store_, project.value_or(place_.project), imported.items));
    list = merge(std::move(list), imported, project_lookup(store_, place_));
    return {};
  }));
  return added.size();
}

}  // namespace skein
