#include "api/transfer/folders/agent_import.h"

#include <set>

#include "api/definition_files.h"
#include "core/json_edit.h"
#include "core/try.h"
#include "skein/agents.h"

namespace skein {
namespace {

constexpr std::string_view kKind = "agents";

class AgentImport {
 public:
  explicit AgentImport(const FolderImport& import) : import_(import) {}

  Result<void> take(const std::string& id, const std::string& file) {
    if (!import_.source.has(file)) return {};
    if (!ids_.insert(id).second) {
      import_.report.left_out(kKind, "replaced by the one in agent-store", LeftOut::kExpected);
      return {};
    }
    auto mapped = read(id, file);
    if (!mapped) return refuse(file, mapped.error());
    return add(id, file, *mapped);
  }

 private:
  Result<MappedAgent> read(const std::string& id, const std::string& file) {
    SKEIN_TRY(check_agent_id(id));
    SKEIN_ASSIGN(auto text, import_.source.read(file, limits::kMaxAgentFileBytes));
    SKEIN_ASSIGN(const Json object, Json::parse_object(text.value_or("")));
    std::string json = object.text();
    redacted_ = import_.redact(json);
    // Only Skein's definitions name an engine.
    if (json_at(json, {"engine"})) return MappedAgent{Json::trusted(std::move(json)), {}};
    return map_nova_agent(id, json);
  }

  Result<void> add(const std::string& id, const std::string& file, const MappedAgent& mapped) {
    const auto there = read_agent_definition(import_.settings, id);
    if (there && same_json(*there, mapped.definition)) {
      import_.report.there(kKind);
      return {};
    }
    if (there || there.error().code != ErrorCode::kNotFound) {
      import_.report.left_out(kKind, "another definition is there", LeftOut::kConflict);
      import_.tell(import_.source.at(file), 0,
                   "the agent " + id + " is defined here in another way; left as it is");
      return {};
    }
    auto added = add_untrusted_agent(import_.settings, id, mapped.definition,
                                     import_.options.dry_run ? Write::kNothing : Write::kFiles);
    if (!added) return refuse(file, added.error());
    import_.report.taken(kKind);
    import_.report.redacted(redacted_);
    for (const UnmappedField& field : mapped.unmapped) import_.report.unmapped(field);
    return {};
  }

  // A full disk ends the import; what is wrong with one definition concerns no other.
  Result<void> refuse(const std::string& file, const Error& error) const {
    import_.fail(kKind, "not valid", import_.source.at(file), 0, error.message);
    return {};
  }

  const FolderImport& import_;
  std::set<std::string> ids_;
  std::size_t redacted_ = 0;  // in the definition that was read last
};

}  // namespace

Result<void> import_agents(const FolderImport& import) {
  AgentImport agents(import);
  constexpr std::string_view kEnd = ".json";
  if (const auto inside = import.source.resolve("agent-store"); !inside) {
    import.fail(kKind, kUnreadable, import.source.at("agent-store"), 0, inside.error().message);
  }
  for (const std::string& name : import.source.names("agent-store")) {
    if (!name.ends_with(kEnd)) continue;
    SKEIN_TRY(agents.take(name.substr(0, name.size() - kEnd.size()), "agent-store/" + name));
  }
  for (const std::string& name : import.source.names("agents")) {
    SKEIN_TRY(agents.take(name, "agents/" + name + "/agent.json"));
  }
  return {};
}

}  // namespace skein
