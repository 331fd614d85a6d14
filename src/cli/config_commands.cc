// skein config get, set, unset.
#include <fmt/format.h>

#include "api/config_values.h"
#include "api/definition_files.h"
#include "api/trust.h"
#include "cli/arguments.h"
#include "cli/context.h"
#include "cli/table.h"
#include "core/json_edit.h"
#include "core/json_object.h"
#include "core/quote.h"
#include "core/try.h"
#include "http/options.h"

namespace skein {
namespace {

constexpr const char* kKeyHelp = "store, embedder, server.port, … (docs/formats.md)";

// A text as itself, anything else as JSON.
std::string shown(const std::string& json) { return json_to_string(json).value_or(json); }

Argument user_argument(bool& user) {
  return {.names = "--user",
          .help = "edit the user's configuration, which holds the settings of servers",
          .set = into(user)};
}

// A configuration with one setting changed, as far as a command got it.
struct Edit {
  Json object;
  std::string member;
};

// Checks what only servers read.
Result<void> check_server(const Edit& edit) {
  if (edit.member != "server") return {};
  const auto server = json_at(edit.object.text(), {"server"});
  if (!server || !server->starts_with('{')) return {};
  SKEIN_TRY(http::read_server_options(Json::trusted(*server)));
  return {};
}

Outcome write_edit(Context& context, const Settings& settings, ConfigOwner owner, const Edit& edit,
                   const std::string& key) {
  SKEIN_TRY(check_server(edit));
  SKEIN_ASSIGN(const auto file, write_config(settings, owner, edit.object, edit.member));
  const std::string name = printable(file.string());
  if (context.json()) {
    context.out().write(JsonObject().add("key", key).add("file", name).str() + "\n");
  } else {
    context.out().write_stored("changed " + key + ": " + name + "\n");
  }
  return kExitDone;
}

class Get : public Command {
 public:
  CommandInfo info() const override {
    return {.name = "get",
            .summary = "print the settings that count, and where each comes from",
            .examples =
                "  skein config get\n"
                "  skein config get embedder\n"
                "  skein config get server.port --json\n",
            .details = "With a KEY, prints its value alone. Exit code 3: it is not set."};
  }
  std::vector<Argument> arguments() override {
    return {{.names = "KEY", .value_name = "KEY", .help = kKeyHelp, .set = into(key_)}};
  }

  Outcome run(Context& context) override {
    SKEIN_ASSIGN_OR_FAIL(const Settings settings, context.unchecked_settings());
    SKEIN_ASSIGN(const auto values, config_values(settings, context.request()));
    if (key_) return print_one(context, values);
    Table table(context, {"KEY", "VALUE", "FROM"});
    for (const ConfigValue& value : values) {
      table.add({value.key, shown(value.json), from(value)}, to_json(value));
    }
    table.print();
    return kExitDone;
  }

 private:
  static std::string from(const ConfigValue& value) {
    const std::string place = printable(value.from.empty() ? value.source : value.from);
    return value.source == "untrusted" ? place + " (not trusted: no effect)" : place;
  }

  static std::string to_json(const ConfigValue& value) {
    std::string json;
    append_json_on_one_line(json, value.json);
    return JsonObject()
        .add("key", value.key)
        .add_json("value", json)
        .add("source", value.source)
        .add("from", printable(value.from))
        .str();
  }

  Outcome print_one(Context& context, const std::vector<ConfigValue>& values) {
    SKEIN_ASSIGN(JsonPath path, parse_config_key(*key_));
    for (ConfigValue value : values) {
      if (value.key != path.front()) continue;
      if (value.source == "untrusted") {
        return fail(ErrorCode::kNotFound,
                    fmt::format("{} is set in {}, which has no effect: it is not trusted; {}",
                                quote(*key_), printable(value.from), how_to_trust()));
      }
      if (path.size() > 1) {
        const auto inside = json_at(value.json, JsonPath(path.begin() + 1, path.end()));
        if (!inside) break;
        value.json = *inside;
        value.key = *key_;
      }
      if (context.json()) {
        context.out().write(to_json(value) + "\n");
      } else {
        context.out().write_stored(shown(value.json) + "\n");
      }
      return kExitDone;
    }
    return fail(ErrorCode::kNotFound, quote(*key_) + " is not set");
  }

