#include <fmt/format.h>

#include "api/agent_trust.h"
#include "api/agents.h"
#include "cli/arguments.h"
#include "cli/context.h"
#include "cli/table.h"
#include "core/try.h"
#include "skein/triggers.h"

namespace skein {
namespace {

Triggers triggers_of(const Settings& settings, Store& store) {
  return {store, system_clock(), random_ids(), settings.signer};
}

void print_due(const TriggerInfo& info) {
  const std::string zone = " (zone " + info.trigger.zone + ")";
  if (!info.trigger.enabled) {
    print_notice("disabled" + zone);
  } else if (info.next) {
    print_notice("due next at " + info.next->str() + zone);
  }
}

Argument trigger_argument(std::string& id) {
  return {
      .names = "ID", .value_name = "ID", .help = "the trigger", .set = into(id), .required = true};
}

class Add : public Command {
 public:
  CommandInfo info() const override {
    return {.name = "add",
            .summary = "run an agent on a schedule",
            .examples =
                "  skein trigger add reporter \"0 9 * * MON-FRI\" \"What is new?\" --zone "
                "Europe/Berlin\n"
                "  skein trigger add cleaner @daily \"Look for stale branches\" --name nightly "
                "--json\n",
            .details =
                "The expression has five fields: minute, hour, day of the month, month, day of "
                "the week; or it is @hourly,\n@daily, @weekly, @monthly or @yearly. Each time the "
                "agent gets a new thread. `skein serve` runs what is due;\nwhat was due while "
                "nobody served is counted as missed."};
  }
  std::vector<Argument> arguments() override {
    return {{.names = "AGENT",
             .value_name = "AGENT",
             .help = "who is run",
             .set = into(trigger_.agent_id),
             .required = true},
            {.names = "CRON",
             .value_name = "CRON",
             .help = "when",
             .set = into(trigger_.cron),
             .required = true},
            {.names = "TEXT",
             .value_name = "TEXT",
             .help = "what it is told",
             .set = into(trigger_.text),
             .required = true},
            {.names = "--zone",
             .value_name = "ZONE",
             .help = "the time zone that the expression is meant in (default: the system's, TZ)",
             .set = into(trigger_.zone)},
            {.names = "--name",
             .value_name = "NAME",
             .help = "for people",
             .set = into(trigger_.name)}};
  }

  Outcome run(Context& context) override {
    SKEIN_ASSIGN_OR_FAIL(const Settings settings, context.settings());
    SKEIN_ASSIGN(const AgentDefinition agent, workspace_agents(settings).get(trigger_.agent_id));
    SKEIN_ASSIGN_OR_FAIL(const auto store, context.open(IfMissing::kCreate));
    Triggers triggers = triggers_of(settings, *store);
    SKEIN_ASSIGN(const Trigger trigger, triggers.add(trigger_));
    if (!is_runnable(settings, agent)) {
      print_notice("the trigger starts nothing until the agent is trusted: run \"skein trust\"");
    }
    SKEIN_ASSIGN(const TriggerInfo info, triggers.show(trigger.id));
    if (context.json()) {
      context.out().write(to_json(info) + "\n");
    } else {
      context.out().write(trigger.id + "\n");
      print_due(info);
    }
    return kExitDone;
  }

 private:
  NewTrigger trigger_;
};

std::string last_text(Context& context, const TriggerInfo& info) {
  if (!info.last) return "-";
  std::string text =
      fmt::format("{} {}", context.style().time(info.last->at), to_string(info.last->status));
  if (!info.last->thread_id.empty()) text += " " + info.last->thread_id;
  return text;
}

class List : public Command {
 public:
  CommandInfo info() const override {
    return {
        .name = "list",
        .summary = "print triggers, when they are due, and what they missed",
        .examples =
            "  skein trigger list\n"
            "  skein trigger list --json\n",
        .details = "OVERDUE is what is due and was not dealt with yet: nobody serves the store."};
  }
  std::vector<Argument> arguments() override { return {}; }

