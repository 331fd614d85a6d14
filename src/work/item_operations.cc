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
#include "work/item_select.h"
#include "work/item_texts.h"
#include "work/item_view.h"
#include "work/named_session.h"
#include "work/session_records.h"
#include "work/session_repository.h"

namespace skein {
namespace {

// The session that a deed belongs to, and what it has to do with.
struct Deed {
  NamedSession session;
  ItemLinks links;
};

// `request` is a CreateItem or ResolveItem.
Result<Deed> deed_of(Store& store, const WorkPlace& place, const auto& request,
                     const ItemLinks& links) {
  SKEIN_TRY(check_links(links));
  Deed deed{{}, links};
  SKEIN_ASSIGN(deed.session, find_named_session(store, place, request.session_id,
                                                request.session_may_be_unknown));
  if (deed.links.commit.empty()) deed.links.commit = head_commit(place.checked_out());
  return deed;
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
  SKEIN_TRY(check_issue(request.linear_issue));
  WorkItem wanted;
  wanted.text = unwrapped_text(request.text);
  wanted.linear_issue = request.linear_issue;
  SKEIN_ASSIGN(const Deed deed, deed_of(store_, place_, request, request.opened_by));
  const std::string project =
      request.project.value_or(deed.session.project.value_or(place_.project));
  const ProjectOf project_of = project_lookup(store_, place_);
  WorkItem item;
  const auto add = [&](ItemList& list) -> Result<void> {
    if (!request.allow_duplicate) {
      SKEIN_TRY(
          refuse_duplicate(store_, place_, project, shown_items(list.items, project_of), wanted));
    }
    item = new_item(list, wanted.text, clock_.now(), ids_);
    item.source_session = deed.session.id;
    SKEIN_TRY(change_notes(store_, project, {item.id}, [&](ItemNotes& notes) {
      touch(notes, item.created_at);
      notes.opened_by = deed.links;
      notes.linear_issue = wanted.linear_issue;
    }));
    list = merge(std::move(list), {{item}, {}}, project_of);
    return {};
  };
  SKEIN_TRY(ItemFile(place_.folder).update(add, limits::kItemListRoomBytes));
  item.linear_issue = wanted.linear_issue;
  return item;
}

Result<ItemListing> WorkItems::list(const ListItems& request) {
  if (request.project) SKEIN_TRY(check_project(*request.project));
  SKEIN_ASSIGN(ItemList list, ItemFile(place_.folder).read());
  const ProjectOf project_of = project_lookup(store_, place_);
  list = merge(std::move(list), {}, project_of);
  std::vector<WorkItem> shown = shown_items(list.items, project_of);
  ItemListing listing;
  listing.project = request.project;
  if (!listing.project && request.of_session) {
    SKEIN_ASSIGN(NamedSession session, find_named_session(store_, place_, request.session_id,
                                                          request.session_may_be_unknown));
    listing.project = std::move(session.project);
  }
  SKEIN_ASSIGN(const NotesById notes, read_notes(store_, shown));
  if (listing.project) {
    std::erase_if(shown, [&](const WorkItem& item) {
      return !belongs_to(item, notes, *listing.project, place_);
    });
  }
  const ItemTotals totals = count_items(shown);
  listing.total_open = totals.open;
  listing.total_resolved = totals.resolved;

  const Timestamp now = clock_.now();
  std::erase_if(shown, [&](const WorkItem& item) { return !is_wanted(item, request, now); });
  if (!request.linked_to.empty()) {
    SKEIN_ASSIGN(const auto linked, linked_items(store_, request.linked_to));
    const std::unordered_set<std::string> ids(linked.begin(), linked.end());
    std::erase_if(shown, [&ids](const WorkItem& item) { return !ids.contains(item.id); });
  }
  for (WorkItem& item : shown) {
    ListedItem& listed = listing.items.emplace_back();
    if (request.with_details) {
      listed.details = details_of(item, notes, listing.project, place_, now);
    }
    listed.item = std::move(item);
    listed.item.linear_issue = issue_in(notes, listed.item.id);
  }
  return listing;
}

Result<WorkItem> WorkItems::resolve(const ResolveItem& request,
                                    std::vector<WorkItem>* also_resolved) {
  SKEIN_TRY(check_selection(request));
  if (request.resolution_note) {
    SKEIN_TRY(check_item_text("resolution_note", *request.resolution_note));
  }
  if (request.project) SKEIN_TRY(check_project(*request.project));
  SKEIN_ASSIGN(const Deed deed, deed_of(store_, place_, request, request.closed_by));
  const bool of_session = !request.project && !request.all_projects;
  const auto& project = of_session ? deed.session.project : request.project;
  const ProjectOf project_of = project_lookup(store_, place_);
  WorkItem resolved;
  const auto close = [&](ItemList& list, WorkItem& item, std::optional<std::string> note) {
    resolve_in(list, item, clock_.now(), deed.session.id, std::move(note));
    resolved = item;
    list = merge(std::move(list), {}, project_of);
    if (deed.links.empty()) return Result<void>{};
    return change_notes(store_, project_of(resolved), {resolved.id}, [&](ItemNotes& notes) {
      touch(notes, resolved.resolved_at);
      notes.closed_by = deed.links;
    });
  };
  SKEIN_TRY(ItemFile(place_.folder).update([&](ItemList& list) -> Result<void> {
    list = merge(std::move(list), {}, project_of);
    SKEIN_ASSIGN(WorkItem * item,
                 select_item(store_, place_, list, request, project, clock_.now()));
    resolved = *item;
    if (item->status == ItemStatus::kResolved) return {};
    SKEIN_TRY(close(list, *item, request.resolution_note));
    WorkItem* const original = open_original(list, resolved);
    if (original == nullptr) return {};
    const WorkItem first = resolved;
    SKEIN_TRY(close(list, *original, duplicate_note(first.id)));
    if (also_resolved != nullptr) also_resolved->push_back(resolved);
    resolved = first;
    return {};
  }));
  add_issues(store_, std::span(&resolved, 1));
  if (also_resolved != nullptr) add_issues(store_, *also_resolved);
  return resolved;
}

Result<ListedItem> WorkItems::show(std::string_view id) {
  SKEIN_TRY(check_item_id(id));
  SKEIN_ASSIGN(ItemList list, ItemFile(place_.folder).read());
  list = merge(std::move(list), {}, project_lookup(store_, place_));
  SKEIN_ASSIGN(WorkItem * item, find_item(list, id));
  SKEIN_ASSIGN(const NotesById notes, read_notes(store_, std::span(item, 1)));
  item->linear_issue = issue_in(notes, item->id);
  return ListedItem{*item, details_of(*item, notes, std::nullopt, place_, clock_.now())};
}

Result<std::size_t> WorkItems::import(std::string_view json,
                                      const std::optional<std::string>& project, bool dry_run) {
  if (project) SKEIN_TRY(check_project(*project));
  SKEIN_TRY(validate_json(json, "a list of items", kMaxDocumentDepth + 1));
  if (!trim_json(json).starts_with('[')) {
    return fail(ErrorCode::kInvalid, "a list of items must be a JSON array, got " + quote(json));
  }
  std::vector<std::string> given_ids;
  ItemList imported = read_items(json, clock_.now(), &given_ids);
  const std::string of_project = project.value_or(place_.project);
  std::size_t added = 0;
  SKEIN_TRY(ItemFile(place_.folder).update([&](ItemList& list) -> Result<void> {
    SKEIN_TRY(take_for_known(store_, place_, of_project, list, imported.items, given_ids));
    std::unordered_set<std::string> known;
    for (const WorkItem& item : list.items) known.insert(item.id);
    for (const WorkItem& item : imported.items) added += known.contains(item.id) ? 0 : 1;
    if (dry_run) return {};
    SKEIN_TRY(note_project(store_, of_project, imported.items));
    list = merge(std::move(list), imported, project_lookup(store_, place_));
    return {};
  }));
  return added;
}

}  // namespace skein
