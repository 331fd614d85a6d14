#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "core/quote.h"
#include "core/try.h"
#include "work/item_file.h"
#include "work/item_merge.h"
#include "work/item_projects.h"
#include "work/item_view.h"
#include "work/session_records.h"

namespace skein {
namespace {

std::string random_uuid(IdSource& ids) {
  const std::uint64_t high = (ids.next() & ~0xF000ULL) | 0x4000ULL;
  const std::uint64_t low = (ids.next() & ~(3ULL << 62)) | (2ULL << 62);
  return fmt::format("{:08x}-{:04x}-{:04x}-{:04x}-{:012x}", high >> 32, high >> 16 & 0xFFFF,
                     high & 0xFFFF, low >> 48, low & 0xFFFF'FFFF'FFFFULL);
}

// The one that is gone on with, or a new one. The project of a session that is known stays.
Result<StoredSession> session_to_start(Store& store, const WorkPlace& place,
                                       const StartSession& request, Timestamp now, IdSource& ids) {
  StoredSession stored;
  WorkSession& session = stored.session;
  session.id = request.session_id.value_or(random_uuid(ids));
  SKEIN_TRY(check_session_id(session.id));
  SKEIN_ASSIGN(auto known, read_session(store, session.id));
  if (known) {
    stored = *std::move(known);
    if (request.project && *request.project != session.project) {
      return fail(ErrorCode::kConflict,
                  fmt::format("session {} is one of project {}, not of {}", session.id,
                              quote(session.project), quote(*request.project)));
    }
  } else {
    session.project = request.project.value_or(place.project);
    session.started_at = now;
    session.branch = request.branch;
    session.head = request.head;
  }
  SKEIN_TRY(check_project(session.project));
  session.agent = request.agent;
  session.workspace = place.folder.string();
  session.host = place.host;
  session.open = true;
  return stored;
}

void add_open_items(StartedSession& started, const std::vector<WorkItem>& items,
                    const NotesById& notes, const WorkPlace& place, std::size_t most,
                    Timestamp now) {
  for (const WorkItem& item : items) {
    if (item.status != ItemStatus::kOpen) continue;
    started.open_items.push_back(
        {item, details_of(item, notes, started.session.project, place, now)});
  }
  std::sort(started.open_items.begin(), started.open_items.end(),
            [](const ListedItem& a, const ListedItem& b) {
              return std::tie(b.details->vitality.value, a.item.created_at, a.item.id) <
                     std::tie(a.details->vitality.value, b.item.created_at, b.item.id);
            });
  if (started.open_items.size() > most) started.open_items.resize(most);
}

// The newest line of project state that is open.
std::optional<ProjectState> newest_state(const std::vector<WorkItem>& items) {
  std::optional<ProjectState> state;
  for (const WorkItem& item : items) {  // the oldest first
    if (item.status == ItemStatus::kOpen && is_project_state(item)) {
      state = parse_project_state(item.text);
    }
  }
  return state;
}

}  // namespace

Result<StartedSession> WorkSessions::start(const StartSession& request) {
  if (request.project) SKEIN_TRY(check_project(*request.project));
  const Timestamp now = clock_.now();
  SKEIN_ASSIGN(StoredSession stored, session_to_start(store_, place_, request, now, ids_));
  StartedSession started;
  started.session = stored.session;
  const std::string& project = started.session.project;

  SKEIN_ASSIGN(std::vector<WorkSession> closed, read_closed_sessions(store_, project, now));
  const ItemList carried = carried_items(closed);
  SKEIN_TRY(note_project(store_, project, carried.items));
  ItemList list;
  auto merged = ItemFile(place_.folder).update([&](ItemList& local) -> Result<void> {
    list = local = merge(std::move(local), carried);
    return {};
  });
  if (!merged) {
    started.warnings.push_back(merged.error().message);
    list = carried;
  }

  SKEIN_ASSIGN(const std::vector<WorkItem> own,
               items_of_project(store_, list.items, project, place_));
  const std::vector<WorkItem> shown = shown_items(own);
  const ItemTotals totals = count_items(shown);
  started.total_open = totals.open;
  started.total_resolved = totals.resolved;
  SKEIN_ASSIGN(const NotesById notes, read_notes(store_, shown));
  add_open_items(started, shown, notes, place_, request.max_items, now);
  started.project_state = newest_state(own);
  if (!closed.empty()) {
    started.last = std::move(closed.front());
    started.last->items.clear();
  }
  SKEIN_ASSIGN(started.unclosed, unclosed());
  std::erase_if(started.unclosed,
                [&](const WorkSession& other) { return other.id == started.session.id; });
  SKEIN_TRY(write_started(store_, stored));
  return started;
}

Result<std::optional<WorkSession>> WorkSessions::get(std::string_view id) {
  SKEIN_TRY(check_session_id(id));
  SKEIN_ASSIGN(auto stored, read_session(store_, id));
  if (!stored) return std::nullopt;
  return std::move(stored->session);
}

Result<std::vector<WorkSession>> WorkSessions::unclosed() {
  SKEIN_ASSIGN(auto stored, read_open_sessions(store_, place_));
  std::vector<WorkSession> sessions;
  for (StoredSession& one : stored) sessions.push_back(std::move(one.session));
  return sessions;
}

Result<void> check_session_id(std::string_view id) {
  const auto is_plain = [](char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
  };
  const bool valid = !id.empty() && id.size() <= limits::kMaxWorkSessionIdBytes &&
                     is_plain(id[0]) && std::all_of(id.begin(), id.end(), [&](char c) {
                       return is_plain(c) || c == '.' || c == '_' || c == '-';
                     });
  if (valid) return {};
  return fail(ErrorCode::kInvalid,
              "session id must match [A-Za-z0-9][A-Za-z0-9._-]{0,63}, got " + quote(id));
}

}  // namespace skein
