#include "cli/import_output.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/table.h"
#include "core/json_array.h"
#include "core/json_object.h"

namespace skein {
namespace {

std::string why_text(const ImportRow& row) {
  std::string text;
  for (const auto& [reason, count] : row.left_out) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, reason);
  }
  return text.empty() ? "-" : text;
}

std::string row_json(const ImportRow& row) {
  JsonObject why;
  for (const auto& [reason, count] : row.left_out) why.add(reason, count);
  return JsonObject()
      .add("kind", row.kind)
      .add("found", row.found)
      .add("taken", row.taken)
      .add("there", row.there)
      .add("leftOut", row.left_out_count())
      .add_json("why", why.str())
      .str();
}

std::string unmapped_json(const UnmappedField& field) {
  return JsonObject()
      .add("agent", field.agent)
      .add("field", field.field)
      .add("advice", field.advice)
      .str();
}

// How many definitions and records arrived that do nothing yet.
std::uint64_t inactive_of(const ImportReport& report) {
  return report.taken_of("agents") + report.taken_of("tasks") + report.taken_of("triggers");
}

std::string checkpoints_json(const CheckpointImportSummary& summary) {
  return JsonObject()
      .add("imported", summary.imported)
      .add("present", summary.present)
      .add("redacted", summary.redacted)
      .add("unreadable", summary.unreadable)
      .add("conflicts", summary.conflicts)
      .str();
}

std::string without_agent_json(const ImportSummary& summary, const ImportOutput& output) {
  return JsonObject()
      .add("threads", summary.without_agent)
      .add("agent", output.default_agent)
      .str();
}

std::string ignored_json(const ImportSummary& summary) {
  JsonObject kinds;
  for (const auto& [kind, count] : summary.ignored) kinds.add(kind, count);
  return kinds.str();
}

void print_json(Context& context, const ImportTotals& totals, const ImportOutput& output) {
  const ImportSummary& threads = totals.threads;
  const ImportReport& report = totals.report;
  std::vector<std::string> rows;
  for (const ImportRow& row : report.rows()) rows.push_back(row_json(row));
  std::vector<std::string> unmapped;
  for (const UnmappedField& field : report.unmapped()) unmapped.push_back(unmapped_json(field));
  std::vector<std::string> sources;
  for (const std::string& source : report.sources()) sources.push_back(printable(source));
  JsonObject object;
  object.add("dryRun", output.dry_run).add("sources", sources);
  object.add_json("kinds", json_array_of(rows)).add_json("unmapped", json_array_of(unmapped));
  object.add("inactive", inactive_of(report)).add("imported", threads.imported);
  object.add("importedEvents", threads.imported_events).add("present", threads.present);
  object.add("extended", threads.extended).add("newEvents", threads.new_events);
  object.add("redacted", report.redacted()).add("unreadable", threads.unreadable);
  object.add("conflicts", threads.conflicts).add("failed", threads.failed);
  object.add_json("withoutAgent", without_agent_json(threads, output));
  object.add_json("ignored", ignored_json(threads));
  object.add_json("checkpoints", checkpoints_json(totals.checkpoints));
  object.add("items", report.taken_of("work items"));
  object.add_json("problems", json_array_of(output.problems));
  if (inactive_of(report) > 0) object.add("trust", printable(output.trust_command));
  context.out().write(object.str() + "\n");
}

void print_table(Context& context, const ImportReport& report) {
  Table table(context, {"KIND", "FOUND", "TAKEN", "ALREADY THERE", "LEFT OUT", "WHY"});
  for (const ImportRow& row : report.rows()) {
    table.add({row.kind, std::to_string(row.found), std::to_string(row.taken),
               std::to_string(row.there), std::to_string(row.left_out_count()), why_text(row)},
              "");
  }
  table.print();
}

// Fields with the same advice, and of the same agent, on one line.
std::string unmapped_text(const ImportReport& report) {
  std::map<std::pair<std::string, std::string>, std::vector<std::string>> fields;
  for (const UnmappedField& field : report.unmapped()) {
    fields[{field.agent, field.advice}].push_back(field.field);
  }
  std::string text = fields.empty() ? "" : "without a counterpart in definitions of agents:\n";
  for (const auto& [key, names] : fields) {
    text += visible(fmt::format("  {}  {} ({})", key.first, fmt::join(names, ", "), key.second));
    text += "\n";
  }
  return text;
}

std::string without_agent_text(const ImportSummary& summary, const ImportOutput& output) {
  if (summary.without_agent == 0) return "";
  return fmt::format("{} threads name no agent and belong to {} (--agent names another)\n",
                     summary.without_agent, output.default_agent);
}

std::string ignored_text(const ImportSummary& summary) {
  std::string text;
  for (const auto& [kind, count] : summary.ignored) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, visible_line(kind));
  }
  return text.empty() ? "" : "ignored: " + text + "\n";
}

}  // namespace

std::string problem_text(const FileProblem& problem) {
  // Messages about a whole file may begin with its place already.
  const std::string file = problem.file.string();
  if (problem.line == 0 && problem.message.starts_with(file)) return problem.message;
  const std::string line = problem.line > 0 ? fmt::format(":{}", problem.line) : "";
  return fmt::format("{}{}: {}", file, line, problem.message);
}

std::string problem_json(const FileProblem& problem) {
  JsonObject object;
  object.add("file", printable(problem.file.string()));
  if (problem.line > 0) object.add("line", problem.line);
  return object.add("message", printable(problem.message)).str();
}

void print_import(Context& context, const ImportTotals& totals, const ImportOutput& output) {
  if (context.json()) return print_json(context, totals, output);
  const ImportReport& report = totals.report;
  for (const std::string& source : report.sources()) {
    context.out().write(visible_line(printable(source)) + "\n");
  }
  print_table(context, report);
  std::string text = without_agent_text(totals.threads, output) + ignored_text(totals.threads);
  if (report.redacted() > 0) text += fmt::format("redacted: {} credentials\n", report.redacted());
  text += unmapped_text(report);
  const std::uint64_t inactive = inactive_of(report);
  if (output.dry_run) {
    text += "nothing was written (--dry-run)\n";
  } else if (!report.took_anything()) {
    text += "nothing changed\n";
  } else if (inactive > 0) {
    text += fmt::format(
        "{} agents, tasks and triggers are inactive until you review them with:\n  {}\n", inactive,
        output.trust_command);
  }
  context.out().write(text);
}

}  // namespace skein
