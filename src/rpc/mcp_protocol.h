// What the Model Context Protocol says, version by version: names, codes, and the shapes of
// results.
#pragma once

#include <chrono>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rpc/json_rpc.h"
#include "skein/error.h"
#include "skein/json.h"

namespace skein {

// The newest version, in which every request says all about itself.
inline constexpr std::string_view kModernMcp = "2026-07-28";
// Those that begin with "initialize", the newest first.
std::span<const std::string_view> legacy_mcp_versions();
bool is_modern(std::string_view version);

enum McpErrorCode : std::int64_t {
  kMcpHeaderMismatch = -32020,
  kMcpMissingCapability = -32021,
  kMcpUnsupportedVersion = -32022,
};
// Whether only a server of the newest version says that.
bool is_modern_error(std::int64_t code);

namespace limits {
inline constexpr std::size_t kMaxServerTools = 1000;
inline constexpr std::size_t kMaxToolPages = 100;
inline constexpr std::size_t kMaxToolDescriptionBytes = std::size_t{16} << 10;
inline constexpr std::size_t kMaxToolSchemaBytes = std::size_t{256} << 10;
inline constexpr std::size_t kMaxServerToolNameBytes = 128;
}  // namespace limits

struct McpTool {
  std::string name;
  std::string description;
  Json input_schema;  // an object
};

struct McpToolPage {
  std::vector<McpTool> tools;
  std::string next;                        // the cursor; empty: the last page
  std::chrono::milliseconds fresh_for{0};  // how long it need not be asked for again
  std::vector<std::string> left_out;       // tools that break a rule, and which
};

// Of the result of tools/list. One tool that breaks a rule is left out, and told.
Result<McpToolPage> parse_tool_page(const Json& result);

struct McpToolResult {
  std::string text;
  bool is_error = false;
};

// Of the result of tools/call: its text; what is none, such as an image, is described in brackets.
Result<McpToolResult> parse_tool_result(const Json& result);

// "input_required": the server wants to know something before it goes on.
struct McpInputRequest {
  std::string key;
  std::string method;
};
struct McpInputRequired {
  std::vector<McpInputRequest> requests;
  Json state;  // to be given back as it is; or absent
};
// Nothing, if the result is complete. kInvalid: it is of a type that we do not know.
Result<std::optional<McpInputRequired>> parse_input_required(const Json& result);

// What a server says of itself, in answer to server/discover or initialize.
struct McpServerInfo {
  std::vector<std::string> versions;  // one, after initialize
  bool has_tools = false;
  bool tells_tool_changes = false;
  std::string instructions;
};
Result<McpServerInfo> parse_discovered(const Json& result);
Result<McpServerInfo> parse_initialized(const Json& result);

// The versions that an error with kMcpUnsupportedVersion names.
std::vector<std::string> supported_versions(const RpcError& error);

}  // namespace skein
