#include <fmt/format.h>

#include <filesystem>

#include "api/work/answers.h"
#include "core/json_array.h"
#include "core/json_object.h"
#include "core/quotation.h"
#include "core/try.h"
#include "mcp/kept_listing.h"
#include "mcp/tools/tools.h"

namespace skein::mcp {
namespace {

using Kind = Parameter::Kind;

// What threads.json has of an item; others that programs keep there come along.
constexpr std::string_view kItem =
    R"({"type":"object","properties":{"id":{"type":"string"},"text":{"type":"string"},)"
    R"("status":{"enum":["open","resolved"]},"created_at":{"type":"string"}},)"
    R"("required":["id","text","status"]})";

constexpr std::string_view kPerformance = R"(,"performance":)";

Json output(std::string_view properties, std::string_view required) {
  std::string schema = R"({"type":"object","properties":{)";
  schema += properties;
  schema += R"(,"performance":{"type":"object"}},"required":[)";
  schema += required;
  return Json::trusted(schema + "]}");
}

Parameter project_parameter(std::string description) {
  return {.name = "project", .description = std::move(description)};
}

Parameter session_parameter() {
  return {.name = "session_id", .description = "default: the newest open session here"};
}

std::string item_line(const WorkItem& item) {
  std::string line = fmt::format("- {} [{}] {}\n", item.id, to_string(item.status), item.text);
  if (item.resolution_note) line += fmt::format("  resolved: {}\n", *item.resolution_note);
  return line;
}

std::string list_text(const ItemListing& listing) {
  const std::string of_project =
      listing.project ? " in project " + quoted_name(*listing.project) : std::string();
  const std::string text = fmt::format("{} open, {} resolved{}.", listing.total_open,
                                       listing.total_resolved, of_project);
  if (listing.items.empty()) return text + "\n";
  std::string lines;
  for (const ListedItem& listed : listing.items) lines += item_line(listed.item);
  return quoted_record(text, lines);
}

Tool create_tool(Workspace& workspace) {
  const auto run = [&workspace](const Arguments& arguments, const Exchange&) -> Result<ToolAnswer> {
    const Stopwatch watch;
    CreateItem request;
    request.text = arguments.text_or("text", "");
    request.project = arguments.text("project");
    request.session_id = arguments.text("session_id");
    request.allow_duplicate = arguments.flag("allow_duplicate");
    request.linear_issue = arguments.text_or("linear_issue", "");
    request.opened_by.thread = arguments.text_or("conversation_id", "");
    SKEIN_ASSIGN(Desk* const desk, workspace.change());
    SKEIN_ASSIGN(const WorkItem item, workspace.items(*desk).create(request));
    return ToolAnswer{.text = fmt::format("Created {}:\n{}", item.id, as_quotation(item.text)),
                      .structured = stored_values(create_thread_answer(item, watch))};
  };
  return {.name = "create_thread",
          .title = "Create a work item",
          .description =
              "Note something unresolved, blocked or to follow up, so that later sessions see it. "
              "Refused if an open thread says nearly the same.",
          .parameters = {{.name = "text",
                          .description = "what is open, understandable without this conversation",
                          .required = true},
                         project_parameter("default: that of the session"),
                         session_parameter(),
                         {.name = "allow_duplicate", .kind = Kind::kFlag},
                         {.name = "linear_issue", .description = "its key, such as PROJ-123"},
                         {.name = "conversation_id", .description = "where it came up"}},
          .output_schema = output(R"("thread":)" + std::string(kItem), R"("thread")"),
          .run = plain(run)};
}

Result<KeptListing::Made> make_listing(Workspace& workspace, Desk& desk, const ListItems& request) {
  const Stopwatch watch;
  SKEIN_ASSIGN(const ItemListing listing, workspace.items(desk).list(request));
  std::string json = list_threads_answer(listing, watch);
  json.resize(json.rfind(kPerformance));
  return KeptListing::Made{list_text(listing), std::move(json)};
}

Tool list_tool(Workspace& workspace) {
  const auto run = [&workspace, kept = std::make_shared<KeptListing>()](
                       const Arguments& arguments, const Exchange&) -> Result<ToolAnswer> {
    const Stopwatch watch;
    ListItems request;
    if (const auto status = arguments.text("status")) {
      request.status = *status == "open" ? ItemStatus::kOpen : ItemStatus::kResolved;
    }
    request.include_resolved = arguments.flag("include_resolved");
    request.project = arguments.text("project");
    request.of_session = !arguments.flag("all_projects");
    request.session_id = arguments.text("session_id");
    SKEIN_ASSIGN(Desk* const desk, workspace.look());
    const auto make = [&] { return make_listing(workspace, *desk, request); };
    // What is open does not depend on the clock.
    const bool keeps = !arguments.text("status") && !request.include_resolved && !request.project &&
                       request.of_session && !request.session_id;
    SKEIN_ASSIGN(KeptListing::Made made, keeps ? kept->get(workspace, *desk, make) : make());
    made.json += fmt::format(R"({}{{"latency_ms":{:.3f}}}}})", kPerformance, watch.elapsed_ms());
    return ToolAnswer{.text = std::move(made.text), .structured = stored_values(made.json)};
  };
  return {.name = "list_threads",
          .title = "List work items",
          .description = "List what is unresolved in this workspace, the oldest first.",
          .parameters = {{.name = "status",
                          .kind = Kind::kChoice,
                          .description = "default: open",
                          .choices = {"open", "resolved"}},
                         {.name = "include_resolved",
                          .kind = Kind::kFlag,
                          .description = "also those resolved in the last 14 days"},
                         project_parameter("only those of this project, which the totals count "
                                           "too; default: that of the session"),
                         session_parameter(),
                         {.name = "all_projects", .kind = Kind::kFlag}},
          .output_schema =
              output(R"("threads":{"type":"array","items":)" + std::string(kItem) +
                         R"(},"total_open":{"type":"integer"},"total_resolved":{"type":"integer"})",
                     R"("threads","total_open","total_resolved")"),
          .read_only = true,
          .run = plain(run)};
}

Tool resolve_tool(Workspace& workspace) {
  const auto run = [&workspace](const Arguments& arguments, const Exchange&) -> Result<ToolAnswer> {
    const Stopwatch watch;
    ResolveItem request;
    request.id = arguments.text("thread_id");
    request.text_match = arguments.text("text_match");
    request.project = arguments.text("project");
    request.all_projects = arguments.flag("all_projects");
    request.resolution_note = arguments.text("resolution_note");
    request.session_id = arguments.text("session_id");
    request.closed_by.thread = arguments.text_or("conversation_id", "");
    if (request.id.has_value() == request.text_match.has_value()) {
      return fail(ErrorCode::kInvalid,
                  "give either \"thread_id\" (such as t-1a2b3c4d, from list_threads) or "
                  "\"text_match\" (a part of the thread's text), one of the two");
    }
    SKEIN_ASSIGN(Desk* const desk, workspace.change());
    std::vector<WorkItem> also_resolved;
    SKEIN_ASSIGN(const WorkItem item, workspace.items(*desk).resolve(request, &also_resolved));
    std::string done = fmt::format("Resolved {}", item.id);
    std::string texts = item.text;
    for (const WorkItem& other : also_resolved) {
      done += fmt::format(", and {}, whose duplicate it was", other.id);
      texts += "\n" + other.text;
    }
    return ToolAnswer{
        .text = quoted_record(done + ".", texts),
        .structured = stored_values(resolve_thread_answer(item, also_resolved, watch))};
  };
  return {.name = "resolve_thread",
          .title = "Resolve a work item",
          .description =
              "Mark a thread as done. Give thread_id, or text_match if the id is not known. Doing "
              "it again changes nothing.",
          .parameters = {{.name = "thread_id",
                          .description = "such as t-1a2b3c4d, or #2: the second open one that "
                                         "list_threads shows for the same arguments"},
                         {.name = "text_match",
                          .description = "part of the text of exactly one open thread"},
                         {.name = "resolution_note",
                          .description = "how it was resolved; \"duplicate of t-…\" resolves that "
                                         "thread as well"},
                         {.name = "project"},
                         {.name = "all_projects", .kind = Kind::kFlag},
                         session_parameter(),
                         {.name = "conversation_id", .description = "where that was"}},
          .output_schema =
              output(R"("success":{"type":"boolean"},"resolved_thread":)" + std::string(kItem),
                     R"("success","resolved_thread")"),
          .idempotent = true,
          .run = plain(run)};
}

// Those of the arguments that were given, as an object; absent, if none was.
Json given(const Arguments& arguments, std::initializer_list<std::string_view> names) {
  JsonObject object;
  bool any = false;
  for (const std::string_view name : names) {
    const Json value = arguments.json(name);
    if (value.empty()) continue;
    object.add_json(name, value.text());
    any = true;
  }
  return any ? Json::trusted(object.str()) : Json();
}

Tool start_tool(Workspace& workspace) {
  const auto run = [&workspace](const Arguments& arguments, const Exchange&) -> Result<ToolAnswer> {
    const Stopwatch watch;
    StartSession request;
    request.agent = arguments.text_or(
        "agent", arguments.text_or("agent_identity", workspace.settings().default_agent));
    request.project = arguments.text("project");
    request.session_id = arguments.text("session_id");
    request.carry_from = arguments.text("carry_from");
    request.all_unclosed = arguments.flag("all_unclosed");
    request.extra =
        given(arguments, {"linear_issue", "issue_title", "issue_description", "issue_labels"});
    SKEIN_TRY(check_agent_id(request.agent));
    SKEIN_ASSIGN(Desk* const desk, workspace.change());
    SKEIN_ASSIGN(const StartedSession started, workspace.sessions(*desk).start(request));
    return ToolAnswer{.text = session_start_for_model(started),
                      .structured = stored_values(session_start_answer(started, watch))};
  };
  return {
      .name = "session_start",
      .title = "Start a working session",
      .description =
          "Call this first. Carries over what earlier sessions left open, and tells the "
          "project's state, the last checkpoints and what changed in the repository since.",
      .parameters = {{.name = "agent", .description = "who works"},
                     project_parameter("default: that of the workspace"),
                     {.name = "session_id",
                      .description = "goes on with a known one; default: a new UUID"},
                     {.name = "carry_from",
                      .description = "a closed session whose threads are taken, however old"},
                     {.name = "all_unclosed",
                      .kind = Kind::kFlag,
                      .description = "also list sessions older than 24 hours that were never "
                                     "closed"},
                     {.name = "agent_identity", .description = "the same as agent"},
                     {.name = "linear_issue", .description = "stored with the session"},
                     {.name = "issue_title"},
                     {.name = "issue_description"},
                     {.name = "issue_labels", .kind = Kind::kTexts},
                     {.name = "force",
                      .kind = Kind::kFlag,
                      .description = "has no effect: a start without session_id is always new"}},
      .output_schema =
          output(R"("session_id":{"type":"string"},"session":{"type":"object"},)"
                 R"("open_threads":{"type":"array","items":)" +
                     std::string(kItem) +
                     R"(},"total_open":{"type":"integer"},"total_resolved":{"type":"integer"},)"
                     R"("warnings":{"type":"array","items":{"type":"string"}})",
                 R"("session_id","open_threads")"),
      .run = plain(run)};
}

std::vector<Json> values_of(const Json& array) {
  std::vector<Json> values;
  for (const RawJson value : json_elements(array.text())) {
    values.push_back(Json::trusted(std::string(value)));
  }
  return values;
}

// What GitMem's closing calls have, and is stored with the session.
std::vector<Parameter> stored_parameters() {
  return {{.name = "close_type", .description = "stored with the session, as are the following"},
          {.name = "closing_reflection", .kind = Kind::kObject},
          {.name = "task_completion", .kind = Kind::kObject},
          {.name = "human_corrections"},
          {.name = "linear_issue"},
          {.name = "scars_to_record", .kind = Kind::kArray, .items = R"({"type":"object"})"},
          {.name = "ceremony_duration_ms", .kind = Kind::kWhole},
          {.name = "transcript_path"}};
}

std::string close_text(const ClosedSession& closed) {
  std::string text =
      fmt::format("Closed session {}: {} open, {} new, {} resolved.", closed.session.id,
                  closed.open_items.size(), closed.created, closed.resolved);
  std::string lines;
  for (const WorkItem& item : closed.open_items) lines += item_line(item);
  for (const std::string& warning : closed.warnings) lines += fmt::format("Warning: {}\n", warning);
  return lines.empty() ? text + "\n" : quoted_record(text, lines);
}

bool is_bare(const CloseSession& request) {
  return request.summary.empty() && request.decisions.empty() && request.learnings.empty() &&
         request.open_threads.empty() && request.project_state.empty();
}

// Ends the sessions that nobody closed.
Result<ToolAnswer> close_stale(Workspace& workspace, const CloseSession& request) {
  if (request.session_id || !is_bare(request) || !request.extra.empty()) {
    return fail(ErrorCode::kInvalid, "stale closes several sessions and takes no other argument");
  }
  SKEIN_ASSIGN(Desk* const desk, workspace.change());
  const Timestamp before{workspace.clock().now().us - kStaleSessionUs};
  SKEIN_ASSIGN(const auto closed, workspace.sessions(*desk).close_unclosed(before));
  std::string text = fmt::format("Closed {} session{} that began more than 24 hours ago.\n",
                                 closed.size(), closed.size() == 1 ? "" : "s");
  for (const ClosedSession& one : closed) text += fmt::format("- {}\n", one.session.id);
  std::string json = closed_sessions_answer(closed);
  json.back() = ',';
  return ToolAnswer{.text = std::move(text),
                    .structured = stored_values(json + R"("success":true})")};
}

std::vector<Parameter> close_parameters() {
  constexpr const char* kTextOrObject = R"({"anyOf":[{"type":"string"},{"type":"object"}]})";
  const auto values = [&](const char* name, std::string description = {}) {
    return Parameter{.name = name,
                     .kind = Kind::kArray,
                     .description = std::move(description),
                     .items = kTextOrObject};
  };
  std::vector<Parameter> parameters = {
      session_parameter(),
      {.name = "stale",
       .kind = Kind::kFlag,
       .description = "close all that began more than 24 hours ago instead"},
      {.name = "summary", .description = "what was done"},
      values("decisions"),
      values("learnings"),
      values("learnings_created", "the same as learnings"),
      values("open_threads",
             "what is open besides known threads: texts, or {id, status: resolved} to resolve one"),
      {.name = "project_state",
       .description = "such as \"Skein: OD-1done OD-2~waits for review OD-3->write tests\""}};
  for (Parameter& stored : stored_parameters()) parameters.push_back(std::move(stored));
  return parameters;
}

// GitMem's agents write their payload to a file and call session_close without it. The file may be
// that of another session, or have come with a repository: it is not read, but not ignored either.
bool has_payload_file(Workspace& workspace) {
  const auto file = std::filesystem::path(workspace.items_file()).parent_path();
  std::error_code error;
  return std::filesystem::exists(file / "closing-payload.json", error);
}

Tool close_tool(Workspace& workspace) {
  const auto run = [&workspace](const Arguments& arguments, const Exchange&) -> Result<ToolAnswer> {
    const Stopwatch watch;
    CloseSession request;
    request.session_id = arguments.text("session_id");
    request.summary = arguments.text_or("summary", "");
    request.decisions = values_of(arguments.json("decisions"));
    request.learnings = values_of(arguments.json("learnings"));
    for (Json& value : values_of(arguments.json("learnings_created"))) {
      request.learnings.push_back(std::move(value));
    }
    request.open_threads = arguments.json("open_threads");
    request.project_state = arguments.text_or("project_state", "");
    request.extra = given(
        arguments, {"close_type", "closing_reflection", "task_completion", "human_corrections",
                    "linear_issue", "scars_to_record", "ceremony_duration_ms", "transcript_path"});
    if (arguments.flag("stale")) return close_stale(workspace, request);
    SKEIN_ASSIGN(Desk* const desk, workspace.change());
    SKEIN_ASSIGN(ClosedSession closed, workspace.sessions(*desk).close(request));
    if (is_bare(request) && has_payload_file(workspace)) {
      closed.warnings.push_back(fmt::format(
          ".gitmem/closing-payload.json is not read. To store what it says, call session_start "
          "with session_id {}, then session_close with its members as arguments",
          closed.session.id));
    }
    return ToolAnswer{.text = close_text(closed),
                      .structured = stored_values(session_close_answer(closed, watch))};
  };
  return {.name = "session_close",
          .title = "Close a working session",
          .description =
              "Call this last. Stores what was done and everything that is still open, for the "
              "next session, here or on another machine.",
          .parameters = close_parameters(),
          .output_schema = output(R"("success":{"type":"boolean"},"session":{"type":"object"},)"
                                  R"("open_threads":{"type":"array","items":)" +
                                      std::string(kItem) +
                                      R"(},"created":{"type":"integer"},)"
                                      R"("resolved":{"type":"integer"})",
                                  R"("success")"),
          .run = plain(run)};
}

}  // namespace

std::vector<Tool> item_tools(Workspace& workspace) {
  return {create_tool(workspace), list_tool(workspace), resolve_tool(workspace)};
}

std::vector<Tool> session_tools(Workspace& workspace) {
  return {start_tool(workspace), close_tool(workspace)};
}

std::vector<Tool> workspace_tools(Workspace& workspace) {
  std::vector<Tool> all;
  for (auto* const make : {session_tools, item_tools, checkpoint_tools}) {
    for (Tool& tool : make(workspace)) all.emplace_back(std::move(tool)).of_workspace = true;
  }
  for (auto* const make : {search_tools, conversation_tools}) {
    for (Tool& tool : make(workspace)) all.push_back(std::move(tool));
  }
  return all;
}

}  // namespace skein::mcp
