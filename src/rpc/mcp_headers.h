// What a request over HTTP says of itself in headers, beside its body (MCP 2026-07-28).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/http_client.h"
#include "skein/error.h"
#include "skein/json.h"

namespace skein {

// As it is where a header can say it, else in base64 between "=?base64?" and "?=".
std::string mcp_header_value(std::string_view text);

// A parameter of a tool that its schema wants in a header too ("x-mcp-header").
struct MirroredParameter {
  std::vector<std::string> path;  // names of properties, from the outermost
  std::string header;             // "Mcp-Param-Region"
};

// kInvalid: a mark that breaks a rule, which makes the tool unusable over HTTP.
Result<std::vector<MirroredParameter>> mirrored_parameters(const Json& input_schema);

// The headers for a call with these arguments, an object. Those without a value are left out.
std::vector<HttpHeader> mirrored_headers(const std::vector<MirroredParameter>& parameters,
                                         const Json& arguments);

}  // namespace skein
