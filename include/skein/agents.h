// Agents: who answers in a thread, as a person wrote it down.
//
// A definition is a JSON object in WORKSPACE/agents/<id>/agent.json, or under its id in "agents" of
// the configuration file; docs/agents.md describes its fields. The agent `echo` is there without
// any.
//
// A definition never holds a key. Where a server of tools needs one, its environment or headers say
// ${NAME}, and the value comes from our environment when the server is used (resolve_server). What
// looks like a key, or stands where one would, is refused.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "skein/engines.h"
#include "skein/runner.h"

namespace skein {

namespace limits {
inline constexpr std::size_t kMaxAgents = 1000;
inline constexpr std::size_t kMaxAgentFileBytes = std::size_t{1} << 20;
inline constexpr std::size_t kMaxSystemPromptBytes = std::size_t{1} << 20;
inline constexpr std::size_t kMaxToolServers = 64;    // of one agent
inline constexpr std::size_t kMaxToolPatterns = 256;  // in one list of tools
}  // namespace limits

// What an agent can do besides talking.
struct AgentCapabilities {
  std::vector<ToolServer> servers{};   // values may have ${NAME} in them
  std::vector<std::string> builtin{};  // of "recall", "work_items", "ask_agent"
  std::vector<std::string> allow{};    // patterns; empty: every tool
  std::vector<std::string> confirm{};  // patterns: tools that need a person's yes

  bool allows(std::string_view tool) const;
  bool needs_yes(std::string_view tool) const;
};

struct AgentDefinition {
  std::string id;
  std::string file;  // where it stands; empty: built in
  std::string description{};
  std::string engine;
  std::string model{};        // empty: the engine's default
  std::string title_model{};  // a fast one, for titles; empty: they are made from the text
  std::string system{};       // the system prompt itself, also where it stands in a file of its own
  AgentCapabilities capabilities{};
  RunLimits limits{};
  ContextRequest context{.max_tokens = 32'000};
  Json options{};        // for the engine; an object, or absent
  std::string folder{};  // where an engine that works on files does so; absolute, or empty
  // SHA-256 of exactly the bytes that were parsed: the definition, and the file that its
  // "systemFile" names. Empty: built in.
  std::string digest{};
  std::string system_file{};  // as the definition names it; empty: none
};

// Whether a name of a tool fits a pattern: the name itself, or its beginning and a final "*".
bool tool_matches(std::string_view pattern, std::string_view tool);

// What is wrong with a definition.
struct AgentProblem {
  std::string agent_id;
  std::string file;
  std::string field;  // "limits.turns"; empty: the file as a whole
  std::string reason;

  std::string str() const;  // file, field and reason
};

struct AgentPlaces {
  std::string folder{};       // WORKSPACE/agents; need not exist
  Json configured{};          // "agents" of the configuration file, an object by id; or absent
  std::string config_file{};  // where that stands
  std::string workspace{};
  std::string only{};  // the one agent that is read; empty: all of them
};

// All agents as they were when they were loaded. What is wrong with one does not concern the
// others. A value, safe to read from any thread.
class Agents {
 public:
  // `echo` alone.
  Agents();
  // Where both places have the same id, the folder's counts and the other is a problem.
  static Agents load(const AgentPlaces& places);

  // By id, those without problems.
  const std::map<std::string, AgentDefinition, std::less<>>& all() const { return agents_; }
  // kNotFound: there is none. kInvalid: its definition is wrong, and everything that is.
  Result<AgentDefinition> get(std::string_view id) const;
  // All of them, ordered by agent.
  const std::vector<AgentProblem>& problems() const { return problems_; }

 private:
  std::map<std::string, AgentDefinition, std::less<>> agents_;
  std::vector<AgentProblem> problems_;
};

// One definition from its JSON text; with problems, the definition has what could be understood.
struct ParsedAgent {
  AgentDefinition agent;
  std::vector<FieldProblem> problems;
};
struct AgentOrigin {
  std::string file{};  // for messages
  // Where "systemFile" begins and what it must not leave: the file's own folder, or the workspace.
  std::string folder{};
  std::string workspace{};  // where "folder" begins, and what it is when absent
};
ParsedAgent parse_agent(std::string_view id, std::string_view json, const AgentOrigin& origin);

// The server with every ${NAME} replaced by the environment's value, and ${NAME:-text} by `text`
// where there is none. kInvalid names the variable that is missing, and never a value.
Result<ToolServer> resolve_server(const ToolServer& server);

}  // namespace skein
