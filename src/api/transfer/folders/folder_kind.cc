#include "api/transfer/folders/folder_kind.h"

#include <algorithm>

namespace skein {
namespace {

bool any_named(const SourceFolder& folder, const std::string& in, auto&& matches) {
  const auto names = folder.names(in);
  return std::any_of(names.begin(), names.end(), matches);
}

bool has_nova_agents(const SourceFolder& folder) {
  return any_named(folder, "agents", [&](const std::string& agent) {
    const std::string in = "agents/" + agent;
    return folder.has(in + "/agent.json") || folder.has(in + "/triggers.json") ||
           folder.is_folder(in + "/threads");
  });
}

}  // namespace

FolderKind kind_of_folder(const SourceFolder& folder) {
  FolderKind kind;
  kind.agent_store = any_named(folder, "agent-store",
                               [](const std::string& name) { return name.ends_with(".json"); });
  kind.nova = kind.agent_store || !folder.resolve("agent-store") || has_nova_agents(folder) ||
              folder.has("triggers.json") || folder.has("tasks/tasks.json") ||
              folder.has("tasks/history.jsonl");
  if (folder.is_folder(".gitmem")) {
    kind.gitmem = ".gitmem";
  } else if (std::filesystem::absolute(folder.path() / "x").parent_path().filename() == ".gitmem") {
    kind.gitmem = "";
  }
  kind.hq = folder.is_folder("workspace/threads") || folder.is_folder("workspace/checkpoints");
  return kind;
}

std::string FolderKind::text() const {
  std::string text;
  const auto add = [&](std::string_view name) {
    text.append(text.empty() ? "" : ", ").append(name);
  };
  if (nova) add(agent_store ? "Nova workspace (agent-store)" : "Nova workspace (agents/ID)");
  if (gitmem) add("gitmem project");
  if (hq) add("HQ folder");
  return text;
}

}  // namespace skein
