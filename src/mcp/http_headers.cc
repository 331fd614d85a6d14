#include "mcp/http_headers.h"

#include <algorithm>
#include <cctype>

#include "core/base64.h"
#include "core/quote.h"
#include "rpc/mcp_protocol.h"

namespace skein::mcp {
namespace {

constexpr std::string_view kVersion = "MCP-Protocol-Version";
constexpr std::string_view kMethod = "Mcp-Method";
constexpr std::string_view kName = "Mcp-Name";

bool same_word(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](unsigned char x, unsigned char y) {
    return std::tolower(x) == std::tolower(y);
  });
}

RpcError mismatch(std::string message) { return {kMcpHeaderMismatch, std::move(message)}; }

RpcError missing(std::string_view header, std::string_view what) {
  return mismatch("the header " + std::string(header) + " must be there and say " +
                  std::string(what));
}

// As it is, or what stands in base64 between "=?base64?" and "?=". Nothing: that is broken.
std::optional<std::string> decoded(const std::string& value) {
  constexpr std::string_view kBefore = "=?base64?";
  constexpr std::string_view kAfter = "?=";
  if (!value.starts_with(kBefore) || !value.ends_with(kAfter)) return value;
  return decode_base64(std::string_view(value).substr(
      kBefore.size(), value.size() - kBefore.size() - kAfter.size()));
}

const char* named_by(const std::string& method) {
  if (method == "tools/call" || method == "prompts/get") return "name";
  return method == "resources/read" ? "uri" : nullptr;
}

std::optional<std::string> value_of(const Params& params, std::string_view name) {
  for (const JsonFields::Field& field : params.fields.others()) {
    if (field.name == name) return json_to_string(field.value);
  }
  return std::nullopt;
}

bool accepts(std::string_view list, std::string_view type) {
  std::string lower(list);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const std::string group = std::string(type.substr(0, type.find('/'))) + "/*";
  return lower.find(type) != std::string::npos || lower.find(group) != std::string::npos ||
         lower.find("*/*") != std::string::npos;
}

}  // namespace

std::optional<std::string> HttpAsked::header(std::string_view name) const {
  for (auto it = headers.rbegin(); it != headers.rend(); ++it) {
    if (!same_word(it->name, name)) continue;
    const std::size_t begin = it->value.find_first_not_of(" \t");
    if (begin == std::string::npos) return std::string();
    return it->value.substr(begin, it->value.find_last_not_of(" \t") - begin + 1);
  }
  return std::nullopt;
}

std::optional<HttpRefusal> check_post(const HttpAsked& asked) {
  const auto type = asked.header("Content-Type");
  if (!type || !accepts(*type, "application/json")) {
    return HttpRefusal{415, "Content-Type must be application/json"};
  }
  const auto accept = asked.header("Accept");
  if (accept && !(accepts(*accept, "application/json") && accepts(*accept, "text/event-stream"))) {
    return HttpRefusal{
        406, "Accept must name application/json and text/event-stream, got " + quote(*accept)};
  }
  return std::nullopt;
}

tl::expected<bool, RpcError> is_modern_request(const HttpAsked& asked, const RpcRequest& request,
                                               const Params& params) {
  const auto version = asked.header(kVersion);
  const bool header_is_modern = version && is_modern(*version);
  if (params.names_version) {
    // An "initialize" that is of the newest version as well is none of the older ones.
    const bool complete = params.version && params.capabilities && is_modern(*params.version);
    if (request.method != "initialize" || complete) return true;
  }
  if (!header_is_modern) return false;
  if (request.method == "initialize") {
    return tl::unexpected(mismatch("\"initialize\" belongs to older versions than the header " +
                                   std::string(kVersion) + " says: " + quote(*version)));
  }
  return tl::unexpected(RpcError{kRpcInvalidParams,
                                 "_meta must have \"io.modelcontextprotocol/protocolVersion\" and "
                                 "\"io.modelcontextprotocol/clientCapabilities\", as the header " +
                                     std::string(kVersion) + " says " + quote(*version)});
}

std::optional<RpcError> check_modern_headers(const HttpAsked& asked, const RpcRequest& request,
                                             const Params& params) {
  const auto version = asked.header(kVersion);
  const std::string claimed = params.version.value_or("");
  if (!version) return missing(kVersion, quote(claimed));
  if (*version != claimed) {
    return mismatch("the header " + std::string(kVersion) + " says " + quote(*version) +
                    ", and _meta " + quote(claimed));
  }
  const auto method = asked.header(kMethod);
  if (!method) return missing(kMethod, quote(request.method));
  if (*method != request.method) {
    return mismatch("the header " + std::string(kMethod) + " says " + quote(*method) +
                    ", and the body " + quote(request.method));
  }
  const char* const field = named_by(request.method);
  if (field == nullptr) return std::nullopt;
  const auto value = value_of(params, field);
  if (!value) return std::nullopt;  // the method itself says what is wrong
  const auto name = asked.header(kName);
  if (!name) return missing(kName, quote(*value));
  const auto text = decoded(*name);
  if (!text) return mismatch("the header " + std::string(kName) + " is no base64: " + quote(*name));
  if (*text == *value) return std::nullopt;
  return mismatch("the header " + std::string(kName) + " says " + quote(*text) + ", and the body " +
                  quote(*value));
}

}  // namespace skein::mcp
