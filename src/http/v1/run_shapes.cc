#include "http/v1/named_shapes.h"

namespace skein::http::v1 {
namespace {

void add_runs(NamedShapes& shapes) {
  shapes.emplace_back("RunStatus",
                      choice({"pending", "running", "success", "error", "interrupted", "timeout"}));
  shapes.emplace_back("Multitask", choice({"enqueue", "reject", "interrupt", "rollback"}));
  shapes.emplace_back(
      "Run",
      record({must("runId", text()),
              must("threadId", text()),
              must("agentId", text()),
              must("status", named("RunStatus")),
              must("multitask", named("Multitask")),
              must("createdAt", time()),
              may("startedAt", time()),
              may("endedAt", time()),
              may("error", object({must("code", text()), must("message", text())})),
              may("usage", pairs(real())),
              may("model", text()),
              may("chain", list(text())),
              may("parentRunId", text()),
              may("metadata", pairs(anything())),
              may("input", list(pairs(anything()))),
              may("kwargs", pairs(anything())),
              may("baseSeq", whole(1)),
              may("firstSeq", whole(1)),
              may("lastSeq", whole(1)),
              may("userSeq", whole(1)),
              may("responseSeq", whole(1)),
              may("question",
                  object({must("calls", list(record({must("id", text()), must("name", text()),
                                                     may("input", pairs(anything()))})))}),
                  "Tools that wait for a person's yes"),
              may("rolledBack", truth()),
              may("effects", list(text())),
              may("resumed", whole(0))}));
  shapes.emplace_back("RunPage", page("runs", named("Run")));
  shapes.emplace_back(
      "RunOutcome",
      object({must("runId", text()), must("threadId", text()), must("status", named("RunStatus")),
              must("response", text(), "What the agent answered; empty: nothing"),
              must("run", named("Run"))}));
}

void add_usage(NamedShapes& shapes) {
  const std::vector<Member> totals = {
      must("runs", whole(0)),         must("inputTokens", whole(0)),
      must("outputTokens", whole(0)), must("cacheReadTokens", whole(0)),
      must("costUsd", real()),        must("durationMs", real()),
      must("turns", whole(0))};
  shapes.emplace_back("UsageTotals", object(totals));
  std::vector<Member> row = {may("agent", text()), may("day", text(), "2026-01-23, in UTC"),
                             may("model", text()), may("thread", text()),
                             may("gone", truth(), "The thread was deleted")};
  row.insert(row.end(), totals.begin(), totals.end());
  shapes.emplace_back("UsageRow", object(row));
  shapes.emplace_back("UsageReport", object({must("rows", list(named("UsageRow"))),
                                             must("all", named("UsageTotals"))}));
}

void add_tasks(NamedShapes& shapes) {
  shapes.emplace_back(
      "Task",
      record({must("id", text()), must("agentId", text()), must("threadId", text()),
              must("owner", text(), "The agent, or \"user\""), may("title", text()),
              must("text", text()),
              may("steps", list(object({must("title", text()), may("details", text()),
                                        must("done", truth()), may("taskId", text())}))),
              may("parentTaskId", text()), must("createdAt", time()), must("updatedAt", time()),
              may("doneAt", time()), may("cancelledAt", time()), may("note", text()),
              must("status", choice({"open", "running", "done", "failed", "waiting", "interrupted",
                                     "cancelled"})),
              may("lastRun", named("Run")), may("threadGone", truth())}));
  shapes.emplace_back("TaskList", object({must("tasks", list(named("Task")))}));
  shapes.emplace_back(
      "Trigger",
      record({must("id", text()), may("name", text()), must("agentId", text()),
              must("cron", text()), must("zone", text()), must("text", text()),
              must("enabled", truth()), must("createdAt", time()), may("since", time()),
              may("next", time()), may("last", pairs(anything())), must("missed", whole(0)),
              must("overdue", whole(0)), may("problem", text())}));
  shapes.emplace_back("TriggerList", object({must("triggers", list(named("Trigger")))}));
}

void add_agents(NamedShapes& shapes) {
  shapes.emplace_back(
      "Agent", record({must("id", text()), must("engine", text()), may("model", text()),
                       may("description", text()), may("system", text()),
                       must("capabilities", pairs(anything())), must("limits", pairs(real())),
                       must("context", pairs(anything()))}));
  shapes.emplace_back(
      "AgentList", object({must("agents", list(named("Agent"))),
                           must("problems",
                                list(object({must("agent", text()), must("file", text()),
                                             must("field", text()), must("reason", text())})),
                                "Definitions with mistakes; told to keys that see all agents")}));
}

}  // namespace

void add_run_shapes(NamedShapes& shapes) {
  add_runs(shapes);
  add_usage(shapes);
  add_tasks(shapes);
  add_agents(shapes);
}

}  // namespace skein::http::v1
