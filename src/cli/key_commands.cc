#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "api/keys.h"
#include "cli/arguments.h"
#include "cli/context.h"
#include "cli/table.h"
#include "core/try.h"

namespace skein {
namespace {

ApiKeys keys_of(const Settings& settings, Store& store) {
  return {store, system_clock(), random_ids(), settings.signer};
}

// "-": it counts.
std::string state_of(const ApiKey& key, const Style& style) {
  if (key.revoked_at.is_set()) return style.time(key.revoked_at);
  return key.is_signed ? "-" : "not signed";
}

class Create : public Command {
 public:
  CommandInfo info() const override {
    return {.name = "create",
            .summary = "make a key for callers of skein serve, and print it, once",
            .examples =
                "  skein key create --access admin --name laptop\n"
                "  skein key create --access write --agent helper --agent coder\n",
            .details =
                "Only a hash of it is kept: it cannot be shown again. read reads, write also "
                "changes, admin may do everything and\nis for all agents. As soon as there is a "
                "key, a server needs one for every request, on this machine too."};
  }
  std::vector<Argument> arguments() override {
    return {
        {.names = "--access",
         .value_name = "WHAT",
         .help = "read, write or admin (default read)",
         .set = into(key_.access),
         .choices = {"read", "write", "admin"}},
        {.names = "--agent",
         .value_name = "AGENT",
         .help = "only threads of this agent; may be repeated (default: all agents)",
         .set = into(key_.agents),
         .repeated = true},
        {.names = "--name", .value_name = "NAME", .help = "for people", .set = into(key_.name)}};
  }

  Outcome run(Context& context) override {
    SKEIN_ASSIGN_OR_FAIL(const Settings settings, context.settings());
    SKEIN_ASSIGN_OR_FAIL(const auto store, context.open(IfMissing::kCreate));
    SKEIN_ASSIGN(const CreatedApiKey made, keys_of(settings, *store).create(key_));
    if (context.json()) {
      std::string json = to_json(made.key);
      json.insert(json.size() - 1, ",\"key\":\"" + made.secret + "\"");
      context.out().write(json + "\n");
    } else {
      context.out().write(made.secret + "\n");
      print_notice("this is shown once; key " + made.key.id + " can be revoked at any time");
    }
    return kExitDone;
  }

 private:
  NewApiKey key_;
};

class List : public Command {
 public:
  CommandInfo info() const override {
    return {.name = "list",
            .summary = "print the keys that there are, and those that were revoked",
            .examples =
                "  skein key list\n"
                "  skein key list --json\n"};
  }
  std::vector<Argument> arguments() override { return {}; }

  Outcome run(Context& context) override {
    SKEIN_ASSIGN_OR_FAIL(const Settings settings, context.settings());
    SKEIN_ASSIGN_OR_FAIL(const auto store, context.open(IfMissing::kRefuse));
    SKEIN_ASSIGN(const std::vector<ApiKey> keys, keys_of(settings, *store).list());
    Table table(context, {"ID", "NAME", "ACCESS", "AGENTS", "CREATED", "REVOKED"});
    for (const ApiKey& key : keys) {
      table.add({key.id, key.name.empty() ? "-" : key.name, key.access,
                 key.agents.empty() ? "all" : fmt::format("{}", fmt::join(key.agents, " ")),
                 context.style().time(key.created_at), state_of(key, context.style())},
                to_json(key));
    }
    table.print();
    const auto inert = std::find_if(keys.begin(), keys.end(), [](const ApiKey& key) {
      return !key.is_signed && !key.revoked_at.is_set();
    });
    if (inert != keys.end()) {
      print_notice("key " + inert->id + " is rejected: " + inert->why_inert);
    }
    return kExitDone;
  }
};

class Revoke : public Command {
 public:
  CommandInfo info() const override {
    return {.name = "revoke",
            .summary = "make a key worthless; servers notice within a second",
            .examples = "  skein key revoke 74c8e3e1f1e9\n"};
  }
  std::vector<Argument> arguments() override {
    return {{.names = "ID",
             .value_name = "ID",
             .help = "the key's id, as key list shows it",
             .set = into(id_),
             .required = true}};
  }

  Outcome run(Context& context) override {
    SKEIN_ASSIGN_OR_FAIL(const Settings settings, context.settings());
    SKEIN_ASSIGN_OR_FAIL(const auto store, context.open(IfMissing::kRefuse));
    SKEIN_ASSIGN(const ApiKey key, keys_of(settings, *store).revoke(id_));
    context.out().write(context.json() ? to_json(key) + "\n" : "revoked " + key.id + "\n");
    return kExitDone;
  }

 private:
  std::string id_;
};

}  // namespace

CommandGroup key_commands() {
  CommandGroup group{"key", "keys by which callers of a server are known", {}};
  group.commands.push_back(std::make_unique<Create>());
  group.commands.push_back(std::make_unique<List>());
  group.commands.push_back(std::make_unique<Revoke>());
  return group;
}

}  // namespace skein
