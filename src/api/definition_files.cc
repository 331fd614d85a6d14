#include "api/definition_files.h"

#include <algorithm>
#include <array>

#include "api/agent_trust.h"
#include "api/agents.h"
#include "api/config_file.h"
#include "api/config_trust.h"
#include "api/file_change.h"
#include "api/user_folders.h"
#include "core/confined_path.h"
#include "core/file.h"
#include "core/json_edit.h"
#include "core/json_fields.h"
#include "core/path_inside.h"
#include "core/quote.h"
#include "core/try.h"
#include "skein/agents.h"
#include "skein/embedder.h"

namespace skein {
namespace fs = std::filesystem;
namespace {

constexpr const char* kSystemFile = "system.md";

fs::path agent_folder(const Settings& settings, std::string_view id) {
  return settings.workspace / "agents" / std::string(id);
}

// Whether there is something of that name, be it a link that leads nowhere.
bool is_taken(const fs::path& path) {
  std::error_code error;
  return fs::exists(fs::symlink_status(path, error));
}

// Refuses a file that is behind a link out of the folder, or is none itself.
Result<void> check_writable(const fs::path& folder, const fs::path& file) {
  std::error_code error;
  const fs::path root = fs::canonical(folder, error);
  const fs::path parent = error ? fs::path() : fs::weakly_canonical(file.parent_path(), error);
  if (error) {
    return fail(ErrorCode::kIo,
                "cannot resolve " + quote(file.string(), 200) + ": " + error.message());
  }
  if (!is_inside(parent, root)) {
    return fail(ErrorCode::kInvalid, file.string() + ": is behind a link that leads out of " +
                                         folder.string() + "; nothing was written");
  }
  if (is_taken(file) && fs::symlink_status(file, error).type() != fs::file_type::regular) {
    return fail(ErrorCode::kInvalid,
                file.string() + ": must be a regular file; nothing was written");
  }
  return {};
}

Result<void> replace(const fs::path& file, std::string_view text) {
  SKEIN_ASSIGN(const FileChange change, plan_change(file, [&](std::string_view) {
                 return Result<std::string>(std::string(text));
               }));
  return apply_change(change);
}

Result<void> no_problems(std::string_view id, const fs::path& file,
                         const std::vector<FieldProblem>& problems, const std::string& prefix) {
  std::string all;
  for (const FieldProblem& problem : problems) {
    const std::string dot = prefix.empty() || problem.field.empty() ? "" : ".";
    all += (all.empty() ? "" : "\n") + AgentProblem{std::string(id), file.string(),
                                                    prefix + dot + problem.field, problem.reason}
                                           .str();
  }
  if (all.empty()) return {};
  return fail(ErrorCode::kInvalid, std::move(all));
}

Result<void> check_definition(const Settings& settings, std::string_view id, const Json& definition,
                              const AgentPlace& place, const fs::path& folder) {
  const AgentOrigin origin{.file = place.file.string(),
                           .folder = folder.string(),
                           .workspace = settings.workspace.string()};
  return no_problems(id, place.file, parse_agent(id, definition.text(), origin).problems,
                     place.configured ? "agents." + std::string(id) : "");
}

Result<fs::path> write_file_definition(const Settings& settings, std::string_view id,
                                       const Json& definition,
                                       const std::optional<std::string>& system_text,
                                       const AgentPlace& place) {
  const fs::path folder = place.file.parent_path();
  const fs::path system = folder / kSystemFile;
  SKEIN_TRY(check_writable(settings.workspace, place.file));
  Json checked = definition;
  if (system_text) {
    SKEIN_TRY(check_writable(settings.workspace, system));
    // The text is checked where it is: its file comes into being together with the definition.
    SKEIN_ASSIGN(std::string inlined, json_with(json_without(definition.text(), {"systemFile"}),
                                                {"system"}, Json::string(*system_text).text()));
    checked = Json::trusted(std::move(inlined));
  }
  SKEIN_TRY(check_definition(settings, id, checked, place, folder));
  if (system_text) SKEIN_TRY(replace(system, *system_text));
  SKEIN_TRY(replace(place.file, indented_json(definition.text()) + "\n"));
  return place.file;
}

Result<Json> with_member(const Json& object, const JsonPath& path, const Json& value) {
  SKEIN_ASSIGN(std::string text, json_with(object.text(), path, value.text()));
  return Json::trusted(std::move(text));
}

// What loading leaves to those who use a setting.
Result<void> check_values(const fs::path& file, const ConfigFile& config) {
  if (config.embedder) {
    if (auto checked = check_embedder_choice(*config.embedder); !checked) {
      return bad_config(file, "embedder", checked.error().message);
    }
  }
  const auto redactor = Redactor::create(config.redaction_rules, config.redaction_without);
  if (!redactor) return bad_config(file, "redact", redactor.error().message);
  return {};
}

Result<void> check_agents(const Settings& settings, const fs::path& file, const Json& before,
                          const Json& after) {
  const std::string old = json_at(before.text(), {"agents"}).value_or("{}");
  const std::string now = json_at(after.text(), {"agents"}).value_or("{}");
  const JsonFields agents(now);
  for (const JsonFields::Field& agent : agents.others()) {
    if (json_at(old, {agent.name}) == std::string(agent.value)) continue;
    if (auto id = check_agent_id(agent.name); !id) {
      return bad_config(file, "agents." + agent.name, id.error().message);
    }
    SKEIN_TRY(check_definition(settings, agent.name, Json::trusted(std::string(agent.value)),
                               {.file = file, .configured = true}, settings.workspace));
  }
  return {};
}

Result<fs::path> write_configured(const Settings& settings, std::string_view id,
                                  const Json& definition,
                                  const std::optional<std::string>& system_text,
                                  const fs::path& file) {
  if (system_text) {
    return fail(ErrorCode::kInvalid, "the agent " + quote(id) + " stands in " + file.string() +
                                         ": give its prompt with --system");
  }
  SKEIN_ASSIGN(const Json config, read_config_object(file));
  SKEIN_ASSIGN(const Json edited, with_member(config, {"agents", std::string(id)}, definition));
  return write_config(settings, ConfigOwner::kWorkspace, edited, "agents");
}

// Whether the user may be taken to know all of an agent's definition: they made it, or trusted it.
bool agent_is_known(const Settings& settings, std::string_view id) {
  const auto agent = workspace_agents(settings).get(id);
  if (!agent) return agent.error().code == ErrorCode::kNotFound;
  // One that needed no trust may have come with the folder, and nobody looked at it.
  return needs_trust(*agent) && check_agent_trust(settings, *agent).has_value();
}

// Reads what was just written, so that exactly those bytes are trusted.
Result<void> trust_agent(Settings settings, std::string_view id) {
  if (settings.trust == nullptr || settings.config_is_explicit) return {};
  if (settings.config_file) {
    SKEIN_ASSIGN(ConfigFile config, read_config(*settings.config_file, Links::kRefuse));
    settings.agents = std::move(config.agents);
  }
  SKEIN_ASSIGN(const AgentDefinition agent, workspace_agents(settings).get(id));
  SKEIN_ASSIGN(auto definitions, agent_definitions(agent, settings.trust->workspace()));
  std::erase_if(definitions,
                [](const Definition& definition) { return definition.is_claude_settings; });
  if (definitions.empty()) return {};
  return settings.trust->grant(definitions);
}

// The agents whose entries in the configuration change, and of which the user knows all.
std::vector<std::string> changed_known_agents(const Settings& settings, const Json& before,
                                              const Json& after) {
  const std::string old = json_at(before.text(), {"agents"}).value_or("{}");
  const std::string now = json_at(after.text(), {"agents"}).value_or("{}");
  std::vector<std::string> ids;
  const JsonFields agents(now);
  for (const JsonFields::Field& agent : agents.others()) {
    const bool same = json_at(old, {agent.name}) == std::string(agent.value);
    if (!same && agent_is_known(settings, agent.name)) ids.push_back(agent.name);
  }
  return ids;
}

Result<std::optional<Definition>> member_definition(const fs::path& file, const std::string& text,
                                                    std::string_view member) {
  SKEIN_ASSIGN(const ConfigFile config, parse_config(file, text));
  for (Definition& definition : config_definitions(file, config)) {
    if (definition.name == "config:" + std::string(member)) return std::optional(definition);
  }
  return std::optional<Definition>();
}

// Trusts a member that the user just wrote. Of an object they may have written a part only: it is
// trusted if what was there before was.
Result<void> trust_member(const Settings& settings, const fs::path& file, const Json& before,
                          const std::string& after, std::string_view member) {
  if (settings.trust == nullptr || settings.config_is_explicit) return {};
  SKEIN_ASSIGN(const auto now, member_definition(file, after, member));
  if (!now) return {};
  SKEIN_ASSIGN(const auto old, member_definition(file, std::string(before.text()), member));
  if (old && json_at(after, {std::string(member)})->starts_with('{')) {
    SKEIN_ASSIGN(const TrustState state, settings.trust->state(old->name, old->digest));
    if (state != TrustState::kTrusted) return {};
  }
  return settings.trust->grant({*now});
}

}  // namespace

Result<AgentPlace> find_agent_definition(const Settings& settings, std::string_view id) {
  SKEIN_TRY(check_agent_id(id));
  const fs::path file = agent_folder(settings, id) / "agent.json";
  if (is_taken(file)) return AgentPlace{.file = file};
  const std::string configured = settings.agents.empty() ? "{}" : settings.agents.text();
  if (settings.config_file && json_at(configured, {std::string(id)})) {
    return AgentPlace{.file = *settings.config_file, .configured = true};
  }
  return fail(ErrorCode::kNotFound,
              id == "echo" ? "the agent \"echo\" is built in and has no definition"
                           : "there is no agent " + quote(id) + "; run \"skein agent list\"");
}

Result<Json> read_agent_definition(const Settings& settings, std::string_view id) {
  SKEIN_ASSIGN(const AgentPlace place, find_agent_definition(settings, id));
  if (place.configured) {
    return Json::trusted(*json_at(settings.agents.text(), {std::string(id)}));
  }
  SKEIN_TRY(check_writable(settings.workspace, place.file));
  SKEIN_ASSIGN(const auto text, read_file(place.file.string(), limits::kMaxAgentFileBytes));
  auto object = Json::parse_object(text.value_or(""));
  if (object) return object;
  return fail(ErrorCode::kInvalid, place.file.string() + ": " + object.error().message);
}

Result<fs::path> write_agent_definition(const Settings& settings, std::string_view id,
                                        const Json& definition,
                                        const std::optional<std::string>& system_text) {
  auto place = find_agent_definition(settings, id);
  if (!place && place.error().code != ErrorCode::kNotFound) return tl::unexpected(place.error());
  if (!place) place = AgentPlace{.file = agent_folder(settings, id) / "agent.json"};
  const bool known = agent_is_known(settings, id);
  SKEIN_ASSIGN(fs::path file,
               place->configured
                   ? write_configured(settings, id, definition, system_text, place->file)
                   : write_file_definition(settings, id, definition, system_text, *place));
  if (known) SKEIN_TRY(trust_agent(settings, id));
  return file;
}

Result<fs::path> add_untrusted_agent(const Settings& settings, std::string_view id,
                                     const Json& definition, Write write) {
  const auto there = find_agent_definition(settings, id);
  if (there) {
    return fail(ErrorCode::kConflict,
                "the agent " + quote(id) + " is defined in " + there->file.string());
  }
  if (there.error().code != ErrorCode::kNotFound) return tl::unexpected(there.error());
  const AgentPlace place{.file = agent_folder(settings, id) / "agent.json"};
  if (write == Write::kFiles) {
    return write_file_definition(settings, id, definition, std::nullopt, place);
  }
  SKEIN_TRY(check_writable(settings.workspace, place.file));
  SKEIN_TRY(check_definition(settings, id, definition, place, place.file.parent_path()));
  return place.file;
}

Result<fs::path> remove_agent_definition(const Settings& settings, std::string_view id) {
  SKEIN_ASSIGN(const AgentPlace place, find_agent_definition(settings, id));
  if (place.configured) {
    SKEIN_ASSIGN(const Json config, read_config_object(place.file));
    const Json edited = Json::trusted(json_without(config.text(), {"agents", std::string(id)}));
    return write_config(settings, ConfigOwner::kWorkspace, edited, "agents");
  }
  SKEIN_TRY(check_writable(settings.workspace, place.file));
  const auto definition = read_agent_definition(settings, id);
  SKEIN_TRY(remove_file(place.file.string()));
  const fs::path folder = place.file.parent_path();
  std::string named;
  if (definition) named = json_at(definition->text(), {"systemFile"}).value_or("");
  if (named == Json::string(kSystemFile).text()) {
    SKEIN_TRY(remove_file((folder / kSystemFile).string()));
  }
  std::error_code not_empty;
  fs::remove(folder, not_empty);  // other files in it are not the definition's
  return place.file;
}

Result<fs::path> config_file_of(const Settings& settings, ConfigOwner owner) {
  if (owner == ConfigOwner::kWorkspace) {
    return settings.config_file.value_or(settings.workspace / ".skein" / "config.json");
  }
  SKEIN_ASSIGN(const fs::path folder, config_folder());
  return folder / "config.json";
}

Result<Json> read_config_object(const fs::path& file) {
  std::error_code error;
  if (!fs::exists(file, error)) return Json::trusted("{}");
  // The user's own may be a link into a folder of theirs, as it may where it is loaded and written.
  const bool may_be_link = check_no_links(file.string()).has_value();
  const fs::path real = may_be_link ? fs::canonical(file, error) : file;
  SKEIN_ASSIGN(const auto text,
               read_file((error ? file : real).string(), limits::kMaxAgentFileBytes));
  if (!text) {
    return fail(ErrorCode::kInvalid, "configuration " + file.string() + ": must be a regular file");
  }
  auto object = Json::parse_object(*text);
  if (object) return object;
  return fail(ErrorCode::kInvalid,
              "configuration " + file.string() + ": " + object.error().message);
}

Result<void> check_config_member(std::string_view member, ConfigOwner owner, bool named_by_flag) {
  constexpr std::array<std::string_view, 4> kWorkspaceOnly = {"agents", "project", "knowledgeRepos",
                                                              "maxActiveThreads"};
  if (owner == ConfigOwner::kWorkspace && member == "server" && !named_by_flag) {
    return fail(
        ErrorCode::kInvalid,
        "\"server\" does not count in a workspace's configuration: a folder must not decide "
        "how a server of its user listens; add --user");
  }
  if (owner == ConfigOwner::kUser &&
      std::find(kWorkspaceOnly.begin(), kWorkspaceOnly.end(), member) != kWorkspaceOnly.end()) {
    return fail(ErrorCode::kInvalid, "\"" + std::string(member) +
                                         "\" belongs in the configuration of a workspace; leave "
                                         "out --user");
  }
  return {};
}

Result<fs::path> write_config(const Settings& settings, ConfigOwner owner, const Json& config,
                              std::string_view member) {
  SKEIN_ASSIGN(const fs::path file, config_file_of(settings, owner));
  const fs::path usual = settings.workspace / ".skein" / "config.json";
  if (owner == ConfigOwner::kWorkspace && file == usual) {
    SKEIN_TRY(check_writable(settings.workspace, file));
  }
  SKEIN_ASSIGN(const Json before, read_config_object(file));
  SKEIN_ASSIGN(const ConfigFile checked, parse_config(file, config.text()));
  SKEIN_TRY(check_values(file, checked));
  if (member == "agents") SKEIN_TRY(check_agents(settings, file, before, config));
  const std::string text = indented_json(config.text()) + "\n";
  const auto known = member == "agents" && owner == ConfigOwner::kWorkspace
                         ? changed_known_agents(settings, before, config)
                         : std::vector<std::string>{};
  SKEIN_TRY(replace(file, text));
  for (const std::string& id : known) SKEIN_TRY(trust_agent(settings, id));
  if (owner == ConfigOwner::kWorkspace)
    SKEIN_TRY(trust_member(settings, file, before, text, member));
  return file;
}

}  // namespace skein
