#include "http/v1/named_shapes.h"

namespace skein::http::v1 {
namespace {

Shape links() {
  return record({may("session", text()), may("thread", text()), may("thread_is_gone", truth()),
                 may("run", text()), may("checkpoint", text()), may("commit", text())});
}

void add_items(NamedShapes& shapes) {
  const std::vector<Member> item = {must("id", text()),
                                    must("text", text()),
                                    must("status", choice({"open", "resolved"})),
                                    must("created_at", time()),
                                    may("resolved_at", time()),
                                    may("source_session", text()),
                                    may("resolved_by_session", text()),
                                    may("resolution_note", text()),
                                    may("linear_issue", text())};
  shapes.emplace_back("WorkItem", record(item));
  std::vector<Member> with_details = item;
  with_details.push_back(must("project", text()));
  with_details.push_back(must("vitality", object({must("value", real()), must("state", text())}),
                              "0 to 1; emerging, active, cooling or dormant"));
  with_details.push_back(must("opened_by", links()));
  with_details.push_back(may("closed_by", links()));
  shapes.emplace_back("ItemDetails", record(with_details));
  with_details.push_back(
      may("also_resolved", list(named("WorkItem")),
          "Items that the resolution note calls duplicates: \"Duplicate of t-…\""));
  shapes.emplace_back("ResolvedItem", record(with_details));
  shapes.emplace_back(
      "ItemList",
      object({must("items", list(named("ItemDetails"))), must("total_open", whole(0)),
              must("total_resolved", whole(0)),
              may("project", text(), "Whose items these are; absent: of the workspace")}));
}

void add_sessions(NamedShapes& shapes) {
  shapes.emplace_back(
      "WorkSession",
      record({must("session_id", text()), must("agent", text()), must("project", text()),
              must("started_at", time()), may("closed_at", time()), may("branch", text()),
              may("head", text()), may("summary", text()), may("decisions", list(anything())),
              may("learnings", list(anything()))}));
  shapes.emplace_back(
      "StartedSession",
      record(
          {must("session_id", text()), must("session", named("WorkSession")),
           must("open_threads", list(named("WorkItem")), "What is open, the liveliest first"),
           must("total_open", whole(0)), must("total_resolved", whole(0)),
           may("project_state", pairs(anything())), may("repository", pairs(anything())),
           must("checkpoints", list(pairs(anything()))), may("last_session", named("WorkSession")),
           must("unclosed_sessions", list(named("WorkSession")), "Of the last 24 hours"),
           may("older_unclosed_sessions", whole(0), "How many more there are"),
           may("left_behind", pairs(anything()),
               "The last session, if it is too old to be carried over and has items that are open"),
           must("warnings", list(text()))}));
  shapes.emplace_back(
      "ClosedSession",
      record({must("success", truth()), must("session", named("WorkSession")),
              must("open_threads", list(named("WorkItem"))), must("created", whole(0)),
              must("resolved", whole(0)), must("warnings", list(text()))}));
}

constexpr const char* kTypes =
    "checkpoint, auto-checkpoint, handoff, or a word of another program, such as task";

void add_checkpoints(NamedShapes& shapes) {
  shapes.emplace_back("CheckpointType", choice({"checkpoint", "auto-checkpoint", "handoff"}));
  shapes.emplace_back("WorkerState",
                      choice({"idle", "loading", "executing", "verifying", "completed", "error"}));
  shapes.emplace_back(
      "CheckpointEntry",
      record({must("thread_id", text(), "The checkpoint's id: T-YYYYMMDD-HHMMSS-slug"),
              must("type", text(), kTypes), must("created_at", time()), must("title", text()),
              must("conversation_summary", text()), must("tags", list(text())),
              may("worker", text()), may("worker_state", text()), may("branch", text()),
              may("current_commit", text()), must("next_steps", whole(0)), may("older", truth()),
              may("archive", text(), "The month of the archive that it is in: YYYY-MM")}));
  shapes.emplace_back("CheckpointPage", page("checkpoints", named("CheckpointEntry")));
  shapes.emplace_back(
      "Checkpoint",
      record({must("thread_id", text()), must("version", whole(0)), must("type", text(), kTypes),
              must("created_at", time()), must("updated_at", time()),
              must("workspace_root", text()), must("cwd", text()), may("git", pairs(anything())),
              may("worker", pairs(anything())), must("conversation_summary", text()),
              must("files_touched", list(text())), may("next_steps", list(text())),
              may("metadata", pairs(anything()))}));
  shapes.emplace_back(
      "ResumedCheckpoint",
      record({must("checkpoint", named("Checkpoint")),
              must("drift", pairs(anything()), "How far the repository has moved since"),
              may("project", text(), "Whose items these are; absent: of the whole workspace"),
              must("open_items", list(object({must("id", text()), must("text", text())}))),
              must("prompt", text(), "What to put before whoever continues")}));
}

}  // namespace

void add_work_shapes(NamedShapes& shapes) {
  add_items(shapes);
  add_sessions(shapes);
  add_checkpoints(shapes);
}

}  // namespace skein::http::v1
