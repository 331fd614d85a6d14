#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "api/private_files.h"
#include "api/setup.h"
#include "api/unsigned_records.h"
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

// It is as it was written; who wrote it is not known.
Finding finding_of(const UnsignedRecord& record, const RecordSigner& signer) {
  return {.health = Health::kUnverifiable,
          .what = record.description + "; has no effect: " + signer.why_inert(),
          .repair = "skein trust"};
}

std::string setup_json(const std::vector<SetupCheck>& checks) {
  std::vector<std::string> all;
  for (const SetupCheck& check : checks) {
    JsonObject object;
    object.add("name", check.name).add("state", to_string(check.state));
    object.add("what", printable(check.what));
    if (!check.next.empty()) object.add("next", check.next);
    all.push_back(object.str());
  }
  return fmt::format("[{}]", fmt::join(all, ","));
}

std::string setup_text(const std::vector<SetupCheck>& checks) {
  std::string text;
  for (const SetupCheck& check : checks) {
    text += fmt::format("{:<9}  {:<7}  {}\n", check.name, to_string(check.state),
                        visible_line(check.what));
    if (!check.next.empty()) text += fmt::format("{:<20}to do: {}\n", "", check.next);
  }
  return text;
}

class Doctor : public Command {
 public:
  CommandInfo info() const override {
    return {.name = "doctor",
            .summary = "check the setup and all that is stored, and say what is wrong",
            .examples =
                "  skein doctor\n"
                "  skein doctor --setup\n"
                "  skein doctor --store jsonl:workspace/agents --json\n"
                "  skein doctor --repair\n",
            .details =
                "healthy: everything is as it was written. unverifiable: so are some events, as "
                "far as one can tell;\nother programs wrote them without checksums. broken: the "
                "findings say where, and what would help.\nAPI keys, triggers, tasks and open runs "
                "that "
                "this user did not sign are listed; they have no effect.\nOf the setup: fine; off: "
                "not set up, which "
                "may be as you want it; problem: the settings ask for what\ncannot work. The exit "
                "code is 1 when something is broken or a problem."};
  }

  std::vector<Argument> arguments() override {
    return {{.names = "--repair",
             .help = "repair what can be repaired without losing anything, and make files private",
             .set = into(repair_)},
            {.names = "--setup",
             .help = "only the setup: programs, models, agents, room on the disk",
             .set = into(only_setup_)}};
  }

  Outcome run(Context& context) override {
    SKEIN_ASSIGN_OR_FAIL(const Settings settings, context.settings(Context::Notices::kNone));
    std::size_t made_private = 0;
    if (repair_) {
      SKEIN_ASSIGN(made_private, make_files_private(settings));
    }
    const std::vector<SetupCheck> setup = check_setup(settings);
    const bool sound = std::none_of(setup.begin(), setup.end(), [](const SetupCheck& check) {
      return check.state == SetupCheck::State::kProblem;
    });
    if (!context.json()) {
      context.out().write(program_text() + setup_text(setup) + private_text(made_private));
    }
    if (only_setup_) {
      if (context.json()) {
        context.out().write(JsonObject().add_json("setup", setup_json(setup)).str() + "\n");
      }
      return sound ? kExitDone : kExitRefused;
    }
    SKEIN_ASSIGN_OR_FAIL(auto store, context.open(IfMissing::kRefuse));
    // Findings are collected for the JSON only; as text each is printed when it is found.
    std::vector<std::string> findings;
    SKEIN_ASSIGN(const CheckSummary summary, check_store(context, *store, findings));
    SKEIN_ASSIGN(const std::size_t inert, report_inert(context, *store, settings, findings));
    if (context.json()) {
      print_json(context, settings, summary, findings, setup, inert);
    } else {
      print_text(context, settings, summary, inert);
    }
    return summary.health == Health::kBroken || !sound ? kExitRefused : kExitDone;
  }

 private:
  static void report(Context& context, const Finding& finding, std::vector<std::string>& findings) {
    if (context.json()) {
      findings.push_back(finding_json(finding));
    } else {
      context.out().write(finding_text(finding));
    }
  }

  Result<CheckSummary> check_store(Context& context, Store& store,
                                   std::vector<std::string>& findings) const {
    Progress progress("checking");
    auto summary =
        store.check({.repair = repair_,
                     .progress = [&](std::uint64_t done,
                                     std::uint64_t total) { progress.update(done, total); }},
                    [&](const Finding& finding) {
                      if (!context.json()) progress.clear();
                      report(context, finding, findings);
                    });
    progress.clear();
    return summary;
  }

  // How many records of the store have no effect, as this user did not sign them.
  static Result<std::size_t> report_inert(Context& context, Store& store, const Settings& settings,
                                          std::vector<std::string>& findings) {
    if (!settings.signer) return std::size_t{0};
    SKEIN_ASSIGN(const auto inert, list_unsigned_records(store, *settings.signer));
    for (const UnsignedRecord& record : inert) {
      report(context, finding_of(record, *settings.signer), findings);
    }
    return inert.size();
  }

  static void print_json(Context& context, const Settings& settings, const CheckSummary& summary,
                         const std::vector<std::string>& findings,
                         const std::vector<SetupCheck>& setup, std::size_t inert) {
    JsonObject object;
    object.add("health", health_word(summary.health));
    object.add("store", printable(without_password(settings.store_url)));
    object.add("workspace", printable(settings.workspace.string()));
    if (settings.config_file) object.add("config", printable(settings.config_file->string()));
    object.add("skein", SKEIN_VERSION).add("sqlite", sqlite_version());
    object.add("threads", summary.threads).add("events", summary.events);
    object.add("records", summary.records).add("unverifiable", summary.unverifiable);
    object.add("broken", summary.broken).add("unsigned", std::uint64_t{inert});
    object.add_json("findings", fmt::format("[{}]", fmt::join(findings, ",")));
    object.add_json("setup", setup_json(setup));
    context.out().write(object.str() + "\n");
  }

  static std::string private_text(std::size_t changed) {
    if (changed == 0) return "";
    return fmt::format("repaired   made {} files and folders private\n", changed);
  }

  static std::string program_text() {
    return fmt::format("program    skein {}, SQLite {}\n", SKEIN_VERSION, sqlite_version());
  }

  static void print_text(Context& context, const Settings& settings, const CheckSummary& summary,
                         std::size_t inert) {
    std::string text = fmt::format("workspace  {}\n", settings.workspace.string());
    if (settings.config_file)
      text += fmt::format("config     {}\n", settings.config_file->string());
    text += fmt::format("checked    {} threads, {} events, {} records\n", summary.threads,
                        summary.events, summary.records);
    if (summary.unverifiable > 0) {
      text += fmt::format("           {} events without a checksum, written by other programs\n",
                          summary.unverifiable);
    }
    if (inert > 0) text += fmt::format("           {} records that are not signed\n", inert);
    if (summary.broken > 0) text += fmt::format("           {} findings\n", summary.broken);
    text += fmt::format("{}\n", health_word(summary.health));
    context.out().write_stored(text);
  }

  bool repair_ = false;
  bool only_setup_ = false;
};

}  // namespace

CommandGroup care_commands() {
  CommandGroup group;
  group.commands.push_back(init_command());
  group.commands.push_back(std::make_unique<Doctor>());
  group.commands.push_back(cleanup_command());
  group.commands.push_back(demo_command());
  return group;
}

}  // namespace skein
