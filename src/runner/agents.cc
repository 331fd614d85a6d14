#include "skein/agents.h"

#include <filesystem>
#include <utility>

#include "core/file.h"
#include "core/json_edit.h"
#include "core/json_fields.h"
#include "core/path_inside.h"
#include "core/quote.h"

namespace skein {
namespace fs = std::filesystem;
namespace {

AgentDefinition echo_agent(const std::string& workspace) {
  return {.id = "echo",
          .file = "",
          .description = "says what it was told",
          .engine = "echo",
          .folder = workspace};
}

// Reads both places into the maps of one Agents.
class AgentLoader {
 public:
  explicit AgentLoader(const AgentPlaces& places) : places_(places) {}

  void read_folder() {
    if (places_.folder.empty()) return;
    const auto names =
        places_.only.empty() ? list_folder(places_.folder) : std::vector<std::string>{places_.only};
    if (!names) {
      problem("", places_.folder, "cannot be read: " + names.error().message);
      return;
    }
    for (const std::string& name : *names) {
      if (name.starts_with('.')) continue;
      const std::string folder = places_.folder + "/" + name;
      const std::string file = folder + "/agent.json";
      if (leaves_workspace(folder)) {
        problem(name, file, "is behind a link that leads out of the workspace");
        continue;
      }
      const auto text = read_file(file, limits::kMaxAgentFileBytes);
      if (text && !*text) {
        std::error_code ignored;
        if (fs::exists(fs::symlink_status(file, ignored))) {
          problem(name, file, "must be a regular file");
        }
        continue;
      }
      if (!text) {
        // A file beside the folders of agents has no files in it.
        if (text.error().code != ErrorCode::kNotFound) problem(name, file, text.error().message);
        continue;
      }
      take(name, **text, {.file = file, .folder = folder, .workspace = places_.workspace});
    }
  }

  void read_configured() {
    const JsonFields configured(places_.configured.text());
    for (const JsonFields::Field& agent : configured.others()) {
      if (!places_.only.empty() && agent.name != places_.only) continue;
      if (defined_.count(agent.name) > 0) {
        problem(agent.name, places_.config_file,
                "defines an agent that has a file of its own, which counts", agent.name);
        continue;
      }
      // Editing the file may indent it anew, which changes no definition.
      take(agent.name, indented_json(agent.value),
           {.file = places_.config_file,
            .folder = places_.workspace,
            .workspace = places_.workspace},
           "agents." + agent.name);
    }
  }

  std::map<std::string, AgentDefinition, std::less<>> agents;
  std::multimap<std::string, AgentProblem> problems;  // by agent

 private:
  void take(const std::string& id, std::string_view json, const AgentOrigin& origin,
            const std::string& path = "") {
    if (auto checked = check_agent_id(id); !checked) {
      return problem(id, origin.file, checked.error().message, path);
    }
    if (defined_.size() >= limits::kMaxAgents) {
      return problem(id, origin.file,
                     "is one agent more than " + std::to_string(limits::kMaxAgents), path);
    }
    defined_.emplace(id, true);
    ParsedAgent parsed = parse_agent(id, json, origin);
    agents.erase(id);
    if (parsed.problems.empty()) agents.emplace(id, std::move(parsed.agent));
    for (FieldProblem& wrong : parsed.problems) {
      const std::string dot = path.empty() || wrong.field.empty() ? "" : ".";
      problem(id, origin.file, std::move(wrong.reason), path + dot + wrong.field);
    }
  }

  // A workspace is trusted with what is in it, not with what its links lead to.
  bool leaves_workspace(const std::string& folder) const {
    const std::string& bounds = places_.workspace.empty() ? places_.folder : places_.workspace;
    std::error_code error;
    const fs::path inside = fs::canonical(bounds, error);
    const fs::path target = error ? fs::path() : fs::canonical(folder, error);
    return !error && !is_inside(target, inside);
  }

  void problem(const std::string& id, const std::string& file, std::string reason,
               std::string field = "") {
    problems.emplace(id, AgentProblem{id, file, std::move(field), std::move(reason)});
  }

  const AgentPlaces& places_;
  std::map<std::string, bool> defined_;
};

}  // namespace

std::string AgentProblem::str() const {
  std::string text = file + ": ";
  if (!field.empty()) text += "\"" + field + "\" ";
  return text + reason;
}

Agents::Agents() { agents_.emplace("echo", echo_agent("")); }

Agents Agents::load(const AgentPlaces& places) {
  AgentLoader loader(places);
  loader.agents.emplace("echo", echo_agent(places.workspace));
  loader.read_folder();
  loader.read_configured();
  Agents agents;
  agents.agents_ = std::move(loader.agents);
  for (auto& [id, problem] : loader.problems) agents.problems_.push_back(std::move(problem));
  return agents;
}

Result<AgentDefinition> Agents::get(std::string_view id) const {
  if (const auto found = agents_.find(id); found != agents_.end()) return found->second;
  std::string wrong;
  for (const AgentProblem& problem : problems_) {
    if (problem.agent_id == id) wrong += (wrong.empty() ? "" : "\n") + problem.str();
  }
  if (!wrong.empty()) return fail(ErrorCode::kInvalid, std::move(wrong));
  return fail(ErrorCode::kNotFound, "there is no agent " + quote(id));
}

}  // namespace skein
