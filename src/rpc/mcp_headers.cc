#include "rpc/mcp_headers.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <span>

#include "core/base64.h"
#include "core/json.h"
#include "core/json_array.h"
#include "core/json_fields.h"
#include "core/quote.h"
#include "core/try.h"

namespace skein {
namespace {

constexpr std::string_view kMark = "x-mcp-header";
constexpr std::string_view kBefore = "=?base64?";
constexpr std::string_view kAfter = "?=";

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

// Finds the marks of a schema, and those where none may be.
class MarkFinder {
 public:
  Result<void> schema(RawJson schema, std::vector<std::string>& path) {
    if (!schema.starts_with('{')) return {};
    JsonFields fields(schema);
    const std::optional<std::string> type = fields.take_string("type");
    for (const JsonFields::Field& field : fields.others()) {
      if (field.name == kMark) {
        SKEIN_TRY(mark(field.value, type.value_or(""), path));
      } else if (field.name == "properties") {
        SKEIN_TRY(properties(field.value, path));
      } else if (!is_data(field.name)) {
        SKEIN_TRY(none_within(field.value));
      }
    }
    return {};
  }

  std::vector<MirroredParameter> found;

 private:
  static bool is_data(std::string_view keyword) {
    constexpr std::array<std::string_view, 4> kData = {"default", "const", "enum", "examples"};
    return std::find(kData.begin(), kData.end(), keyword) != kData.end();
  }

  Result<void> properties(RawJson object, std::vector<std::string>& path) {
    if (!object.starts_with('{')) return {};
    const JsonFields fields(object);
    for (const JsonFields::Field& field : fields.others()) {
      path.push_back(field.name);
      SKEIN_TRY(schema(field.value, path));
      path.pop_back();
    }
    return {};
  }

  Result<void> mark(RawJson value, std::string_view type, const std::vector<std::string>& path) {
    const auto name = json_to_string(value);
    if (!name || !is_http_token(*name)) {
      return fail(ErrorCode::kInvalid,
                  "\"x-mcp-header\" must be a name of a header, got " + excerpt(value));
    }
    if (path.empty() || (type != "string" && type != "integer" && type != "boolean")) {
      return fail(ErrorCode::kInvalid,
                  "\"x-mcp-header\" " + quote(*name) +
                      " must mark a property of type string, integer or boolean");
    }
    std::string header = "Mcp-Param-" + *name;
    const bool taken = std::any_of(found.begin(), found.end(), [&](const MirroredParameter& other) {
      return lower(other.header) == lower(header);
    });
    if (taken) {
      return fail(ErrorCode::kInvalid, "\"x-mcp-header\" " + quote(*name) + " is there twice");
    }
    found.push_back({path, std::move(header)});
    return {};
  }

  static Result<void> none_within(RawJson value) {
    if (value.starts_with('[')) {
      for (const RawJson element : json_elements(value)) SKEIN_TRY(none_within(element));
    }
    if (!value.starts_with('{')) return {};
    const JsonFields fields(value);
    for (const JsonFields::Field& field : fields.others()) {
      if (field.name == kMark) {
        return fail(ErrorCode::kInvalid,
                    "\"x-mcp-header\" must mark a property that is reached through "
                    "\"properties\" alone");
      }
      if (!is_data(field.name)) SKEIN_TRY(none_within(field.value));
    }
    return {};
  }
};

std::optional<std::string> header_text(RawJson value) {
  if (value == "true" || value == "false") return std::string(value);
  if (auto text = json_to_string(value)) return text;
  if (const auto number = json_to_int(value)) return std::to_string(*number);
  return std::nullopt;
}

std::optional<std::string> value_at(RawJson object, std::span<const std::string> path) {
  if (path.empty()) return header_text(object);
  if (!object.starts_with('{')) return std::nullopt;
  const JsonFields fields(object);
  const auto& all = fields.others();
  const auto found = std::find_if(all.rbegin(), all.rend(), [&](const JsonFields::Field& field) {
    return field.name == path.front();
  });
  if (found == all.rend()) return std::nullopt;
  return value_at(found->value, path.subspan(1));
}

}  // namespace

std::string mcp_header_value(std::string_view text) {
  const bool plain = std::all_of(text.begin(), text.end(),
                                 [](char c) { return (c >= 0x20 && c < 0x7F) || c == '\t'; }) &&
                     !text.starts_with(' ') && !text.ends_with(' ') && !text.starts_with('\t') &&
                     !text.ends_with('\t') &&
                     !(text.starts_with(kBefore) && text.ends_with(kAfter));
  if (plain) return std::string(text);
  std::string encoded(kBefore);
  append_base64(encoded, text);
  return encoded.append(kAfter);
}

Result<std::vector<MirroredParameter>> mirrored_parameters(const Json& input_schema) {
  MarkFinder finder;
  std::vector<std::string> path;
  SKEIN_TRY(finder.schema(input_schema.text(), path));
  return std::move(finder.found);
}

std::vector<HttpHeader> mirrored_headers(const std::vector<MirroredParameter>& parameters,
                                         const Json& arguments) {
  std::vector<HttpHeader> headers;
  for (const MirroredParameter& parameter : parameters) {
    if (const auto value = value_at(arguments.text(), parameter.path)) {
      headers.push_back({parameter.header, mcp_header_value(*value)});
    }
  }
  return headers;
}

}  // namespace skein
