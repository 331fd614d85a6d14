#include "api/transfer/folders/session_import.h"

#include <algorithm>
#include <tuple>

#include "api/work/place.h"
#include "core/file.h"
#include "core/json_array.h"
#include "core/json_fields.h"
#include "core/quote.h"
#include "core/try.h"
#include "work/session_records.h"

namespace skein {
namespace {

constexpr std::string_view kKind = "sessions";
constexpr std::size_t kMaxFileBytes = std::size_t{64} << 20;

// "2026-02-09" is that day's first moment.
std::optional<Timestamp> take_day(JsonFields& fields, std::string_view name) {
  if (const auto time = fields.take_time(name)) return time;
  const auto day = fields.take_string(name);
  const auto time = Timestamp::parse(day.value_or("") + "T00:00:00.000Z");
  return time ? std::optional(*time) : std::nullopt;
}

std::vector<Json> take_list(JsonFields& fields, std::string_view name) {
  std::vector<Json> values;
  const auto list = fields.take(name, json_to_array);
  for (const RawJson value : json_elements(list.value_or("[]"))) {
    values.push_back(Json::trusted(std::string(value)));
  }
  return values;
}

class SessionImport {
 public:
  SessionImport(const FolderImport& import, std::string file, Timestamp written)
      : import_(import),
        file_(std::move(file)),
        written_(written),
        place_(work_place(import.settings)) {}

  Result<void> run(RawJson list) {
    std::vector<WorkSession> sessions;
    for (const RawJson element : json_elements(list)) {
      if (auto session = read(element)) sessions.push_back(std::move(*session));
    }
    // The newest last, as if they had been closed here.
    std::sort(sessions.begin(), sessions.end(), [](const WorkSession& a, const WorkSession& b) {
      return std::tie(a.closed_at.us, a.id) < std::tie(b.closed_at.us, b.id);
    });
    for (const WorkSession& session : sessions) SKEIN_TRY(store(session));
    return {};
  }

 private:
  // Nothing, if it is left out.
  std::optional<WorkSession> read(RawJson element) const {
    JsonFields fields(element);
    WorkSession session;
    session.id = fields.take_string("id").value_or("");
    if (auto valid = check_session_id(session.id); !valid) {
      import_.fail(kKind, "not valid", import_.source.at(file_), 0, valid.error().message);
      return std::nullopt;
    }
    const auto compliance = fields.take_object("close_compliance");
    const auto reflection = fields.take_object("closing_reflection");
    if (!compliance && !reflection && !fields.take_time("closed_at")) {
      import_.report.left_out(kKind, "never closed", LeftOut::kExpected);
      return std::nullopt;
    }
    fill(session, fields);
    if (reflection) add_extra(session, "closing_reflection", *reflection);
    if (compliance) add_extra(session, "close_compliance", *compliance);
    return session;
  }

  void fill(WorkSession& session, JsonFields& fields) const {
    session.open = false;
    session.agent = fields.take_string("agent").value_or("gitmem");
    const std::string project = fields.take_string("project").value_or("default");
    session.project = project == "default" || !check_project(project) ? place_.project : project;
    session.workspace = place_.folder.string();
    session.host = place_.host;
    session.summary = fields.take_string("session_title").value_or("");
    session.decisions = take_list(fields, "decisions");
    session.learnings = take_list(fields, "learnings_created");
    const auto day = take_day(fields, "session_date");
    const auto created = fields.take_time("created_at");
    const auto updated = fields.take_time("updated_at");
    const auto list = fields.take("open_threads", json_to_array).value_or("[]");
    const Timestamp latest = latest_item(list);
    session.started_at = created ? *created : day ? *day : latest;
    session.closed_at = updated ? *updated : std::max(session.started_at, latest);
    session.items = read_items(list, session.closed_at).items;
    for (const JsonFields::Field& field : fields.others()) {
      if (field.value != "null" && field.name != "embedding") {
        add_extra(session, field.name, field.value);
      }
    }
  }

  // Sessions of the free tier have no time; their items do.
  Timestamp latest_item(RawJson list) const {
    Timestamp latest;
    for (const WorkItem& item : read_items(list, Timestamp{}).items) {
      latest = std::max({latest, item.created_at, item.resolved_at});
    }
    return latest.is_set() ? latest : written_;
  }

  static void add_extra(WorkSession& session, std::string_view name, RawJson value) {
    std::string text = session.extra.empty() ? "{" : session.extra.text();
    if (text.size() > 1) text.back() = ',';
    append_json_string(text, name);
    text.append(":").append(value).append("}");
    session.extra = Json::trusted(std::move(text));
  }

  Result<void> store(const WorkSession& session) const {
    SKEIN_ASSIGN(const auto there, read_session(import_.store, session.id));
    if (there) {
      import_.report.there(kKind);
      return {};
    }
    if (!import_.options.dry_run) {
      auto written = write(session);
      // Another program wrote to the project meanwhile.
      if (!written && written.error().code == ErrorCode::kConflict) written = write(session);
      if (!written && written.error().code == ErrorCode::kIo) return written;
      if (!written) {
        import_.fail(kKind, "not valid", import_.source.at(file_), 0, written.error().message);
        return {};
      }
    }
    import_.report.taken(kKind);
    return {};
  }

  Result<void> write(const WorkSession& session) const {
    SKEIN_ASSIGN(const Version version, project_version(import_.store, session.project));
    return write_closed(import_.store, StoredSession{session, 0}, session, version);
  }

  const FolderImport& import_;
  const std::string file_;
  const Timestamp written_;
  const WorkPlace place_;
};

}  // namespace

Result<void> import_sessions(const FolderImport& import, const std::string& folder) {
  const std::string file = (folder.empty() ? "" : folder + "/") + "sessions.json";
  auto text = import.source.read_json(file, kMaxFileBytes);
  if (text && !*text) return {};
  if (!text || !trim_json(**text).starts_with('[')) {
    import.fail(kKind, kUnreadable, import.source.at(file), 0,
                text ? "must be a JSON array" : text.error().message);
    return {};
  }
  const std::size_t redacted = import.redact(**text);
  const std::uint64_t before = import.report.taken_of(kKind);
  const auto stamp = stat_file(import.source.at(file).string());
  const Timestamp written{stamp && *stamp ? (*stamp)->mtime_ns / 1000 : 0};
  SKEIN_TRY(SessionImport(import, file, written).run(**text));
  if (import.report.taken_of(kKind) > before) import.report.redacted(redacted);
  return {};
}

}  // namespace skein
