#include "work/session_payload.h"

#include <fmt/format.h>

#include "core/json_array.h"
#include "core/quote.h"
#include "work/item_notes.h"
#include "work/item_rules.h"
#include "work/item_select.h"
#include "work/item_texts.h"
#include "work/item_view.h"

namespace skein {
namespace {

WorkItem state_item(const std::string& state) {
  WorkItem item;
  item.text = state;
  if (!is_project_state(item)) item.text = std::string(kProjectStatePrefix) + " " + state;
  return item;
}

}  // namespace

Payload::Payload(Store& store, const CloseSession& request, const WorkSession& session,
                 Timestamp now, IdSource& ids)
    : store_(store), session_(session.id), project_(session.project), now_(now), ids_(ids) {
  if (!request.project_state.empty()) items_.push_back(state_item(request.project_state));
  for (const RawJson entry : json_elements(request.open_threads.text())) {
    if (auto item = read_item_change(entry)) {
      items_.push_back(*std::move(item));
    } else {
      warnings_.push_back("this is no item and was left out: " + excerpt(entry));
    }
  }
}

Result<void> Payload::check() const {
  if (items_.size() > kMaxClosingItems) {
    return fail(ErrorCode::kInvalid,
                fmt::format("open_threads must not have more than {} items, got {}",
                            kMaxClosingItems, items_.size()));
  }
  for (const WorkItem& item : items_) {
    const bool is_named_only = item.text.empty() && !item.id.empty();
    if (is_named_only) continue;
    if (auto valid = check_item_text("text of an item", item.text); !valid) return valid;
  }
  return {};
}

void Payload::apply(ItemList& list, const ProjectOf& project_of) {
  if (settled_) {
    list.items.insert(list.items.end(), items_.begin(), items_.end());
  } else {
    settle_all(list, project_of);
  }
  settled_ = true;
  list = merge(std::move(list), {}, project_of);
}

void Payload::settle_all(ItemList& list, const ProjectOf& project_of) {
  std::vector<WorkItem> settled;
  Timestamp last;  // when the last new item was created: later ones of the payload follow it
  for (WorkItem& item : items_) {
    if (item.text.empty() && item_with_id(list, item.id) == nullptr) {
      warnings_.push_back(
          fmt::format("there is no item {}, and the payload has no text for it; it "
                      "was left out",
                      item.id));
      continue;
    }
    const std::size_t created_before = created_;
    const bool is_dated = item.created_at.is_set();
    settle(item, list, project_of);
    if (created_ > created_before && !is_dated) {
      if (last.is_set() && item.created_at <= last) {
        item.created_at = Timestamp::from_ms(last.ms() + 1);
      }
      last = item.created_at;
    }
    list.items.push_back(item);
    settled.push_back(item);
    if (created_ > created_before) {
      new_ids_.insert(item.id);
      if (open_) open_->add(item);
    }
    const bool resolved_here = item.status == ItemStatus::kResolved &&
                               item.resolved_by_session == session_ && item.resolved_at == now_;
    WorkItem* const original = resolved_here ? open_original(list, item) : nullptr;
    if (original == nullptr) continue;
    resolve_in(list, *original, now_, session_, duplicate_note(item.id));
    settled.push_back(*original);
  }
  items_ = std::move(settled);
}

void Payload::settle(WorkItem& item, ItemList& list, const ProjectOf& project_of) {
  if (item.id.empty()) name(item, list, project_of);
  if (const WorkItem* known = item_with_id(list, item.id)) {
    mentioned_.push_back(item.id);
    const ItemStatus before = known->status;
    take_known(item, *known);
    if (before == item.status) return;
  } else {
    ++created_;
    if (!item.created_at.is_set()) item.created_at = now_;
    if (!item.source_session) item.source_session = session_;
  }
  if (item.status == ItemStatus::kOpen) return;
  if (!item.resolved_at.is_set()) item.resolved_at = resolution_time(list, item.text, now_);
  if (!item.resolved_by_session) item.resolved_by_session = session_;
}

// What is known of an item stays; another text is kept as a note.
void Payload::take_known(WorkItem& item, const WorkItem& known) {
  const std::string said = item.text;
  item.text = known.text;
  item.created_at = known.created_at;
  item.created_at_written = known.created_at_written;
  item.source_session = known.source_session;
  if (known.status == ItemStatus::kResolved) item = known;
  if (!said.empty()) add_note(item, said);
}

const WorkItem* Payload::known_as(const WorkItem& item, const ItemList& list,
                                  const ProjectOf& project_of) {
  const auto is_own = [&](const WorkItem& known) {
    return new_ids_.contains(known.id) || project_of(known) == project_;
  };
  const std::string key = text_key(item.text);
  for (const WorkItem& known : list.items) {
    if (known.status == ItemStatus::kOpen && text_key(known.text) == key && is_own(known)) {
      return &known;
    }
  }
  if (is_project_state(item)) return nullptr;
  if (!open_) {
    std::vector<WorkItem> shown = shown_items(list.items, project_of);
    add_issues(store_, shown);
    open_.emplace(shown);
  }
  return open_->find(item.text, is_own);
}

// Gives it the id of the open item that says the same, or a new one.
void Payload::name(WorkItem& item, const ItemList& list, const ProjectOf& project_of) {
  if (const WorkItem* known = known_as(item, list, project_of)) {
    item.id = known->id;
    if (text_key(known->text) != text_key(item.text)) {
      warnings_.push_back(
          fmt::format("{} was kept as a note of {}, which is open and says nearly "
                      "the same: {}",
                      quote(item.text), known->id, quote(known->text)));
    }
    return;
  }
  WorkItem made = new_item(list, item.text, now_, ids_);
  item.id = std::move(made.id);
  if (!item.created_at.is_set()) item.created_at = made.created_at;
}

}  // namespace skein
