#include "work/session_records.h"

#include <fmt/format.h>

#include "core/checksum.h"
#include "core/json_array.h"
#include "core/json_object.h"
#include "core/quote.h"
#include "core/try.h"
#include "store/find_record.h"
#include "store/record_access.h"
#include "work/item_merge.h"

namespace skein {
namespace {

constexpr const char* kSessions = kSessionsCollection;   // key: <id>
constexpr const char* kOpen = "work_sessions_open";      // key: <place>/<started_at>/<id>
constexpr const char* kClosed = "work_sessions_closed";  // key: <project>/<closed_at>/<id>
constexpr const char* kProjects = "work_projects";       // key: <project>

std::string place_part(const std::string& host, const std::string& folder) {
  const std::string name = host + "\n" + folder;
  return fmt::format("{:08x}{:08x}", checksum(name), checksum(name, 1));
}

std::string open_key(const WorkSession& session) {
  return fmt::format("{}/{}/{}", place_part(session.host, session.workspace),
                     session.started_at.str(), session.id);
}

std::string closed_key(const WorkSession& session) {
  return fmt::format("{}/{}/{}", key_part(session.project), session.closed_at.str(), session.id);
}

std::string values_json(const std::vector<Json>& values) {
  std::vector<std::string> texts;
  for (const Json& value : values) texts.push_back(value.text());
  return json_array_of(texts);
}

std::string session_json(const WorkSession& session) {
  JsonObject object;
  object.add("session_id", session.id).add("agent", session.agent);
  object.add("project", session.project).add("workspace", session.workspace);
  object.add("host", session.host).add("status", session.open ? "open" : "closed");
  object.add("started_at", session.started_at.str());
  if (session.closed_at.is_set()) object.add("closed_at", session.closed_at.str());
  if (!session.branch.empty()) object.add("branch", session.branch);
  if (!session.head.empty()) object.add("head", session.head);
  if (!session.initial_commit.empty()) object.add("initial_commit", session.initial_commit);
  if (!session.summary.empty()) object.add("summary", session.summary);
  if (!session.decisions.empty()) object.add_json("decisions", values_json(session.decisions));
  if (!session.learnings.empty()) object.add_json("learnings", values_json(session.learnings));
  if (!session.extra.empty()) object.add_json("extra", session.extra.text());
  std::vector<std::string> items;
  for (const WorkItem& item : session.items) items.push_back(to_json(item));
  if (session.closed_at.is_set()) object.add_json("open_threads", json_array_of(items));
  return object.str();
}

std::vector<Json> parse_values(RawJson array) {
  std::vector<Json> values;
  for (const RawJson value : json_elements(array)) {
    values.push_back(Json::trusted(std::string(value)));
  }
  return values;
}

void set_field(WorkSession& session, const JsonMember& member, RawJson& open_threads) {
  const auto text = [&member] { return json_to_string(member.value).value_or(""); };
  const auto time = [&text] { return Timestamp::parse(text()).value_or(Timestamp{}); };
  if (member.name == "agent") session.agent = text();
  if (member.name == "project") session.project = text();
  if (member.name == "workspace") session.workspace = text();
  if (member.name == "host") session.host = text();
  if (member.name == "status") session.open = text() == "open";
  if (member.name == "started_at") session.started_at = time();
  if (member.name == "closed_at") session.closed_at = time();
  if (member.name == "branch") session.branch = text();
  if (member.name == "head") session.head = text();
  if (member.name == "initial_commit") session.initial_commit = text();
  if (member.name == "summary") session.summary = text();
  if (member.name == "decisions") session.decisions = parse_values(member.value);
  if (member.name == "learnings") session.learnings = parse_values(member.value);
  if (member.name == "extra") session.extra = Json::trusted(std::string(member.value));
  if (member.name == "open_threads") open_threads = member.value;
}

Result<StoredSession> parse_session(const Record& record) {
  if (auto valid = validate_json(record.bytes, "it", kMaxDocumentDepth + 1); !valid) {
    return fail(ErrorCode::kDamaged,
                "working session " + record.key + " cannot be read: " + valid.error().message);
  }
  StoredSession stored;
  stored.version = record.version;
  JsonObjectReader reader;
  std::vector<JsonMember> members;
  reader.read(record.bytes, members);
  RawJson open_threads;
  for (const JsonMember& member : members) set_field(stored.session, member, open_threads);
  // The key is what it is asked for by; the text may name another session, or be no id at all.
  stored.session.id = record.key;
  if (const auto valid = check_session_id(record.key); !valid) {
    return fail(ErrorCode::kDamaged, "working session " + quote(record.key) +
                                         " cannot be read: " + valid.error().message);
  }
  const WorkSession& session = stored.session;
  stored.session.items =
      read_items(open_threads, session.closed_at.is_set() ? session.closed_at : session.started_at)
          .items;
  return stored;
}

// The session that an entry of an index is about.
Result<std::optional<StoredSession>> session_of_entry(Store& store, const Record& entry) {
  return read_session(store, std::string_view(entry.key).substr(entry.key.rfind('/') + 1));
}

RecordWrite session_write(const StoredSession& before, const WorkSession& session) {
  return put_record(kSessions, session.id, session_json(session), before.version);
}

}  // namespace

Result<std::optional<StoredSession>> read_session(Store& store, std::string_view id) {
  SKEIN_ASSIGN(const auto record, find_record(store, kSessions, id));
  if (!record) return std::nullopt;
  SKEIN_ASSIGN(StoredSession session, parse_session(*record));
  return session;
}

Result<std::vector<StoredSession>> read_open_sessions(Store& store, const WorkPlace& place,
                                                      std::size_t most) {
  std::vector<StoredSession> sessions;
  Result<void> read;
  SKEIN_TRY(scan_prefix(
      store, kOpen, place_part(place.host, place.folder.string()) + "/",
      [&](const Record& entry) {
        auto session = session_of_entry(store, entry);
        if (!session) {
          read = tl::unexpected(std::move(session).error());
          return false;
        }
        const bool is_here = *session && (*session)->session.open &&
                             (*session)->session.host == place.host &&
                             (*session)->session.workspace == place.folder.string();
        if (is_here) sessions.push_back(**std::move(session));
        return sessions.size() < most;
      },
      Direction::kBackward));
  SKEIN_TRY(read);
  return sessions;
}

Result<std::optional<WorkSession>> newest_open_session(Store& store, const WorkPlace& place) {
  SKEIN_ASSIGN(auto sessions, read_open_sessions(store, place));
  if (sessions.empty()) return std::nullopt;
  return std::move(sessions.front().session);
}

namespace {

// The newest first: at most so many, and none that was closed before that time.
Result<std::vector<WorkSession>> closed_sessions(Store& store, const std::string& project,
                                                 std::size_t most, std::int64_t since_us) {
  std::vector<WorkSession> sessions;
  Result<void> read;
  SKEIN_TRY(scan_prefix(
      store, kClosed, key_part(project) + "/",
      [&](const Record& entry) {
        auto session = session_of_entry(store, entry);
        if (!session) {
          read = tl::unexpected(std::move(session).error());
          return false;
        }
        if (!*session) return true;
        if ((*session)->session.closed_at.us < since_us) return false;
        sessions.push_back((**std::move(session)).session);
        return sessions.size() < most;
      },
      Direction::kBackward));
  SKEIN_TRY(read);
  return sessions;
}

}  // namespace

Result<std::vector<WorkSession>> read_closed_sessions(Store& store, const std::string& project,
                                                      Timestamp now) {
  return closed_sessions(store, project, kCarriedSessions, now.us - kCarriedUs);
}

Result<std::optional<WorkSession>> read_last_closed_session(Store& store,
                                                            const std::string& project) {
  SKEIN_ASSIGN(auto last, closed_sessions(store, project, 1, Timestamp::kFirst));
  if (last.empty()) return std::nullopt;
  return std::move(last.front());
}

ItemList carried_items(const std::vector<WorkSession>& closed) {
  ItemList list;
  for (const WorkSession& session : closed) list = merge(std::move(list), {session.items, {}});
  return list;
}

Result<void> write_started(Store& store, const StoredSession& session) {
  const RecordWrite writes[] = {session_write(session, session.session),
                                put_record(kOpen, open_key(session.session), "{}")};
  SKEIN_TRY(store.write(writes));
  return {};
}

Result<Version> project_version(Store& store, const std::string& project) {
  SKEIN_ASSIGN(const auto record, find_record(store, kProjects, project));
  return record ? record->version : 0;
}

Result<void> write_closed(Store& store, const StoredSession& before, const WorkSession& closed,
                          Version version) {
  std::vector<RecordWrite> writes = {
      session_write(before, closed), delete_record(kOpen, open_key(closed)),
      put_record(kClosed, closed_key(closed), "{}"),
      put_record(kProjects, closed.project, JsonObject().add("last_session", closed.id).str(),
                 version)};
  // One that was closed before and started again moves to its new place.
  if (before.session.closed_at.is_set() && before.session.closed_at != closed.closed_at) {
    writes.push_back(delete_record(kClosed, closed_key(before.session)));
  }
  SKEIN_TRY(store.write(writes));
  return {};
}

}  // namespace skein
