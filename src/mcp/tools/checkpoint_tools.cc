#include <fmt/format.h>

#include "api/checkpoint_answers.h"
#include "api/checkpoints.h"
#include "core/json_object.h"
#include "core/try.h"
#include "core/visible.h"
#include "mcp/tools/tools.h"

namespace skein::mcp {
namespace {

using Kind = Parameter::Kind;

constexpr std::string_view kCheckpoint =
    R"({"type":"object","properties":{"thread_id":{"type":"string"},"type":{"type":"string"}},)"
    R"("required":["thread_id","type"]})";

std::vector<Parameter> common_parameters() {
  return {{.name = "title",
           .description = "what it is about, in a few words; becomes part of the id",
           .required = true},
          {.name = "summary", .description = "what was accomplished", .required = true},
          {.name = "next_steps", .kind = Kind::kTexts},
          {.name = "tags", .kind = Kind::kTexts},
          {.name = "files",
           .kind = Kind::kTexts,
           .description = "touched files, besides those that git tells"},
          {.name = "session_id", .description = "default: the newest open session"}};
}

// Of a checkpoint, that can also be one that exists.
std::vector<Parameter> checkpoint_parameters() {
  std::vector<Parameter> parameters = common_parameters();
  for (Parameter& parameter : parameters) {
    if (!parameter.required) continue;
    parameter.required = false;
    parameter.description += "; required for a new one";
  }
  parameters.push_back({.name = "worker", .description = "id of the worker whose work this is"});
  parameters.push_back({.name = "skill", .description = "the skill that the worker executed"});
  parameters.push_back(
      {.name = "worker_state",
       .kind = Kind::kChoice,
       .description = "moves idle, loading, executing, verifying, completed; or executing to error",
       .choices = {"idle", "loading", "executing", "verifying", "completed", "error"}});
  parameters.push_back(
      {.name = "update",
       .description = "id, slug or part of the id of a checkpoint to add to, instead of a new "
                      "one; takes summary, next_steps, tags, files and worker_state"});
  return parameters;
}

// Hashes of files are of no use to a model.
Checkpoint without_hashes(Checkpoint checkpoint) {
  if (checkpoint.git) checkpoint.git->uncommitted.reset();
  return checkpoint;
}

Result<std::optional<WorkerState>> state_in(const Arguments& arguments) {
  std::optional<WorkerState> state;
  if (const auto word = arguments.text("worker_state")) {
    SKEIN_ASSIGN(state, parse_worker_state(*word));
  }
  return state;
}

Result<std::optional<Worker>> worker_in(const Arguments& arguments) {
  SKEIN_ASSIGN(const auto state, state_in(arguments));
  const auto id = arguments.text("worker");
  const auto skill = arguments.text("skill");
  if (!id && (skill || state)) {
    return fail(ErrorCode::kInvalid, "skill and worker_state need worker, or update");
  }
  if (!id) return std::nullopt;
  Worker worker;
  worker.id = *id;
  worker.skill = skill;
  worker.state = state.value_or(WorkerState::kIdle);
  return worker;
}

// What is wrong without failing the call is told to a client that listens.
Notice notice_to(const Exchange& exchange) {
  return [&exchange](const std::string& message) {
    exchange.log(LogLevel::kWarning, Json::string(message).text());
  };
}

Result<Checkpoint> make(Workspace& workspace, CheckpointType type, const Arguments& arguments,
                        const Exchange& exchange) {
  NewCheckpoint wanted;
  wanted.type = type;
  wanted.title = arguments.text_or("title", "");
  wanted.summary = arguments.text_or("summary", "");
  wanted.next_steps = arguments.texts("next_steps");
  wanted.tags = arguments.texts("tags");
  wanted.files_touched = arguments.texts("files");
  SKEIN_ASSIGN(wanted.worker, worker_in(arguments));
  SKEIN_ASSIGN(Desk* const desk, workspace.look());
  return make_checkpoint(workspace.settings(), desk->store(), std::move(wanted),
                         arguments.text("session_id"), notice_to(exchange));
}

Result<Checkpoint> make_new(Workspace& workspace, const Arguments& arguments,
                            const Exchange& exchange) {
  for (const char* name : {"title", "summary"}) {
    if (!arguments.text(name)) {
      return fail(ErrorCode::kInvalid, fmt::format("{} is required for a new checkpoint", name));
    }
  }
  return make(workspace, CheckpointType::kCheckpoint, arguments, exchange);
}

Result<Checkpoint> update(const Workspace& workspace, const std::string& part,
                          const Arguments& arguments, const Exchange& exchange) {
  for (const char* name : {"title", "worker", "skill", "session_id"}) {
    if (!arguments.text_or(name, "").empty()) {
      return fail(ErrorCode::kInvalid,
                  fmt::format("{} is for a new checkpoint; update takes summary, "
                              "next_steps, tags, files, worker_state",
                              name));
    }
  }
  CheckpointUpdate changes;
  changes.summary = arguments.text("summary");
  changes.next_steps = arguments.texts("next_steps");
  changes.tags = arguments.texts("tags");
  changes.files_touched = arguments.texts("files");
  SKEIN_ASSIGN(changes.worker_state, state_in(arguments));
  return workspace_checkpoints(workspace.settings(), notice_to(exchange)).update(part, changes);
}

Tool checkpoint_tool(Workspace& workspace) {
  const auto run = [&workspace](const Arguments& arguments,
                                const Exchange& exchange) -> Result<ToolAnswer> {
    const auto part = arguments.text("update");
    SKEIN_ASSIGN(const Checkpoint written, part ? update(workspace, *part, arguments, exchange)
                                                : make_new(workspace, arguments, exchange));
    return ToolAnswer{.text = fmt::format("{} checkpoint {}.\n", part ? "Updated" : "Wrote",
                                          visible_line(written.id)),
                      .structured = stored_values(
                          JsonObject()
                              .add("thread_id", written.id)
                              .add_json("checkpoint", checkpoint_json(without_hashes(written)))
                              .str())};
  };
  return {.name = "checkpoint",
          .title = "Write a checkpoint",
          .description =
              "Write down where the work stands: summary, next steps, branch, commits of this "
              "session, uncommitted files. Do so at milestones. With update: add to one, with the "
              "commits made since.",
          .parameters = checkpoint_parameters(),
          .output_schema = Json::trusted(
              R"({"type":"object","properties":{"thread_id":{"type":"string"},"checkpoint":)" +
              std::string(kCheckpoint) + R"(},"required":["thread_id","checkpoint"]})"),
          .run = plain(run)};
}

Tool handoff_tool(Workspace& workspace) {
  const auto run = [&workspace](const Arguments& arguments,
                                const Exchange& exchange) -> Result<ToolAnswer> {
    SKEIN_ASSIGN(const Checkpoint made,
                 make(workspace, CheckpointType::kHandoff, arguments, exchange));
    SKEIN_ASSIGN(Desk* const desk, workspace.look());
    SKEIN_ASSIGN(const Resumed resumed,
                 resume_checkpoint(workspace.settings(), desk->store(), made.id,
                                   arguments.text("session_id"), notice_to(exchange)));
    const std::string prompt = handoff_prompt(resumed);
    return ToolAnswer{.text = prompt,
                      .structured = stored_values(
                          JsonObject()
                              .add_json("checkpoint", checkpoint_json(without_hashes(made)))
                              .add("prompt", prompt)
                              .str())};
  };
  return {.name = "handoff",
          .title = "Hand work over",
          .description =
              "Write a checkpoint for somebody else who will go on, and get a prompt for them to "
              "begin with.",
          .parameters = common_parameters(),
          .output_schema = Json::trusted(
              R"({"type":"object","properties":{"checkpoint":)" + std::string(kCheckpoint) +
              R"(,"prompt":{"type":"string"}},"required":["checkpoint","prompt"]})"),
          .run = plain(run)};
}

Tool resume_tool(Workspace& workspace) {
  const auto run = [&workspace](const Arguments& arguments,
                                const Exchange& exchange) -> Result<ToolAnswer> {
    SKEIN_ASSIGN(Desk* const desk, workspace.look());
    SKEIN_ASSIGN(Resumed resumed,
                 resume_checkpoint(workspace.settings(), desk->store(), arguments.text_or("id", ""),
                                   {}, notice_to(exchange)));
    resumed.checkpoint = without_hashes(std::move(resumed.checkpoint));
    return ToolAnswer{.text = resumed_for_model(resumed),
                      .structured = stored_values(resumed_json(resumed))};
  };
  return {
      .name = "resume_checkpoint",
      .title = "Resume from a checkpoint",
      .description = "Show a checkpoint, what is open, and how far the repository has moved since.",
      .parameters = {{.name = "id",
                      .description =
                          "of the checkpoint, its slug, or a part of the id; default: the newest"}},
      .output_schema = Json::trusted(R"({"type":"object","properties":{"checkpoint":)" +
                                     std::string(kCheckpoint) +
                                     R"(,"drift":{"type":"object"},"open_items":{"type":)"
                                     R"("array"}},"required":["checkpoint","drift"]})"),
      .read_only = true,
      .run = plain(run)};
}

Tool list_tool(Workspace& workspace) {
  const auto run = [&workspace](const Arguments& arguments,
                                const Exchange& exchange) -> Result<ToolAnswer> {
    CheckpointQuery query;
    query.words = arguments.text_or("query", "");
    query.tags = arguments.texts("tags");
    query.since = arguments.time("since");
    query.limit = static_cast<std::size_t>(arguments.whole("limit").value_or(20));
    if (const auto type = arguments.text("type")) {
      SKEIN_ASSIGN(const CheckpointType wanted, parse_checkpoint_type(*type));
      query.types = {wanted};
    }
    SKEIN_ASSIGN(const auto entries,
                 workspace_checkpoints(workspace.settings(), notice_to(exchange)).list(query));
    return ToolAnswer{.text = entries_for_model(entries),
                      .structured = stored_values(
                          JsonObject().add_json("checkpoints", entries_json(entries)).str())};
  };
  return {.name = "list_checkpoints",
          .title = "List checkpoints",
          .description = "List or search checkpoints of this workspace, the newest first.",
          .parameters = {{.name = "query", .description = "words that must all be in it"},
                         {.name = "tags", .kind = Kind::kTexts},
                         {.name = "type",
                          .kind = Kind::kChoice,
                          .choices = {"checkpoint", "auto-checkpoint", "handoff"}},
                         {.name = "since",
                          .kind = Kind::kTime,
                          .description = "2026-01-23, an ISO time, or 7d, 12h"},
                         {.name = "limit", .kind = Kind::kWhole, .min = 1, .max = 200}},
          .output_schema = Json::trusted(
              R"({"type":"object","properties":{"checkpoints":{"type":"array","items":)" +
              std::string(kCheckpoint) + R"(}},"required":["checkpoints"]})"),
          .read_only = true,
          .run = plain(run)};
}

}  // namespace

std::vector<Tool> checkpoint_tools(Workspace& workspace) {
  return {checkpoint_tool(workspace), handoff_tool(workspace), resume_tool(workspace),
          list_tool(workspace)};
}

}  // namespace skein::mcp
