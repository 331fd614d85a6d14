#include "rpc/mcp_protocol.h"

#include <algorithm>
#include <array>

#include "core/json.h"
#include "core/json_array.h"
#include "core/json_fields.h"
#include "core/quote.h"
#include "core/try.h"

namespace skein {
namespace {

constexpr std::array<std::string_view, 4> kLegacy = {"2025-11-25", "2025-06-18", "2025-03-26",
                                                     "2024-11-05"};

std::optional<RawJson> to_array(RawJson value) {
  return value.starts_with('[') ? std::optional(value) : std::nullopt;
}
Result<JsonFields> fields_of(const Json& result, std::string_view what) {
  if (result.kind() == Json::Kind::kObject) return JsonFields(result.text());
  return fail(ErrorCode::kInvalid, "the result of " + std::string(what) +
                                       " must be an object, got " + excerpt(result.text()));
}

Result<McpTool> parse_tool(RawJson element) {
  JsonFields fields(element);
  McpTool tool;
  const auto name = fields.take_string("name");
  if (!name || name->empty() || name->size() > limits::kMaxServerToolNameBytes) {
    return fail(ErrorCode::kInvalid, "a tool's name must have 1 to " +
                                         std::to_string(limits::kMaxServerToolNameBytes) +
                                         " bytes, got " + excerpt(element));
  }
  tool.name = *name;
  const auto broken = [&](std::string_view rule) {
    return fail(ErrorCode::kInvalid, "tool " + quote(tool.name) + ": " + std::string(rule));
  };
  tool.description = fields.take_string("description").value_or("");
  if (tool.description.empty()) tool.description = fields.take_string("title").value_or("");
  if (tool.description.size() > limits::kMaxToolDescriptionBytes) {
    return broken("its description is too long");
  }
  const auto schema = fields.take_object("inputSchema");
  if (!schema) return broken("\"inputSchema\" must be an object");
  if (schema->size() > limits::kMaxToolSchemaBytes) return broken("its schema is too large");
  if (!validate_json(*schema, "schema")) return broken("its schema is nested too deep");
  std::string line;
  append_json_on_one_line(line, *schema);
  tool.input_schema = Json::trusted(std::move(line));
  return tool;
}

std::string shown(std::string_view kind, JsonFields& fields, std::string_view data_field) {
  std::string text = "[" + std::string(kind);
  if (const auto type = fields.take_string("mimeType")) text += " " + *type;
  if (const auto data = fields.take_string(data_field)) {
    text += ", " + std::to_string(data->size() * 3 / 4) + " bytes";
  }
  return text + "]";
}

std::string embedded_text(RawJson resource) {
  JsonFields fields(resource);
  const std::string uri = fields.take_string("uri").value_or("");
  if (const auto text = fields.take_string("text")) return *text;
  return shown("resource " + uri, fields, "blob");
}

std::string block_text(RawJson block) {
  JsonFields fields(block);
  const std::string type = fields.take_string("type").value_or("");
  if (type == "text") return fields.take_string("text").value_or("");
  if (type == "image" || type == "audio") return shown(type, fields, "data");
  if (type == "resource") return embedded_text(fields.take_object("resource").value_or("{}"));
  if (type == "resource_link") {
    return "[resource " + fields.take_string("name").value_or("") + ": " +
           fields.take_string("uri").value_or("") + "]";
  }
  return "[content of type " + quote(type) + "]";
}

void take_capabilities(JsonFields& fields, McpServerInfo& info) {
  JsonFields capabilities(fields.take_object("capabilities").value_or("{}"));
  if (const auto tools = capabilities.take_object("tools")) {
    info.has_tools = true;
    info.tells_tool_changes = JsonFields(*tools).take_bool("listChanged").value_or(false);
  }
  info.instructions = fields.take_string("instructions").value_or("");
}

}  // namespace

std::span<const std::string_view> legacy_mcp_versions() { return kLegacy; }

bool is_modern(std::string_view version) { return version >= kModernMcp; }

bool is_modern_error(std::int64_t code) {
  return code == kMcpHeaderMismatch || code == kMcpMissingCapability ||
         code == kMcpUnsupportedVersion;
}

Result<McpToolPage> parse_tool_page(const Json& result) {
  SKEIN_ASSIGN(JsonFields fields, fields_of(result, "tools/list"));
  const auto tools = fields.take("tools", to_array);
  if (!tools) return fail(ErrorCode::kInvalid, "the result of tools/list must have \"tools\"");
  McpToolPage page;
  for (const RawJson element : json_elements(*tools)) {
    auto tool = parse_tool(element);
    if (tool) {
      page.tools.push_back(std::move(*tool));
    } else {
      page.left_out.push_back(tool.error().message);
    }
  }
  page.next = fields.take_string("nextCursor").value_or("");
  const std::int64_t ttl = fields.take_int("ttlMs").value_or(0);
  page.fresh_for = std::chrono::milliseconds(std::clamp<std::int64_t>(ttl, 0, 86'400'000));
  return page;
}

Result<McpToolResult> parse_tool_result(const Json& result) {
  SKEIN_ASSIGN(JsonFields fields, fields_of(result, "tools/call"));
  McpToolResult parsed;
  parsed.is_error = fields.take_bool("isError").value_or(false);
  const auto content = fields.take("content", to_array);
  if (content) {
    for (const RawJson block : json_elements(*content)) {
      if (!parsed.text.empty()) parsed.text += '\n';
      parsed.text += block_text(block);
    }
  }
  const auto structured = fields.take("structuredContent", any_json);
  if (parsed.text.empty() && structured) parsed.text = *structured;
  if (!content && !structured) {
    return fail(ErrorCode::kInvalid,
                "the result of tools/call must have \"content\", got " + excerpt(result.text()));
  }
  return parsed;
}

Result<std::optional<McpInputRequired>> parse_input_required(const Json& result) {
  SKEIN_ASSIGN(JsonFields fields, fields_of(result, "tools/call"));
  const auto type = fields.take_string("resultType");
  if (!type || *type == "complete") return std::optional<McpInputRequired>();
  if (*type != "input_required") {
    return fail(ErrorCode::kInvalid, "\"resultType\" " + quote(*type) + " is not known");
  }
  McpInputRequired required;
  JsonFields requests(fields.take_object("inputRequests").value_or("{}"));
  for (const JsonFields::Field& field : requests.others()) {
    required.requests.push_back(
        {field.name, JsonFields(field.value).take_string("method").value_or("")});
  }
  if (const auto state = fields.take("requestState", any_json)) {
    required.state = Json::trusted(std::string(*state));
  }
  return std::optional(std::move(required));
}

Result<McpServerInfo> parse_discovered(const Json& result) {
  SKEIN_ASSIGN(JsonFields fields, fields_of(result, "server/discover"));
  McpServerInfo info;
  const auto versions = fields.take_strings("supportedVersions");
  if (!versions) {
    return fail(ErrorCode::kInvalid,
                "the result of server/discover must have \"supportedVersions\"");
  }
  info.versions = *versions;
  take_capabilities(fields, info);
  return info;
}

Result<McpServerInfo> parse_initialized(const Json& result) {
  SKEIN_ASSIGN(JsonFields fields, fields_of(result, "initialize"));
  McpServerInfo info;
  const auto version = fields.take_string("protocolVersion");
  if (!version) {
    return fail(ErrorCode::kInvalid, "the result of initialize must have \"protocolVersion\"");
  }
  info.versions = {*version};
  take_capabilities(fields, info);
  return info;
}

std::vector<std::string> supported_versions(const RpcError& error) {
  if (error.data.kind() != Json::Kind::kObject) return {};
  return JsonFields(error.data.text())
      .take_strings("supported")
      .value_or(std::vector<std::string>());
}

}  // namespace skein
