// Takes definitions of agents from another folder; they arrive without trust, and so inactive.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/transfer/folders/folder_import.h"
#include "skein/json.h"

namespace skein {

// A definition as Skein has it, and what of the original has no counterpart.
struct MappedAgent {
  Json definition;
  std::vector<UnmappedField> unmapped;
};

// A Nova agent ({"name", "identity", "instructions", "responsibilities", "trust", "model", …}) as
// an agent of the engine claude-code. `json` is a valid JSON object. "unrestricted" is not taken
// over: that an agent may do everything is for its user to say, here.
MappedAgent map_nova_agent(const std::string& id, std::string_view json);

// Takes agent-store/ID.json and agents/ID/agent.json, of Nova or of Skein. Where both have the same
// id, the first counts, as it does for Nova. A definition that is there stays as it is.
Result<void> import_agents(const FolderImport& import);

}  // namespace skein
