#include "api/task_server.h"

#include <cstdlib>
#include <utility>

#include "core/try.h"
#include "runner/run_ids.h"

namespace skein {
namespace {

// Where the user's settings and the signing secret are found. An agent's own environment may
// differ.
constexpr const char* kFolders[] = {"HOME", "XDG_CONFIG_HOME", "CONFIGURATION_DIRECTORY",
                                    "STATE_DIRECTORY"};

Result<void> check_is_under_way(Runner& runner, const std::string& run_id) {
  SKEIN_ASSIGN(const Run run, runner.get(run_id));
  if (run.status == RunStatus::kRunning) return {};
  return fail(ErrorCode::kConflict, "run " + run.id + " is " + to_string(run.status) +
                                        ": these tools are for the run that they were started by");
}

}  // namespace

std::optional<ToolServer> task_server(const Settings& settings, const RunScope& scope) {
  if (!scope.task_id || settings.program.empty() || settings.store_url == "memory:") {
    return std::nullopt;
  }
  ToolServer server{.name = std::string(kTaskServerName)};
  server.command = {settings.program, "--workspace=" + settings.workspace.string()};
  if (settings.config_is_explicit && settings.config_file) {
    server.command.push_back("--config=" + settings.config_file->string());
  }
  server.command.insert(server.command.end(),
                        {"mcp", "--task=" + *scope.task_id, "--run=" + scope.run_id});
  for (const char* name : kFolders) {
    if (const char* value = std::getenv(name)) server.environment.emplace_back(name, value);
  }
  // It may have a password in it, and so is no argument. One that the workspace names is found
  // there, as what it is.
  if (!settings.store_from_workspace) {
    server.environment.emplace_back("SKEIN_STORE", settings.store_url);
  }
  return server;
}

Result<std::vector<BuiltInTool>> tools_of_task_server(std::string run_id, std::string task_id,
                                                      Runner& runner, Tasks& tasks) {
  SKEIN_ASSIGN(const ThreadId thread, thread_of_run(run_id));
  const RunScope scope{.run_id = run_id,
                       .agent_id = {},
                       .thread = thread,
                       .task_id = std::move(task_id),
                       .chain = {}};
  std::vector<BuiltInTool> tools = task_tools(scope, tasks);
  for (BuiltInTool& tool : tools) {
    tool.call = [&runner, run_id, call = std::move(tool.call)](
                    const Json& input, const std::stop_token& stop) -> ToolResult {
      const auto checked = check_is_under_way(runner, run_id);
      return checked ? call(input, stop) : ToolResult{checked.error().message, true};
    };
  }
  return tools;
}

}  // namespace skein
