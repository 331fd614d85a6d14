#include <fmt/format.h>

#include <algorithm>

#include "core/json_array.h"
#include "core/json_object.h"
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

constexpr int kAttempts = 100;

Result<StoredSession> session_to_close(Store& store, const WorkPlace& place,
                                       const std::optional<std::string>& id) {
  if (!id) {
    SKEIN_ASSIGN(auto open, read_open_sessions(store, place));
    if (!open.empty()) return std::move(open.front());
    return fail(ErrorCode::kNotFound,
                "no working session is open in " + place.folder.string() + "; start one");
  }
  SKEIN_TRY(check_session_id(*id));
  SKEIN_ASSIGN(auto stored, read_session(store, *id));
  if (!stored) return fail(ErrorCode::kNotFound, "there is no working session " + *id);
  if (stored->session.open) return *std::move(stored);
  return fail(ErrorCode::kConflict, fmt::format("working session {} was closed at {}", *id,
                                                stored->session.closed_at.str()));
}

// What a closing session says of its items.
class Payload {
 public:
  Payload(const CloseSession& request, const WorkSession& session, Timestamp now, IdSource& ids)
      : session_(session.id), project_(session.project), now_(now), ids_(ids) {
    for (const RawJson entry : json_elements(request.open_threads.text())) {
      if (auto item = read_item(entry)) {
        items_.push_back(*std::move(item));
      } else {
        ignored_.emplace_back(entry);
      }
    }
  }

  Result<void> check() const {
    if (items_.size() > kMaxClosingItems) {
      return fail(ErrorCode::kInvalid,
                  fmt::format("open_threads must not have more than {} items, got {}",
                              kMaxClosingItems, items_.size()));
    }
    for (const WorkItem& item : items_) SKEIN_TRY(check_item_text("text of an item", item.text));
    return {};
  }

  // Brings it into the list. What an entry leaves open is settled the first time; after that it is
  // the same items again.
  void apply(ItemList& list, const ProjectOf& project_of) {
    for (WorkItem& item : items_) {
      if (!settled_) settle(item, list, project_of);
      list.items.push_back(item);
    }
    settled_ = true;
    list = merge(std::move(list), {}, project_of);
  }

  const std::vector<WorkItem>& items() const { return items_; }
  // The ids of those that were there before.
  const std::vector<std::string>& mentioned() const { return mentioned_; }
  const std::vector<std::string>& ignored() const { return ignored_; }
  std::size_t created() const { return created_; }
  std::size_t resolved() const { return resolved_; }

 private:
  static WorkItem* find(ItemList& list, const std::string& id) {
    for (WorkItem& item : list.items) {
      if (item.id == id) return &item;
    }
    return nullptr;
  }

  void settle(WorkItem& item, ItemList& list, const ProjectOf& project_of) {
    if (item.id.empty()) name(item, list, project_of);
    if (const WorkItem* known = find(list, item.id)) {
      mentioned_.push_back(item.id);
      item.text = known->text;
      item.created_at = known->created_at;
      item.source_session = known->source_session;
      if (known->status == ItemStatus::kResolved) item = *known;
      if (known->status == item.status) return;
    } else {
      ++created_;
      if (!item.created_at.is_set()) item.created_at = now_;
      if (!item.source_session) item.source_session = session_;
    }
    if (item.status == ItemStatus::kOpen) return;
    ++resolved_;
    if (!item.resolved_at.is_set()) item.resolved_at = resolution_time(list, item.text, now_);
    if (!item.resolved_by_session) item.resolved_by_session = session_;
  }

  // Gives it the id of the open item that says the same, or a new one.
  void name(WorkItem& item, const ItemList& list, const ProjectOf& project_of) {
    const std::string folded = fold_text(item.text);
    for (const WorkItem& known : list.items) {
      if (known.status == ItemStatus::kOpen && fold_text(known.text) == folded &&
          project_of(known) == project_) {
        item.id = known.id;
        return;
      }
    }
    WorkItem made = new_item(list, item.text, now_, ids_);
    item.id = std::move(made.id);
    if (!item.created_at.is_set()) item.created_at = made.created_at;
  }

  const std::string session_;
  const std::string project_;
  const Timestamp now_;
  IdSource& ids_;
  std::vector<WorkItem> items_;
  std::vector<std::string> mentioned_;
  std::vector<std::string> ignored_;
  bool settled_ = false;
  std::size_t created_ = 0;
  std::size_t resolved_ = 0;
};

Result<void> check_size(const CloseSession& request) {
  std::size_t bytes = request.summary.size() + request.extra.text().size();
  for (const auto* values : {&request.decisions, &request.learnings}) {
    for (const Json& value : *values) bytes += value.text().size();
  }
  if (!valid_utf8(request.summary)) return fail(ErrorCode::kInvalid, "summary must be valid UTF-8");
  if (bytes <= limits::kMaxSessionNotesBytes) return {};
  return fail(ErrorCode::kInvalid,
              fmt::format("summary, decisions and learnings must not exceed {} bytes, got {}",
                          limits::kMaxSessionNotesBytes, bytes));
}

