#include <fmt/format.h>

#include <algorithm>

#include "core/json_fields.h"
#include "core/json_object.h"
#include "core/quote.h"
#include "core/try.h"
#include "work/item_file.h"
#include "work/item_merge.h"
#include "work/item_projects.h"
#include "work/item_view.h"
#include "work/session_payload.h"
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

// Of two values for one name the later one.
Json joined_extra(const Json& before, const Json& now) {
  if (before.empty() || now.empty()) return before.empty() ? now : before;
  JsonFields earlier(before.text());
  const JsonFields later(now.text());
  JsonObject joined;
  for (const JsonFields::Field& field : earlier.others()) {
    const bool is_replaced =
        std::any_of(later.others().begin(), later.others().end(),
                    [&field](const JsonFields::Field& other) { return other.name == field.name; });
    if (!is_replaced) joined.add_json(field.name, field.value);
  }
  for (const JsonFields::Field& field : later.others()) joined.add_json(field.name, field.value);
  return Json::trusted(joined.str());
}

WorkSession as_closed(WorkSession session, const CloseSession& request, std::string head,
                      Timestamp now) {
  session.open = false;
  session.closed_at = now;
  session.summary = request.summary;
  session.decisions = request.decisions;
  session.learnings = request.learnings;
  session.extra = joined_extra(session.extra, request.extra);
  if (!head.empty()) session.head = std::move(head);
  return session;
}

// The whole list: what is here, what other sessions stored, and what this one says.
ItemList merged_list(Store& store, const WorkPlace& place, const ItemList& carried,
                     Payload& payload, std::vector<std::string>& warnings) {
  const ProjectOf project_of = project_lookup(store, place);
  const auto add = [&](ItemList& local) {
    local = merge(std::move(local), carried, project_of);
    payload.apply(local, project_of);
  };
  warnings.clear();  // of an earlier attempt
  return ItemFile(place.folder).update_or_warn(add, warnings);
}

}  // namespace

Result<ClosedSession> WorkSessions::close(const CloseSession& request) {
  SKEIN_TRY(check_size(request));
  SKEIN_TRY(ItemFile(place_.folder).check_links());
  SKEIN_ASSIGN(const StoredSession before, session_to_close(store_, place_, request.session_id));
  const Timestamp now = clock_.now();
  Payload payload(store_, request, before.session, now, ids_);
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
  for (const std::string& warning : payload.warnings()) closed.warnings.push_back(warning);
  for (const std::string& name : request.unknown) {
    closed.warnings.push_back(quote(name) +
                              " is no known member of a closing payload; it was stored with the "
                              "session as it is");
  }
  for (WorkItem& item : shown_items(session.items)) {
    if (item.status == ItemStatus::kOpen) {
      closed.open_items.push_back(std::move(item));
    } else if (item.resolved_by_session == session.id) {
      ++closed.resolved;
    }
  }
  add_issues(store_, closed.open_items);
  closed.created = payload.created();
  return closed;
}

Result<std::vector<ClosedSession>> WorkSessions::close_unclosed(Timestamp started_before) {
  std::vector<ClosedSession> all;
  // Open sessions are read as far as the limit; those that are closed make room for older ones.
  for (std::size_t before = 1; before != all.size();) {
    before = all.size();
    SKEIN_ASSIGN(const auto open, unclosed(kMaxUnclosedSessions));
    for (const WorkSession& session : open) {
      if (session.started_at >= started_before) continue;
      CloseSession request;
      request.session_id = session.id;
      SKEIN_ASSIGN(ClosedSession closed, close(request));
      all.push_back(std::move(closed));
    }
    if (open.size() < kMaxUnclosedSessions) break;
  }
  return all;
}

}  // namespace skein
