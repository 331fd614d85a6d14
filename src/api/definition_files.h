// The files that define a workspace's agents and settings, as commands edit them.
//
// Everything here checks what it writes as loading would, keeps members that it does not know,
// replaces files atomically, and refuses to write through links that lead out of the workspace.
// Nothing is written when a call fails, with one exception: a definition that was replaced stays,
// and is not trusted, where the trust in it could not be recorded. The error says so.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/settings.h"
#include "skein/error.h"
#include "skein/json.h"

namespace skein {

// Where a definition stands.
struct AgentPlace {
  std::filesystem::path file;
  bool configured = false;  // under "agents" of a configuration file, and not a file of its own
};

// kNotFound: there is no definition of that agent. The definition need not be valid.
Result<AgentPlace> find_agent_definition(const Settings& settings, std::string_view id);
// Its JSON as it stands.
Result<Json> read_agent_definition(const Settings& settings, std::string_view id);

// Writes WORKSPACE/agents/ID/agent.json, or the entry of the configuration file where the agent
// stands there. `system_text`: goes into system.md beside it, which "systemFile" then names.
// kInvalid: everything that is wrong with the definition, a line each.
Result<std::filesystem::path> write_agent_definition(
    const Settings& settings, std::string_view id, const Json& definition,
    const std::optional<std::string>& system_text = std::nullopt);

enum class Write { kNothing, kFiles };

// Writes WORKSPACE/agents/ID/agent.json for a definition that comes from elsewhere, and trusts
// nothing: it is inactive until "skein trust". kNothing: only the checks. kConflict: the agent is
// defined already. kInvalid: as above.
Result<std::filesystem::path> add_untrusted_agent(const Settings& settings, std::string_view id,
                                                  const Json& definition,
                                                  Write write = Write::kFiles);

// Removes the definition, its system.md if it names that, and its folder if that is empty then.
// kNotFound: there is none.
Result<std::filesystem::path> remove_agent_definition(const Settings& settings,
                                                      std::string_view id);

enum class ConfigOwner { kWorkspace, kUser };

// The workspace's is the file that --config names, else WORKSPACE/.skein/config.json; the user's is
// $XDG_CONFIG_HOME/skein/config.json, else ~/.config/skein/config.json.
Result<std::filesystem::path> config_file_of(const Settings& settings, ConfigOwner owner);
// As it stands; {} if there is no such file.
Result<Json> read_config_object(const std::filesystem::path& file);
// Replaces the configuration. `member` is the one that differs ("store", "agents"); whether it may
// stand there, the caller checks with check_config_member(). kInvalid: file, field and reason.
Result<std::filesystem::path> write_config(const Settings& settings, ConfigOwner owner,
                                           const Json& config, std::string_view member);

// Whether a member of the configuration may stand in the file of that owner. kInvalid says where it
// belongs.
Result<void> check_config_member(std::string_view member, ConfigOwner owner,
                                 bool named_by_flag = false);

}  // namespace skein
