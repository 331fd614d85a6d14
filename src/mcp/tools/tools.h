// The tools that every server has.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/built_in_tools.h"
#include "mcp/tool.h"
#include "mcp/workspace.h"

namespace skein::mcp {

// Each borrows the workspace.
std::vector<Tool> item_tools(Workspace& workspace);        // create_thread, list_, resolve_
std::vector<Tool> session_tools(Workspace& workspace);     // session_start, session_close
std::vector<Tool> checkpoint_tools(Workspace& workspace);  // checkpoint, handoff, resume_, list_
std::vector<Tool> conversation_tools(Workspace& workspace);
std::vector<Tool> search_tools(Workspace& workspace);

// A built-in tool of agents, by its own schema.
Tool tool_of(BuiltInTool built_in);

// All of them, in the order in which they are listed.
std::vector<Tool> workspace_tools(Workspace& workspace);

}  // namespace skein::mcp