  std::optional<std::string> key_;
};

class Set : public Command {
 public:
  CommandInfo info() const override {
    return {.name = "set",
            .summary = "change a setting of the workspace, or of the user",
            .examples =
                "  skein config set embedder none\n"
                "  skein config set maxActiveThreads.topic 3\n"
                "  skein config set server.port 8080 --user\n",
            .details =
                "Edits WORKSPACE/.skein/config.json, or the file that --config names; with --user "
                "$XDG_CONFIG_HOME/skein/config.json\n(default ~/.config/skein). A VALUE that is "
                "JSON is stored as JSON, any other as text. Nothing is written\nif the "
                "configuration would be refused."};
  }
  std::vector<Argument> arguments() override {
    return {{.names = "KEY",
             .value_name = "KEY",
             .help = kKeyHelp,
             .set = into(key_),
             .required = true},
            {.names = "VALUE",
             .value_name = "VALUE",
             .help = "text, or JSON",
             .set = into(value_),
             .required = true},
            user_argument(user_)};
  }

  Outcome run(Context& context) override {
    SKEIN_ASSIGN(const JsonPath path, parse_config_key(key_));
    SKEIN_ASSIGN_OR_FAIL(const Settings settings, context.unchecked_settings());
    const ConfigOwner owner = user_ ? ConfigOwner::kUser : ConfigOwner::kWorkspace;
    SKEIN_TRY(check_config_member(path.front(), owner, context.request().config.has_value()));
    SKEIN_ASSIGN(const auto file, config_file_of(settings, owner));
    SKEIN_ASSIGN(const Json before, read_config_object(file));
    auto edited = json_with(before.text(), path, json_of_typed(value_).text());
    if (!edited) return fail(ErrorCode::kInvalid, quote(key_) + " " + edited.error().message);
    return write_edit(context, settings, owner,
                      {.object = Json::trusted(std::move(*edited)), .member = path.front()}, key_);
  }

 private:
  std::string key_;
  std::string value_;
  bool user_ = false;
};

class Unset : public Command {
 public:
  CommandInfo info() const override {
    return {.name = "unset",
            .summary = "remove a setting of the workspace, or of the user",
            .examples =
                "  skein config unset embedder\n"
                "  skein config unset server.port --user\n",
            .details = "Exit code 3: the file does not have it."};
  }
  std::vector<Argument> arguments() override {
    return {{.names = "KEY",
             .value_name = "KEY",
             .help = kKeyHelp,
             .set = into(key_),
             .required = true},
            user_argument(user_)};
  }

  Outcome run(Context& context) override {
    SKEIN_ASSIGN(const JsonPath path, parse_config_key(key_));
    SKEIN_ASSIGN_OR_FAIL(const Settings settings, context.unchecked_settings());
    const ConfigOwner owner = user_ ? ConfigOwner::kUser : ConfigOwner::kWorkspace;
    SKEIN_ASSIGN(const auto file, config_file_of(settings, owner));
    SKEIN_ASSIGN(const Json before, read_config_object(file));
    if (!json_at(before.text(), path)) {
      return fail(ErrorCode::kNotFound, quote(key_) + " is not set in " + printable(file.string()));
    }
    return write_edit(
        context, settings, owner,
        {.object = Json::trusted(json_without(before.text(), path)), .member = path.front()}, key_);
  }

 private:
  std::string key_;
  bool user_ = false;
};

}  // namespace

CommandGroup config_commands() {
  CommandGroup group{"config", "settings of the workspace and of the user", {}};
  group.commands.push_back(std::make_unique<Get>());
  group.commands.push_back(std::make_unique<Set>());
  group.commands.push_back(std::make_unique<Unset>());
  return group;
}

}  // namespace skein
