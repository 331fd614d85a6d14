// The tools of an agent: those of the MCP servers that its definition names, and built-in ones.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "core/http_client.h"
#include "rpc/mcp_client.h"
#include "runner/tool_names.h"
#include "skein/agents.h"
#include "skein/tools.h"

namespace skein {

namespace limits {
inline constexpr std::size_t kMaxOpenToolServers = 256;  // of one process
inline constexpr std::size_t kMaxToolsOfAgent = 512;
}  // namespace limits

// A tool that is part of this program.
struct BuiltInTool {
  ToolDefinition definition;
  std::function<ToolResult(const Json& input, std::stop_token stop)> call;
};

// The servers of tools that this process has started or reached. Runs share them: a server is
// started by the first run that needs it, and stays until the end. Thread-safe.
class ToolServers {
 public:
  explicit ToolServers(McpOptions options = {}) : options_(std::move(options)) {}

  // The client of a server, which lives as long as this; the same one for the same server and
  // folder. Nothing is started yet. kBusy beyond limits::kMaxOpenToolServers.
  Result<McpClient*> client(const ToolServer& server, const std::string& folder);

 private:
  const McpOptions options_;
  HttpClient http_;
  std::mutex mutex_;
  std::map<std::string, std::unique_ptr<McpClient>> clients_;  // under mutex_
};

using Warn = std::function<void(std::string_view)>;

// Everything that the definition's capabilities name and allow. Borrows `servers`. The tools are
// looked up on first use, all servers at once; what was listed then counts for the life of the box.
// Calls `warn` for names in "allow" and "confirm" that no tool has.
std::unique_ptr<ToolBox> make_tool_box(const AgentDefinition& agent,
                                       std::vector<BuiltInTool> built_in, ToolServers& servers,
                                       Warn warn = {});

}  // namespace skein
