#include "work/item_select.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <span>
#include <unordered_map>
#include <unordered_set>

#include "core/quote.h"
#include "core/text.h"
#include "core/try.h"
#include "work/item_merge.h"
#include "work/item_projects.h"
#include "work/item_texts.h"
#include "work/item_view.h"
#include "work/session_records.h"

namespace skein {
namespace {

// The number of "#3"; 0: it is no such text.
std::size_t position_in(std::string_view text) {
  if (text.size() < 2 || text.front() != '#') return 0;
  std::size_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data() + 1, end, number);
  return error == std::errc{} && stop == end ? number : 0;
}

// The open item whose whole text it is, else all that contain it.
std::vector<const WorkItem*> matches(const std::vector<WorkItem>& shown, const std::string& text) {
  const std::string wanted = fold_text(text);
  const std::string key = text_key(text);
  std::vector<const WorkItem*> found;
  for (const WorkItem& item : shown) {
    if (item.status != ItemStatus::kOpen) continue;
    if (text_key(item.text) == key) return {&item};
    if (fold_text(item.text).find(wanted) != std::string::npos) found.push_back(&item);
  }
  return found;
}

Result<const WorkItem*> find_by_text(const std::vector<WorkItem>& shown, const std::string& text) {
  if (fold_text(text).empty()) return fail(ErrorCode::kInvalid, "text_match must not be blank");
  const std::vector<const WorkItem*> found = matches(shown, text);
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

// The items as a list of the project shows them; none: of the whole workspace.
Result<std::vector<WorkItem>> listed_items(Store& store, const WorkPlace& place,
                                           const ItemList& list,
                                           const std::optional<std::string>& project) {
  std::vector<WorkItem> shown = shown_items(list.items, project_lookup(store, place));
  if (!project) return shown;
  return items_of_project(store, shown, *project, place);
}

// The n-th open item as a list shows them; null: there are fewer.
Result<WorkItem*> find_by_position(Store& store, const WorkPlace& place, ItemList& list,
                                   const std::optional<std::string>& project,
                                   std::size_t position) {
  SKEIN_ASSIGN(std::vector<WorkItem> shown, listed_items(store, place, list, project));
  std::erase_if(shown, [](const WorkItem& item) { return item.status != ItemStatus::kOpen; });
  if (position > shown.size()) return nullptr;
  return find_item(list, shown[position - 1].id);
}

Result<WorkItem*> find_here(Store& store, const WorkPlace& place, ItemList& list,
                            const ResolveItem& request, const std::optional<std::string>& project) {
  if (request.id) return find_item(list, *request.id);
  SKEIN_ASSIGN(const std::vector<WorkItem> shown, listed_items(store, place, list, project));
  SKEIN_ASSIGN(const WorkItem* item, find_by_text(shown, *request.text_match));
  return find_item(list, item->id);
}

// Whether these words leave "duplicate of" the statement of the note: "closed as", "this is a". A
// note may also say "not a duplicate of", or speak of another item.
bool only_introduces(std::string_view words) {
  static const std::unordered_set<std::string> kWords = {
      "resolved", "closed", "done", "as", "a", "an", "the", "this", "item", "it", "is", "exact"};
  const auto all = words_of(words);
  return std::all_of(all.begin(), all.end(),
                     [](const std::string& word) { return kWords.contains(word); });
}

// Says where the item is, if it is known: the text in another project, the id in another workspace.
Result<WorkItem*> not_found(Store& store, const WorkPlace& place, const ItemList& list,
                            const ResolveItem& request, const std::optional<std::string>& project,
                            Error error) {
  if (request.id) {
    WorkItem wanted;
    wanted.id = *request.id;
    SKEIN_ASSIGN(const NotesById notes, read_notes(store, std::span(&wanted, 1)));
    if (notes.empty()) return tl::unexpected(std::move(error));
    return fail(ErrorCode::kNotFound,
                fmt::format("{} is an item of project {} that is not in this workspace; closing "
                            "the session that has it brings it here",
                            wanted.id, quote(project_of(wanted, notes, place))));
  }
  if (!project) return tl::unexpected(std::move(error));
  const std::vector<WorkItem> shown = shown_items(list.items, project_lookup(store, place));
  const std::vector<const WorkItem*> others = matches(shown, *request.text_match);
  if (others.empty()) return tl::unexpected(std::move(error));
  SKEIN_ASSIGN(const NotesById notes, read_notes(store, std::span(others[0], 1)));
  return fail(ErrorCode::kNotFound,
              fmt::format("no open item of project {} contains {}; {} of project {} does, name it "
                          "by its id",
                          quote(*project), quote(*request.text_match), others[0]->id,
                          quote(project_of(*others[0], notes, place))));
}

}  // namespace

bool is_item_position(std::string_view text) { return position_in(text) > 0; }

Result<void> check_selection(const ResolveItem& request) {
  if (request.id.has_value() == request.text_match.has_value()) {
    return fail(ErrorCode::kInvalid, "name an item by its id or by a text, one of the two");
  }
  if (!request.id || is_item_position(*request.id)) return {};
  return check_item_id(*request.id);
}

WorkItem* item_with_id(ItemList& list, std::string_view id) {
  for (WorkItem& item : list.items) {
    if (item.id == id) return &item;
  }
  return nullptr;
}

Result<WorkItem*> find_item(ItemList& list, std::string_view id) {
  if (WorkItem* const item = item_with_id(list, id)) return item;
  return fail(ErrorCode::kNotFound, "there is no item " + quote(id));
}

Result<WorkItem*> select_item(Store& store, const WorkPlace& place, ItemList& list,
                              const ResolveItem& request, const std::optional<std::string>& project,
                              Timestamp now) {
  if (const std::size_t position = position_in(request.id ? *request.id : *request.text_match)) {
    SKEIN_ASSIGN(WorkItem * item, find_by_position(store, place, list, project, position));
    if (item != nullptr) return item;
    if (request.id) {
      return fail(ErrorCode::kNotFound,
                  fmt::format("there is no open item {}{}; list them first", *request.id,
                              project ? " in project " + quote(*project) : std::string()));
    }
  }
  auto here = find_here(store, place, list, request, project);
  if (here || here.error().code != ErrorCode::kNotFound) return here;
  const std::string of_project = project.value_or(place.project);
  SKEIN_ASSIGN(const auto closed, read_closed_sessions(store, of_project, now));
  const ItemList carried = carried_items(closed);
  ItemList both = merge(list, carried, project_lookup(store, place));
  if (carried.items.empty() || !find_here(store, place, both, request, project)) {
    return not_found(store, place, both, request, project, std::move(here).error());
  }
  SKEIN_TRY(note_project(store, of_project, carried.items));
  list = std::move(both);
  return find_here(store, place, list, request, project);
}

WorkItem* open_original(ItemList& list, const WorkItem& resolved) {
  constexpr std::string_view kWords = "duplicate of t-";
  const std::string note = fold_text(resolved.resolution_note.value_or(""));
  const std::size_t at = note.find(kWords);
  if (at == std::string::npos || !only_introduces(note.substr(0, at))) return nullptr;
  std::size_t end = at + kWords.size();
  while (end < note.size() && check_item_id("t-" + std::string(1, note[end]))) ++end;
  const std::string_view named =
      std::string_view(note).substr(at + kWords.size() - 2, end - at - kWords.size() + 2);
  for (WorkItem& item : list.items) {
    const bool is_original =
        item.status == ItemStatus::kOpen && item.id != resolved.id && fold_text(item.id) == named;
    if (is_original) return &item;
  }
  return nullptr;
}

std::string duplicate_note(std::string_view duplicate) {
  return fmt::format("resolved with {}, which was resolved as a duplicate of this", duplicate);
}

Result<void> take_for_known(Store& store, const WorkPlace& place, const std::string& project,
                            const ItemList& list, std::vector<WorkItem>& items,
                            const std::vector<std::string>& given_ids) {
  if (given_ids.empty()) return {};
  SKEIN_ASSIGN(const std::vector<WorkItem> own,
               items_of_project(store, list.items, project, place));
  std::vector<WorkItem> shown = shown_items(own);
  add_issues(store, shown);
  const OpenWordings open(shown);
  const std::unordered_set<std::string> given(given_ids.begin(), given_ids.end());
  std::unordered_set<std::string> known;
  std::unordered_map<std::string, const WorkItem*> by_note;
  for (const WorkItem& item : own) {
    known.insert(item.id);
    for (std::string& note : notes_of(item)) by_note.emplace(std::move(note), &item);
  }
  for (WorkItem& item : items) {
    if (!given.contains(item.id) || known.contains(item.id)) continue;
    if (item.status == ItemStatus::kResolved || is_project_state(item)) continue;
    const auto noted = by_note.find(item.text);
    const WorkItem* const same = noted != by_note.end() ? noted->second : open.find(item.text);
    if (same == nullptr) continue;
    item.id = same->id;
    // It was said later than the one that is known, which stays the item's text.
    item.created_at = std::max(item.created_at, Timestamp{same->created_at.us + 1});
  }
  return {};
}

}  // namespace skein
