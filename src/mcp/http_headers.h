// What the headers of a request must say, version by version.
#pragma once

#include <optional>
#include <string>

#include "mcp/http_server.h"
#include "mcp/server.h"

namespace skein::mcp {

// Whether the request is one of 2026-07-28 or later; an error where body and headers disagree.
tl::expected<bool, RpcError> is_modern_request(const HttpAsked& asked, const RpcRequest& request,
                                               const Params& params);

// MCP-Protocol-Version, Mcp-Method and Mcp-Name of a modern request: there, readable, and what the
// body says.
std::optional<RpcError> check_modern_headers(const HttpAsked& asked, const RpcRequest& request,
                                             const Params& params);

// What every POST must have; a status and why.
struct HttpRefusal {
  int status = 400;
  std::string message;
};
std::optional<HttpRefusal> check_post(const HttpAsked& asked);

}  // namespace skein::mcp