WorkSession as_closed(WorkSession session, const CloseSession& request, std::string head,
                      Timestamp now) {
  session.open = false;
  session.closed_at = now;
  session.summary = request.summary;
  session.decisions = request.decisions;
  session.learnings = request.learnings;
  session.extra = request.extra;
  if (!head.empty()) session.head = std::move(head);
  return session;
}

// The whole list: what is here, what other sessions stored, and what this one says.
ItemList merged_list(Store& store, const WorkPlace& place, const ItemList& carried,
                     Payload& payload, std::vector<std::string>& warnings) {
  const ProjectOf project_of = project_lookup(store, place);
  std::optional<ItemList> list;
  auto saved = ItemFile(place.folder).update([&](ItemList& local) -> Result<void> {
    local = merge(std::move(local), carried, project_of);
    payload.apply(local, project_of);
    list = local;
    return {};
  });
  if (!saved) warnings = {saved.error().message};
  if (list) return *std::move(list);
  ItemList without_local = carried;
  payload.apply(without_local, project_of);
  return without_local;
}

}  // namespace

Result<ClosedSession> WorkSessions::close(const CloseSession& request) {
  SKEIN_TRY(check_size(request));
  SKEIN_ASSIGN(const StoredSession before, session_to_close(store_, place_, request.session_id));
  const Timestamp now = clock_.now();
  Payload payload(request, before.session, now, ids_);
  SKEIN_TRY(payload.check());

  ClosedSession closed;
  WorkSession& session = closed.session;
  session = as_closed(before.session, request, head_commit(place_.checked_out()), now);
  for (int attempt = 1;; ++attempt) {
    // Whoever closes a session of the project in between makes this one begin again: every list
    // that is stored has all that was stored before it.
    SKEIN_ASSIGN(const Version version, project_version(store_, session.project));
    SKEIN_ASSIGN(const auto others, read_closed_sessions(store_, session.project, now));
    const ItemList carried = carried_items(others);
    const ItemList list = merged_list(store_, place_, carried, payload, closed.warnings);
    SKEIN_TRY(note_project(store_, session.project, payload.items()));
    SKEIN_ASSIGN(session.items, items_of_project(store_, list.items, session.project, place_));
    SKEIN_TRY(note_project(store_, session.project, session.items));
    auto written = write_closed(store_, before, session, version);
    if (written) break;
    if (written.error().code != ErrorCode::kConflict || attempt == kAttempts) {
      return tl::unexpected(std::move(written).error());
    }
    SKEIN_TRY(session_to_close(store_, place_, session.id));
  }

  SKEIN_TRY(change_notes(store_, session.project, payload.mentioned(),
                         [&](ItemNotes& notes) { touch(notes, now); }));
  for (const std::string& entry : payload.ignored()) {
    closed.warnings.push_back("this is no item and was left out: " + excerpt(entry));
  }
  for (WorkItem& item : shown_items(session.items)) {
    if (item.status == ItemStatus::kOpen) closed.open_items.push_back(std::move(item));
  }
  closed.created = payload.created();
  closed.resolved = payload.resolved();
  return closed;
}

Result<CloseSession> CloseSession::parse(std::string_view json) {
  SKEIN_ASSIGN(const Json object, Json::parse_object(json));
  CloseSession request;
  JsonObjectReader reader;
  std::vector<JsonMember> members;
  reader.read(object.text(), members);
  JsonObject extra;
  bool has_extra = false;
  const auto wrong = [](const JsonMember& member, std::string_view kind) {
    return fail(ErrorCode::kInvalid,
                fmt::format("\"{}\" must be {}, got {}", member.name, kind, excerpt(member.value)));
  };
  for (const JsonMember& member : members) {
    const auto text = json_to_string(member.value);
    const bool is_array = member.value.starts_with('[');
    if (member.name == "session_id") {
      if (!text) return wrong(member, "a string");
      request.session_id = text;
    } else if (member.name == "summary") {
      if (!text) return wrong(member, "a string");
      request.summary = *text;
    } else if (member.name == "decisions" || member.name == "learnings") {
      if (!is_array) return wrong(member, "an array");
      auto& values = member.name == "decisions" ? request.decisions : request.learnings;
      for (const RawJson value : json_elements(member.value)) {
        values.push_back(Json::trusted(std::string(value)));
      }
    } else if (member.name == "open_threads") {
      if (!is_array) return wrong(member, "an array");
      request.open_threads = Json::trusted(std::string(member.value));
    } else {
      extra.add_json(member.name, member.value);
      has_extra = true;
    }
  }
  if (has_extra) request.extra = Json::trusted(extra.str());
  return request;
}

}  // namespace skein
