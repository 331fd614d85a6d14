// The server of tools by which an agent with a loop of its own reaches the task of its run.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/built_in_tools.h"
#include "api/settings.h"
#include "skein/engine.h"
#include "skein/runner.h"

namespace skein {

inline constexpr std::string_view kTaskServerName = "skein_task";

// How the engine of that run starts it: `skein mcp --task … --run …` on the workspace and store of
// the settings. Nothing where there is none: the run's thread belongs to no task, the program that
// runs is not `skein` (Settings::program), or the store is in memory.
std::optional<ToolServer> task_server(const Settings& settings, const RunScope& scope);

// What it offers: task_tools(), which fail unless that run is under way. Borrows the runner and the
// tasks. kInvalid: a malformed id of a run.
Result<std::vector<BuiltInTool>> tools_of_task_server(std::string run_id, std::string task_id,
                                                      Runner& runner, Tasks& tasks);

}  // namespace skein
