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
#include "work/session_repository.h"

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
  }
  SKEIN_TRY(check_project(session.project));
  session.agent = request.agent;
  session.workspace = place.folder.string();
  session.host = place.host;
  session.open = true;
  return stored;
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

void show_liveliest(std::vector<ListedItem>& items, std::size_t most) {
  std::sort(items.begin(), items.end(), [](const ListedItem& a, const ListedItem& b) {
    return std::tie(b.details->vitality.value, a.item.created_at, a.item.id) <
           std::tie(a.details->vitality.value, b.item.created_at, b.item.id);
  });
  if (items.size() > most) items.resize(most);
}

std::string unnoted_warning(std::size_t open, const std::string& project) {
  return fmt::format(
      "{} open {} here without a project {} to {}, the project of the workspace: "
      "skein item list --project {}",
      open, open == 1 ? "item" : "items", open == 1 ? "belongs" : "belong", project, project);
}

// What the start of a session tells of its project's items.
Result<void> add_items(StartedSession& started, Store& store, const WorkPlace& place,
                       const ItemList& list, std::size_t most, Timestamp now) {
  const std::string& project = started.session.project;
  SKEIN_ASSIGN(const NotesById notes, read_notes(store, list.items));
  std::vector<WorkItem> own;
  std::vector<WorkItem> unnoted;  // of the workspace's own project, as nothing says otherwise
  for (const WorkItem& item : list.items) {
    if (belongs_to(item, notes, project, place)) {
      own.push_back(item);
    } else if (!notes.contains(item.id)) {
      unnoted.push_back(item);
    }
  }
  if (const std::size_t open = count_items(shown_items(unnoted)).open; open > 0) {
    started.warnings.push_back(unnoted_warning(open, place.project));
  }
  started.project_state = newest_state(own);
  const std::vector<WorkItem> shown = shown_items(own);
  const ItemTotals totals = count_items(shown);
  started.total_open = totals.open;
  started.total_resolved = totals.resolved;
  for (const WorkItem& item : shown) {
    if (item.status != ItemStatus::kOpen) continue;
    ListedItem& listed = started.open_items.emplace_back();
    listed.item = item;
    listed.item.linear_issue = issue_in(notes, item.id);
    listed.details = details_of(item, notes, project, place, now);
  }
  show_liveliest(started.open_items, most);
  return {};
}

void add_checkpoints(StartedSession& started, const WorkPlace& place, Clock& clock) {
  const auto warn = [&started](const std::string& message) { started.warnings.push_back(message); };
  CheckpointsOptions options;
  options.workspace = place.folder.string();
  options.clock = &clock;
  options.notice = warn;
  CheckpointQuery query;
  query.limit = 3;
  auto listed = Checkpoints(std::move(options)).list(query);
  if (listed) {
    started.checkpoints = *std::move(listed);
  } else {
    warn(listed.error().message);
  }
}

// The items of the session that somebody asks for, however old it is.
Result<ItemList> items_to_carry(Store& store, const std::string& project,
                                const std::vector<WorkSession>& closed,
                                const std::optional<std::string>& carry_from) {
  ItemList carried = carried_items(closed);
  if (!carry_from) return carried;
  SKEIN_TRY(check_session_id(*carry_from));
  SKEIN_ASSIGN(const auto stored, read_session(store, *carry_from));
  if (!stored) return fail(ErrorCode::kNotFound, "there is no working session " + *carry_from);
  if (stored->session.project != project) {
    return fail(ErrorCode::kInvalid,
                fmt::format("session {} is one of project {}, not of {}", *carry_from,
                            quote(stored->session.project), quote(project)));
  }
  return merge(std::move(carried), {stored->session.items, {}});
}

// What the project's last session left that the workspace does not have.
Result<std::optional<LeftBehind>> find_left_behind(Store& store, const std::string& project,
                                                   const ItemList& list) {
  SKEIN_ASSIGN(const auto last, read_last_closed_session(store, project));
  if (!last) return std::nullopt;
  LeftBehind left{last->id, last->closed_at, 0};
  for (const WorkItem& item : shown_items(last->items)) {
    const bool is_here = std::any_of(list.items.begin(), list.items.end(),
                                     [&item](const WorkItem& own) { return own.id == item.id; });
    if (item.status == ItemStatus::kOpen && !is_here) ++left.open;
  }
  if (left.open == 0) return std::nullopt;
  return left;
}

// Others of this place that are open; old ones are counted, unless all are asked for.
void keep_recent(StartedSession& started, bool all, Timestamp now) {
  std::erase_if(started.unclosed,
                [&](const WorkSession& other) { return other.id == started.session.id; });
  if (all) return;
  started.older_unclosed = std::erase_if(started.unclosed, [now](const WorkSession& other) {
    return other.started_at.us < now.us - kStaleSessionUs;
  });
}

}  // namespace

Result<StartedSession> WorkSessions::start(const StartSession& request) {
  if (request.project) SKEIN_TRY(check_project(*request.project));
  const ItemFile file(place_.folder);
  SKEIN_TRY(file.check_links());
  const Timestamp now = clock_.now();
  SKEIN_ASSIGN(StoredSession stored, session_to_start(store_, place_, request, now, ids_));
  const std::string& project = stored.session.project;
  SKEIN_ASSIGN(std::vector<WorkSession> closed, read_closed_sessions(store_, project, now));
  StartedSession started;
  started.repository = repository_news(
      place_.checked_out(), closed.empty() ? nullptr : &closed.front(), started.warnings);
  if (started.repository && stored.version == 0) {
    stored.session.branch = started.repository->branch;
    stored.session.head = started.repository->head;
    stored.session.initial_commit = started.repository->head;
  }
  if (!request.extra.empty()) stored.session.extra = request.extra;
  started.session = stored.session;

  SKEIN_ASSIGN(const ItemList carried, items_to_carry(store_, project, closed, request.carry_from));
  SKEIN_TRY(note_project(store_, project, carried.items));
  const auto take = [&](ItemList& local) {
    local = merge(std::move(local), carried, project_lookup(store_, place_));
  };
  const ItemList list = file.update_or_warn(take, started.warnings);
  SKEIN_TRY(add_items(started, store_, place_, list, request.max_items, now));
  add_checkpoints(started, place_, clock_);
  if (closed.empty() && !request.carry_from) {
    SKEIN_ASSIGN(started.left_behind, find_left_behind(store_, project, list));
  }
  if (!closed.empty()) {
    started.last = std::move(closed.front());
    started.last->items.clear();
  }
  SKEIN_ASSIGN(started.unclosed, unclosed(kMaxUnclosedSessions));
  keep_recent(started, request.all_unclosed, now);
  SKEIN_TRY(write_started(store_, stored));
  return started;
}

Result<std::optional<WorkSession>> WorkSessions::get(std::string_view id) {
  SKEIN_TRY(check_session_id(id));
  SKEIN_ASSIGN(auto stored, read_session(store_, id));
  if (!stored) return std::nullopt;
  return std::move(stored->session);
}

Result<std::vector<WorkSession>> WorkSessions::unclosed(std::size_t most) {
  SKEIN_ASSIGN(auto stored, read_open_sessions(store_, place_, most));
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
