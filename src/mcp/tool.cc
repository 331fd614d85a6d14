#include "mcp/tool.h"

#include <algorithm>

#include "core/json_array.h"
#include "core/json_fields.h"
#include "core/json_object.h"
#include "core/moment.h"
#include "core/quotation.h"
#include "core/quote.h"
#include "core/try.h"

namespace skein::mcp {
namespace {

using Kind = Parameter::Kind;

std::string schema_of(const Parameter& parameter) {
  JsonObject schema;
  switch (parameter.kind) {
    case Kind::kText:
    case Kind::kTime:
      schema.add("type", "string");
      break;
    case Kind::kChoice:
      schema.add("type", "string").add("enum", parameter.choices);
      break;
    case Kind::kFlag:
      schema.add("type", "boolean");
      break;
    case Kind::kWhole:
      schema.add("type", "integer");
      schema.add("minimum", static_cast<std::uint64_t>(parameter.min));
      if (parameter.max != std::numeric_limits<std::int64_t>::max()) {
        schema.add("maximum", static_cast<std::uint64_t>(parameter.max));
      }
      break;
    case Kind::kTexts:
      schema.add("type", "array").add_json("items", R"({"type":"string"})");
      break;
    case Kind::kArray:
      schema.add("type", "array").add_json("items", parameter.items);
      break;
    case Kind::kObject:
      schema.add("type", "object");
      break;
  }
  if (!parameter.description.empty()) schema.add("description", parameter.description);
  return schema.str();
}

std::string listed(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

std::string expected(const Parameter& parameter) {
  switch (parameter.kind) {
    case Kind::kText:
      return "a string";
    case Kind::kTime:
      return "a time such as \"2026-01-23T14:30:52Z\", \"2026-01-23\" or \"7d\" (7 days ago)";
    case Kind::kChoice:
      return "one of " + listed(parameter.choices);
    case Kind::kFlag:
      return "true or false";
    case Kind::kWhole:
      return "a whole number from " + std::to_string(parameter.min) +
             (parameter.max == std::numeric_limits<std::int64_t>::max()
                  ? ""
                  : " to " + std::to_string(parameter.max));
    case Kind::kTexts:
      return "an array of strings";
    case Kind::kArray:
      return "an array";
    case Kind::kObject:
      return "an object";
  }
  return "";
}

bool all_strings(RawJson array) {
  const std::vector<RawJson> elements = json_elements(array);
  return std::all_of(elements.begin(), elements.end(),
                     [](RawJson element) { return element.starts_with('"'); });
}

bool fits(const Parameter& parameter, RawJson value, Timestamp now) {
  switch (parameter.kind) {
    case Kind::kText:
      return value.starts_with('"');
    case Kind::kTime: {
      const auto text = json_to_string(value);
      return text && parse_moment(*text, now);
    }
    case Kind::kChoice: {
      const auto text = json_to_string(value);
      return text && std::find(parameter.choices.begin(), parameter.choices.end(), *text) !=
                         parameter.choices.end();
    }
    case Kind::kFlag:
      return value == "true" || value == "false";
    case Kind::kWhole: {
      const auto number = json_to_int(value);
      return number && *number >= parameter.min && *number <= parameter.max;
    }
    case Kind::kTexts:
      return value.starts_with('[') && all_strings(value);
    case Kind::kArray:
      return value.starts_with('[');
    case Kind::kObject:
      return value.starts_with('{');
  }
  return false;
}

}  // namespace

Json schema_of(const std::vector<Parameter>& parameters) {
  JsonObject properties;
  std::vector<std::string> required;
  for (const Parameter& parameter : parameters) {
    properties.add_json(parameter.name, schema_of(parameter));
    if (parameter.required) required.push_back(parameter.name);
  }
  JsonObject schema;
  schema.add("type", "object").add_json("properties", properties.str());
  if (!required.empty()) schema.add("required", required);
  return Json::trusted(schema.add("additionalProperties", false).str());
}

Result<Arguments> Arguments::read(const std::vector<Parameter>& parameters, const Json& object,
                                  Timestamp now) {
  Arguments arguments;
  arguments.now_ = now;
  std::string wrong;
  const auto add = [&wrong](const std::string& what) {
    wrong += (wrong.empty() ? "" : "; ") + what;
  };
  const JsonFields fields(object.empty() ? "{}" : object.text());
  std::vector<std::string> names;
  for (const Parameter& parameter : parameters) names.push_back(parameter.name);
  for (const JsonFields::Field& field : fields.others()) {
    const auto known = std::find_if(parameters.begin(), parameters.end(),
                                    [&](const Parameter& each) { return each.name == field.name; });
    if (known == parameters.end()) {
      add("there is no argument " + quote(field.name) +
          (names.empty() ? ", this tool takes none" : ", known are " + listed(names)));
    } else if (field.value == "null") {
      continue;
    } else if (!fits(*known, field.value, now)) {
      add("\"" + known->name + "\" must be " + expected(*known) + ", got " + excerpt(field.value));
    } else {
      arguments.values_.insert_or_assign(field.name, Json::trusted(std::string(field.value)));
    }
  }
  for (const Parameter& parameter : parameters) {
    if (!parameter.required || arguments.values_.contains(parameter.name)) continue;
    if (wrong.find("\"" + parameter.name + "\" must be") != std::string::npos) continue;
    add("\"" + parameter.name + "\" is required: " + expected(parameter));
  }
  if (!wrong.empty()) return fail(ErrorCode::kInvalid, wrong);
  return arguments;
}

Arguments Arguments::as_given(const Json& object) {
  Arguments arguments;
  arguments.object_ = object;
  return arguments;
}

std::optional<std::string> Arguments::text(std::string_view name) const {
  const auto found = values_.find(name);
  return found == values_.end() ? std::nullopt : json_to_string(found->second.text());
}

std::string Arguments::text_or(std::string_view name, std::string_view otherwise) const {
  return text(name).value_or(std::string(otherwise));
}

bool Arguments::flag(std::string_view name) const {
  const auto found = values_.find(name);
  return found != values_.end() && found->second.text() == "true";
}

std::optional<std::int64_t> Arguments::whole(std::string_view name) const {
  const auto found = values_.find(name);
  return found == values_.end() ? std::nullopt : json_to_int(found->second.text());
}

std::vector<std::string> Arguments::texts(std::string_view name) const {
  std::vector<std::string> texts;
  const Json array = json(name);
  for (const RawJson element : json_elements(array.text())) {
    texts.push_back(json_to_string(element).value_or(""));
  }
  return texts;
}

std::optional<Timestamp> Arguments::time(std::string_view name) const {
  const auto words = text(name);
  if (!words) return std::nullopt;
  const auto moment = parse_moment(*words, now_);
  return moment ? std::optional(*moment) : std::nullopt;
}

Json Arguments::json(std::string_view name) const {
  const auto found = values_.find(name);
  return found == values_.end() ? Json() : found->second;
}

Json stored_values(std::string_view object) { return Json::trusted(with_notice(object)); }

std::function<ToolOutcome(const Arguments&, const Exchange&)> plain(PlainRun run) {
  return [run = std::move(run)](const Arguments& arguments, const Exchange& exchange) {
    auto answer = run(arguments, exchange);
    if (answer) return ToolOutcome(std::move(*answer));
    return ToolOutcome(ToolAnswer{.text = std::move(answer.error().message), .is_error = true});
  };
}

std::string tool_json(const Tool& tool, bool structured) {
  JsonObject object;
  object.add("name", tool.name);
  if (structured) object.add("title", tool.title);
  object.add("description", tool.description);
  object.add_json("inputSchema", tool.own_schema.empty() ? schema_of(tool.parameters).text()
                                                         : tool.own_schema.text());
  if (structured && !tool.output_schema.empty()) {
    object.add_json("outputSchema", tool.output_schema.text());
  }
  JsonObject hints;
  hints.add("readOnlyHint", tool.read_only);
  if (!tool.read_only) {
    hints.add("destructiveHint", tool.destructive).add("idempotentHint", tool.idempotent);
  }
  hints.add("openWorldHint", false);
  return object.add_json("annotations", hints.str()).str();
}

}  // namespace skein::mcp
