#include <fmt/format.h>

#include <memory>
#include <string>
#include <vector>

#include "cli/arguments.h"
#include "cli/context.h"
#include "core/json_object.h"
#include "core/sqlite.h"
#include "core/try.h"

namespace skein {
namespace {

const char* health_word(Health health) {
  switch (health) {
    case Health::kHealthy:
      return "healthy";
    case Health::kUnverifiable:
      return "unverifiable";
    case Health::kBroken:
      return "broken";
  }
  return "";
}

std::string finding_json(const Finding& finding) {
  JsonObject object;
  object.add("health", health_word(finding.health));
  if (finding.thread) object.add("threadId", finding.thread->str());
  if (finding.seq > 0) object.add("seq", finding.seq);
  object.add("what", finding.what);
  if (!finding.repair.empty()) object.add("repair", finding.repair);
  object.add("repaired", finding.repaired);
  return object.str();
}

std::string finding_text(const Finding& finding) {
  std::string line = finding.repaired ? "repaired" : health_word(finding.health);
  if (finding.thread) line += "  thread " + finding.thread->str();
  if (finding.seq > 0) line += fmt::format(", event {}", finding.seq);
  line += ": " + visible_line(finding.what) + "\n";
  if (!finding.repair.empty() && !finding.repaired) {
    line += "    repair: " + visible_line(finding.repair) + "\n";
  }
  return line;
}

class Doctor : public Command {
 public:
  CommandInfo info() const override {
    return {.name = "doctor",
            .summary = "check all that is stored, and say what is wrong with it",
            .examples =
                "  skein doctor\n"
                "  skein doctor --store jsonl:workspace/agents --json\n"
                "  skein doctor --repair\n",
            .details =
                "healthy: everything is as it was written. unverifiable: so are some events, as "
                "far as one can tell;\nother programs wrote them without checksums. broken: the "
                "findings say where, and what would help.\nThe exit code is 1 when it is broken."};
  }

  std::vector<Argument> arguments() override {
    return {{.names = "--repair",
             .help = "mend what can be mended without losing anything",
             .set = into(repair_)}};
  }

  Outcome run(Context& context) override {
    SKEIN_ASSIGN_OR_FAIL(const Settings settings, context.settings());
    // Findings are kept for the JSON only; as text they are told as they come.
    std::vector<std::string> findings;
    Progress progress("checking");
    SKEIN_ASSIGN_OR_FAIL(auto store, context.open(IfMissing::kRefuse));
    SKEIN_ASSIGN(
        const CheckSummary summary,
        store->check({.repair = repair_,
                      .progress = [&](std::uint64_t done,
                                      std::uint64_t total) { progress.update(done, total); }},
                     [&](const Finding& finding) {
                       if (context.json()) {
                         findings.push_back(finding_json(finding));
                       } else {
                         progress.clear();
                         context.out().write(finding_text(finding));
                       }
                     }));
    progress.clear();
    if (context.json()) {
      print_json(context, settings, summary, findings);
    } else {
      print_text(context, settings, summary);
    }
    return summary.health == Health::kBroken ? kExitRefused : kExitDone;
  }

 private:
  static void print_json(Context& context, const Settings& settings, const CheckSummary& summary,
                         const std::vector<std::string>& findings) {
    JsonObject object;
    object.add("health", health_word(summary.health));
    object.add("store", printable(settings.store_url));
    object.add("workspace", printable(settings.workspace.string()));
    if (settings.config_file) object.add("config", printable(settings.config_file->string()));
    object.add("skein", SKEIN_VERSION).add("sqlite", sqlite_version());
    object.add("threads", summary.threads).add("events", summary.events);
    object.add("records", summary.records).add("unverifiable", summary.unverifiable);
    object.add("broken", summary.broken);
    object.add_json("findings", fmt::format("[{}]", fmt::join(findings, ",")));
    context.out().write(object.str() + "\n");
  }

  static void print_text(Context& context, const Settings& settings, const CheckSummary& summary) {
    std::string text =
        fmt::format("program    skein {}, SQLite {}\n", SKEIN_VERSION, sqlite_version());
    text += fmt::format("store      {}\n", settings.store_url);
    text += fmt::format("workspace  {}\n", settings.workspace.string());
    if (settings.config_file)
      text += fmt::format("config     {}\n", settings.config_file->string());
    text += fmt::format("checked    {} threads, {} events, {} records\n", summary.threads,
                        summary.events, summary.records);
    if (summary.unverifiable > 0) {
      text += fmt::format("           {} events without a checksum, written by other programs\n",
                          summary.unverifiable);
    }
    if (summary.broken > 0) text += fmt::format("           {} findings\n", summary.broken);
    text += fmt::format("{}\n", health_word(summary.health));
    context.out().write_stored(text);
  }

  bool repair_ = false;
};

}  // namespace

CommandGroup care_commands() {
  CommandGroup group;
  group.commands.push_back(std::make_unique<Doctor>());
  group.commands.push_back(cleanup_command());
  return group;
}

}  // namespace skein
