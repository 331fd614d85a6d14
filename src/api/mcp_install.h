// Tells clients of the Model Context Protocol how to start this program as a server.
#pragma once

#include <string>
#include <string_view>

#include "api/file_change.h"
#include "api/settings.h"

namespace skein {

enum class McpClientKind { kClaudeCode, kCodex, kCursor };

// The configuration that a client reads, with our server in it:
//   Claude Code  WORKSPACE/.mcp.json
//   Codex        $CODEX_HOME/config.toml (default ~/.codex/config.toml), for all workspaces
//   Cursor       WORKSPACE/.cursor/mcp.json
// Everything else in it stays as it is. `program` is the path or name of this program. kInvalid:
// what is there cannot be understood.
Result<FileChange> plan_mcp_server(const Settings& settings, McpClientKind client,
                                   const std::string& program);

// `text` (JSON; empty: there is none) with the server "skein" in its "mcpServers".
Result<std::string> with_json_server(std::string_view text, const std::string& program,
                                     const std::vector<std::string>& arguments);
// `text` (TOML) with the table [mcp_servers.skein]. Of that table only "command" and "args" are
// touched.
Result<std::string> with_toml_server(std::string_view text, const std::string& program,
                                     const std::vector<std::string>& arguments);

}  // namespace skein