  Outcome run(Context& context) override {
    SKEIN_ASSIGN_OR_FAIL(const Settings settings, context.settings());
    std::vector<TriggerInfo> infos;
    if (store_exists(settings.store_url)) {
      SKEIN_ASSIGN_OR_FAIL(const auto store, context.open(IfMissing::kRefuse));
      SKEIN_ASSIGN(infos, triggers_of(settings, *store).list());
    }
    Table table(context,
                {"ID", "NAME", "AGENT", "CRON", "ZONE", "NEXT", "LAST", "MISSED", "OVERDUE"});
    for (const TriggerInfo& info : infos) {
      const Trigger& trigger = info.trigger;
      const std::string next = !trigger.enabled       ? "disabled"
                               : info.next            ? context.style().time(*info.next)
                               : info.problem.empty() ? "never"
                                                      : info.problem;
      table.add({trigger.id, trigger.name.empty() ? "-" : trigger.name, trigger.agent_id,
                 trigger.cron, trigger.zone, next, last_text(context, info),
                 std::to_string(info.last ? info.last->missed : 0), std::to_string(info.overdue)},
                to_json(info));
    }
    table.print();
    return kExitDone;
  }
};

// Changes a trigger, and prints it.
Outcome change_trigger(Context& context, const std::string& id, const TriggerChange& change,
                       std::string_view done) {
  SKEIN_ASSIGN_OR_FAIL(const Settings settings, context.settings());
  SKEIN_ASSIGN_OR_FAIL(const auto store, context.open(IfMissing::kRefuse));
  Triggers triggers = triggers_of(settings, *store);
  SKEIN_TRY(triggers.update(id, change));
  SKEIN_ASSIGN(const TriggerInfo info, triggers.show(id));
  context.out().write(context.json() ? to_json(info) + "\n" : fmt::format("{} {}\n", done, id));
  if (!context.json()) print_due(info);
  return kExitDone;
}

class Edit : public Command {
 public:
  CommandInfo info() const override {
    return {.name = "edit",
            .summary = "change when a trigger is due, or what its agent is told",
            .examples =
                "  skein trigger edit trigger-19beb43dddb3c47c --cron \"0 8 * * *\"\n"
                "  skein trigger edit trigger-19beb43dddb3c47c --zone Europe/Berlin --text \"What "
                "is new today?\" --json\n",
            .details = "What was due under the old schedule is not made up for."};
  }
  std::vector<Argument> arguments() override {
    return {
        trigger_argument(id_),
        {.names = "--cron", .value_name = "CRON", .help = "when", .set = into(change_.cron)},
        {.names = "--zone",
         .value_name = "ZONE",
         .help = "the time zone that the expression is meant in",
         .set = into(change_.zone)},
        {.names = "--text",
         .value_name = "TEXT",
         .help = "what the agent is told",
         .set = into(change_.text)},
        {.names = "--name", .value_name = "NAME", .help = "for people", .set = into(change_.name)}};
  }

  Outcome run(Context& context) override {
    if (change_.empty()) {
      return wrong_usage("nothing is to be changed: give --cron, --zone, --text or --name");
    }
    return change_trigger(context, id_, change_, "changed");
  }

 private:
  std::string id_;
  TriggerChange change_;
};

class Switch : public Command {
 public:
  explicit Switch(bool enabled) : enabled_(enabled) {}

  CommandInfo info() const override {
    if (enabled_) {
      return {.name = "enable",
              .summary = "let a trigger be due again",
              .examples = "  skein trigger enable trigger-19beb43dddb3c47c\n",
              .details = "What would have been due while it was disabled is not made up for."};
    }
    return {.name = "disable",
            .summary = "keep a trigger from being due until it is enabled",
            .examples = "  skein trigger disable trigger-19beb43dddb3c47c\n",
            .details = "A run that it started goes on."};
  }
  std::vector<Argument> arguments() override { return {trigger_argument(id_)}; }

  Outcome run(Context& context) override {
    return change_trigger(context, id_, {.enabled = enabled_}, enabled_ ? "enabled" : "disabled");
  }

 private:
  const bool enabled_;
  std::string id_;
};

class Remove : public Command {
 public:
  CommandInfo info() const override {
    return {.name = "remove",
            .summary = "forget a trigger; its threads and runs stay",
            .examples = "  skein trigger remove trigger-19beb43dddb3c47c\n"};
  }
  std::vector<Argument> arguments() override { return {trigger_argument(id_)}; }

  Outcome run(Context& context) override {
    SKEIN_ASSIGN_OR_FAIL(const Settings settings, context.settings());
    SKEIN_ASSIGN_OR_FAIL(const auto store, context.open(IfMissing::kRefuse));
    SKEIN_ASSIGN(const Trigger trigger, triggers_of(settings, *store).remove(id_));
    context.out().write(context.json() ? "{\"removed\":\"" + trigger.id + "\"}\n"
                                       : "removed " + trigger.id + "\n");
    return kExitDone;
  }

 private:
  std::string id_;
};

}  // namespace

CommandGroup trigger_commands() {
  CommandGroup group{"trigger", "run agents on a schedule", {}};
  group.commands.push_back(std::make_unique<Add>());
  group.commands.push_back(std::make_unique<List>());
  group.commands.push_back(std::make_unique<Edit>());
  group.commands.push_back(std::make_unique<Switch>(true));
  group.commands.push_back(std::make_unique<Switch>(false));
  group.commands.push_back(std::make_unique<Remove>());
  return group;
}

}  // namespace skein
