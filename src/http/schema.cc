#include "http/schema.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <deque>
#include <functional>
#include <map>
#include <optional>

#include "core/json.h"
#include "core/json_array.h"
#include "core/json_fields.h"
#include "core/quote.h"
#include "core/text.h"
#include "core/try.h"
#include "skein/json.h"

namespace skein::http {
namespace {

// Types of JSON Schema, as bits.
enum Type : unsigned {
  kNull = 1,
  kBoolean = 2,
  kInteger = 4,
  kNumber = 8,
  kString = 16,
  kArray = 32,
  kObject = 64,
};
constexpr std::array<std::pair<Type, std::string_view>, 7> kTypes = {{{kNull, "null"},
                                                                      {kBoolean, "boolean"},
                                                                      {kInteger, "integer"},
                                                                      {kNumber, "number"},
                                                                      {kString, "string"},
                                                                      {kArray, "array"},
                                                                      {kObject, "object"}}};
constexpr std::array<std::string_view, 7> kWithoutEffect = {
    "title", "description", "default", "examples", "format", "readOnly", "deprecated"};
constexpr std::string_view kReference = "#/components/schemas/";
// More than any value is deep: a schema that leads back to itself ends here.
constexpr int kMaxSteps = 256;

std::string words_for(unsigned types) {
  static constexpr std::array<std::pair<Type, std::string_view>, 7> kWords = {
      {{kObject, "an object"},
       {kArray, "an array"},
       {kString, "a string"},
       {kNumber, "a number"},
       {kInteger, "a whole number"},
       {kBoolean, "true or false"},
       {kNull, "null"}}};
  std::vector<std::string_view> words;
  for (const auto& [type, word] : kWords) {
    if ((types & type) != 0) words.push_back(word);
  }
  return fmt::format("{}", fmt::join(words, " or "));
}

// Every type that the value is of: a whole number is two.
unsigned types_of(RawJson value) {
  if (value.empty()) return 0;
  switch (value.front()) {
    case '{':
      return kObject;
    case '[':
      return kArray;
    case '"':
      return kString;
    case 't':
    case 'f':
      return kBoolean;
    case 'n':
      return kNull;
    default:
      return json_to_int(value) ? unsigned{kInteger} | unsigned{kNumber} : unsigned{kNumber};
  }
}

tl::unexpected<Error> no_schema(std::string_view keyword, std::string_view why) {
  return fail(ErrorCode::kInvalid, fmt::format("schema: {} {}", quote(keyword), why));
}

// Where in the value one is.
std::string member_of(const std::string& place, std::string_view name) {
  return fmt::format("{}.{}", place, name);
}

tl::unexpected<Error> wrong(const std::string& place, std::string_view rule, RawJson value = {}) {
  std::string message = fmt::format("{}{}{}", place, place.empty() ? "" : " ", rule);
  if (!value.empty()) message += ", got " + excerpt(value);
  return fail(ErrorCode::kInvalid, std::move(message));
}

}  // namespace

struct Schema::Node {
  struct Property {
    std::string name;
    const Node* node = nullptr;  // none: anything
    bool required = false;
  };

  unsigned types = 0;  // 0: any
  std::vector<Property> properties{};
  bool others = true;           // members besides those
  const Node* other = nullptr;  // none: anything
  const Node* items = nullptr;
  std::vector<Json> values{};  // enum, const
  std::optional<double> minimum{};
  std::optional<double> maximum{};
  std::optional<std::int64_t> min_length{};
  std::optional<std::int64_t> max_length{};
  std::optional<std::int64_t> min_items{};
  std::optional<std::int64_t> max_items{};
  std::vector<const Node*> any_of{};
  std::vector<const Node*> one_of{};
  std::vector<const Node*> all_of{};  // references among them

  Result<void> check(RawJson value, const std::string& place, int steps) const;
  Result<void> check_string(RawJson value, const std::string& place) const;
  Result<void> check_number(RawJson value, const std::string& place) const;
  Result<void> check_array(RawJson value, const std::string& place, int steps) const;
  Result<void> check_object(RawJson value, const std::string& place, int steps) const;
  Result<void> check_forms(const std::vector<const Node*>& forms, bool exactly_one, RawJson value,
                           const std::string& place, int steps) const;
  static Result<void> check_which_form(const std::vector<const Node*>& forms, RawJson value,
                                       const std::string& place);
  bool is_meant_by(RawJson value) const;
  // Members that can have one value only, with that value.
  void add_constants(std::map<std::string, std::vector<Json>>& constants) const;

  struct Document;
};

// Reads the text of schemas, and holds what became of it.
struct Schema::Node::Document {
  std::deque<Node> nodes;
  std::map<std::string, const Node*, std::less<>> named;
  const NamedSchemas* texts = nullptr;

  // `json` is valid.
  Result<const Node*> add(RawJson json) {
    Node& node = nodes.emplace_back();
    SKEIN_TRY(fill(node, json));
    return &node;
  }

  Result<void> fill(Node& node, RawJson json) {
    if (!json.starts_with('{')) return no_schema(excerpt(json), "is no object");
    const JsonFields fields(json);
    for (const JsonFields::Field& field : fields.others()) {
      SKEIN_TRY(read(node, field.name, field.value));
    }
    return {};
  }

  Result<void> read(Node& node, const std::string& keyword, RawJson value) {
    if (std::find(kWithoutEffect.begin(), kWithoutEffect.end(), keyword) != kWithoutEffect.end()) {
      return {};
    }
    if (keyword == "type") return read_types(node, value);
    if (keyword == "properties") return read_properties(node, value);
    if (keyword == "required") return read_required(node, value);
    if (keyword == "additionalProperties") return read_others(node, value);
    if (keyword == "items") return read_into(node.items, value);
    if (keyword == "enum") return read_values(node, value);
    if (keyword == "const") {
      node.values = {Json::trusted(std::string(value))};
      return {};
    }
    if (keyword == "anyOf") return read_forms(node.any_of, value);
    if (keyword == "oneOf") return read_forms(node.one_of, value);
    if (keyword == "allOf") return read_forms(node.all_of, value);
    if (keyword == "$ref") {
      SKEIN_ASSIGN(const Node* found, find(value));
      node.all_of.push_back(found);
      return {};
    }
    return read_bound(node, keyword, value);
  }

  static Result<void> read_bound(Node& node, const std::string& keyword, RawJson value) {
    if (keyword == "minimum" || keyword == "maximum") {
      const std::optional<double> bound = json_to_double(value);
      if (!bound) return no_schema(keyword, "is no number");
      (keyword == "minimum" ? node.minimum : node.maximum) = bound;
      return {};
    }
    std::optional<std::int64_t>* const bound = keyword == "minLength"   ? &node.min_length
                                               : keyword == "maxLength" ? &node.max_length
                                               : keyword == "minItems"  ? &node.min_items
                                               : keyword == "maxItems"  ? &node.max_items
                                                                        : nullptr;
    if (bound == nullptr) return no_schema(keyword, "is not known");
    *bound = json_to_int(value);
    if (!*bound || **bound < 0) return no_schema(keyword, "is no whole number");
    return {};
  }

  static Result<void> read_types(Node& node, RawJson value) {
    std::vector<RawJson> names = json_elements(value);
    if (names.empty()) names.push_back(value);
    for (const RawJson name : names) {
      const std::string text = json_to_string(name).value_or("");
      const auto known = std::find_if(kTypes.begin(), kTypes.end(),
                                      [&](const auto& type) { return type.second == text; });
      if (known == kTypes.end()) return no_schema("type", "is not known: " + excerpt(name));
      node.types |= known->first;
    }
    return {};
  }

  static Property& property_of(Node& node, const std::string& name) {
    for (Property& property : node.properties) {
      if (property.name == name) return property;
    }
    return node.properties.emplace_back(Property{name});
  }

  Result<void> read_properties(Node& node, RawJson value) {
    const JsonFields fields(value);
    for (const JsonFields::Field& field : fields.others()) {
      SKEIN_ASSIGN(property_of(node, field.name).node, add(field.value));
    }
    return {};
  }

  static Result<void> read_required(Node& node, RawJson value) {
    for (const RawJson name : json_elements(value)) {
      const auto text = json_to_string(name);
      if (!text) return no_schema("required", "has what is no text: " + excerpt(name));
      property_of(node, *text).required = true;
    }
    return {};
  }

  Result<void> read_others(Node& node, RawJson value) {
    if (value == "true") return {};
    node.others = value != "false";
    return node.others ? read_into(node.other, value) : Result<void>();
  }

  Result<void> read_into(const Node*& target, RawJson value) {
    SKEIN_ASSIGN(target, add(value));
    return {};
  }

  static Result<void> read_values(Node& node, RawJson value) {
    for (const RawJson one : json_elements(value)) {
      node.values.push_back(Json::trusted(std::string(one)));
    }
    if (node.values.empty()) return no_schema("enum", "has no values");
    return {};
  }

  Result<void> read_forms(std::vector<const Node*>& forms, RawJson value) {
    for (const RawJson one : json_elements(value)) {
      SKEIN_ASSIGN(const Node* form, add(one));
      forms.push_back(form);
    }
    return {};
  }

  Result<const Node*> find(RawJson reference) {
    const std::string text = json_to_string(reference).value_or("");
    if (!text.starts_with(kReference))
      return no_schema("$ref", "must begin with #/components/schemas/");
    const std::string name = text.substr(kReference.size());
    if (const auto known = named.find(name); known != named.end()) return known->second;
    for (const auto& [known_name, json] : *texts) {
      if (known_name != name) continue;
      SKEIN_TRY(validate_json(json, "schema " + name));
      Node& node = nodes.emplace_back();
      named.emplace(name, &node);  // first, since it may refer to itself
      SKEIN_TRY(fill(node, trim_json(json)));
      return &node;
    }
    return no_schema("$ref", "names no schema: " + quote(name));
  }
};

// --- Checking ---

Result<void> Schema::Node::check(RawJson value, const std::string& place, int steps) const {
  if (steps > kMaxSteps) return wrong(place, "is nested too deep");
  const unsigned found = types_of(value);
  if (types != 0 && (types & found) == 0) {
    return wrong(place, "must be " + words_for(types), value);
  }
  if (!values.empty()) {
    const auto same = [&](const Json& one) {
      return same_json(one, Json::trusted(std::string(value)));
    };
    if (std::none_of(values.begin(), values.end(), same)) {
      std::vector<std::string> words;
      for (const Json& one : values) words.push_back(one.text());
      return wrong(
          place,
          fmt::format("must be {}{}", words.size() > 1 ? "one of " : "", fmt::join(words, ", ")),
          value);
    }
  }
  if ((found & kString) != 0) SKEIN_TRY(check_string(value, place));
  if ((found & kNumber) != 0) SKEIN_TRY(check_number(value, place));
  if ((found & kArray) != 0) SKEIN_TRY(check_array(value, place, steps));
  if ((found & kObject) != 0) SKEIN_TRY(check_object(value, place, steps));
  for (const Node* part : all_of) SKEIN_TRY(part->check(value, place, steps + 1));
  if (!any_of.empty()) SKEIN_TRY(check_forms(any_of, false, value, place, steps));
  if (!one_of.empty()) SKEIN_TRY(check_forms(one_of, true, value, place, steps));
  return {};
}

Result<void> Schema::Node::check_string(RawJson value, const std::string& place) const {
  if (!min_length && !max_length) return {};
  const auto length = static_cast<std::int64_t>(count_characters(unescape_json_string(value)));
  if (min_length && length < *min_length) {
    return *min_length == 1
               ? wrong(place, "must not be empty")
               : wrong(place, fmt::format("must have at least {} characters", *min_length), value);
  }
  if (max_length && length > *max_length) {
    return wrong(place,
                 fmt::format("must have at most {} characters, and has {}", *max_length, length));
  }
  return {};
}

Result<void> Schema::Node::check_number(RawJson value, const std::string& place) const {
  const std::optional<double> found = json_to_double(value);
  if (!found) return wrong(place, "must be a number that a computer can hold", value);
  if (minimum && *found < *minimum) {
    return wrong(place, fmt::format("must be at least {}", *minimum), value);
  }
  if (maximum && *found > *maximum) {
    return wrong(place, fmt::format("must be at most {}", *maximum), value);
  }
  return {};
}

Result<void> Schema::Node::check_array(RawJson value, const std::string& place, int steps) const {
  if (items == nullptr && !min_items && !max_items) return {};
  const std::vector<RawJson> elements = json_elements(value);
  const auto count = static_cast<std::int64_t>(elements.size());
  if (min_items && count < *min_items) {
    return wrong(place, fmt::format("must have at least {} items, and has {}", *min_items, count));
  }
  if (max_items && count > *max_items) {
    return wrong(place, fmt::format("must have at most {} items, and has {}", *max_items, count));
  }
  if (items == nullptr) return {};
  for (std::size_t i = 0; i < elements.size(); ++i) {
    SKEIN_TRY(items->check(elements[i], fmt::format("{}[{}]", place, i), steps + 1));
  }
  return {};
}

Result<void> Schema::Node::check_object(RawJson value, const std::string& place, int steps) const {
  if (properties.empty() && others && other == nullptr) return {};
  JsonObjectReader reader;
  std::vector<JsonMember> members;
  if (!reader.read(value, members)) return wrong(place, "must be an object", value);
  std::vector<bool> seen(properties.size(), false);
  for (const JsonMember& member : members) {
    const auto known = std::find_if(properties.begin(), properties.end(),
                                    [&](const Property& one) { return one.name == member.name; });
    if (known == properties.end()) {
      if (!others) return wrong(place, "has no such field: " + quote(member.name));
      if (other != nullptr) {
        SKEIN_TRY(other->check(member.value, member_of(place, quote(member.name)), steps + 1));
      }
      continue;
    }
    const auto index = static_cast<std::size_t>(known - properties.begin());
    if (seen[index]) return wrong(member_of(place, known->name), "must not be there twice");
    seen[index] = true;
    if (known->node == nullptr) continue;
    SKEIN_TRY(known->node->check(member.value, member_of(place, known->name), steps + 1));
  }
  for (std::size_t i = 0; i < seen.size(); ++i) {
    if (properties[i].required && !seen[i]) {
      return wrong(member_of(place, properties[i].name), "must be given");
    }
  }
  return {};
}

// Whether the members that can have one value only have it, or might: what tells forms apart.
bool Schema::Node::is_meant_by(RawJson value) const {
  for (const Node* part : all_of) {
    if (part->is_meant_by(value)) return true;
  }
  JsonFields fields(value);
  bool tells = false;
  for (const Property& property : properties) {
    if (property.node == nullptr || property.node->values.size() != 1) continue;
    tells = true;
    const auto found = fields.take<RawJson>(
        property.name, [](RawJson raw) -> std::optional<RawJson> { return raw; });
    if (!found && !property.required) continue;
    if (!found || !same_json(property.node->values.front(), Json::trusted(std::string(*found)))) {
      return false;
    }
  }
  return tells;
}

void Schema::Node::add_constants(std::map<std::string, std::vector<Json>>& constants) const {
  for (const Node* part : all_of) part->add_constants(constants);
  for (const Property& property : properties) {
    if (property.node == nullptr || property.node->values.size() != 1) continue;
    constants[property.name].push_back(property.node->values.front());
  }
}

// Where a member tells all forms apart and has none of their values, that is what is wrong.
Result<void> Schema::Node::check_which_form(const std::vector<const Node*>& forms, RawJson value,
                                            const std::string& place) {
  std::map<std::string, std::vector<Json>> constants;
  for (const Node* form : forms) form->add_constants(constants);
  const JsonFields fields(value);
  for (const JsonFields::Field& field : fields.others()) {
    const auto known = constants.find(field.name);
    if (known == constants.end() || known->second.size() != forms.size()) continue;
    Node choice;
    choice.values = known->second;
    SKEIN_TRY(choice.check(field.value, member_of(place, field.name), 0));
  }
  return {};
}

Result<void> Schema::Node::check_forms(const std::vector<const Node*>& forms, bool exactly_one,
                                       RawJson value, const std::string& place, int steps) const {
  std::size_t fitting = 0;
  std::optional<Error> meant;
  unsigned wanted = 0;
  for (const Node* form : forms) {
    wanted |= form->types;
    Result<void> checked = form->check(value, place, steps + 1);
    if (checked) {
      ++fitting;
      if (!exactly_one) return {};
    } else if (types_of(value) == kObject && form->is_meant_by(value)) {
      meant = std::move(checked).error();
    }
  }
  if (fitting == 1) return {};
  if (fitting > 1) return wrong(place, "must have one of its forms only, and fits several", value);
  if (meant) return tl::unexpected(std::move(*meant));
  if (wanted != 0 && (wanted & types_of(value)) == 0) {
    return wrong(place, "must be " + words_for(wanted), value);
  }
  SKEIN_TRY(check_which_form(forms, value, place));
  return wrong(place, "has none of the forms that it may have", value);
}

// --- The class ---

Schema::Schema(std::shared_ptr<const Node> root) : root_(std::move(root)) {}
Schema::Schema(Schema&&) noexcept = default;
Schema& Schema::operator=(Schema&&) noexcept = default;
Schema::~Schema() = default;

Result<Schema> Schema::make(std::string_view json, const NamedSchemas& named) {
  SKEIN_TRY(validate_json(json, "schema"));
  const auto document = std::make_shared<Node::Document>();
  document->texts = &named;
  SKEIN_ASSIGN(const Node* root, document->add(trim_json(json)));
  document->texts = nullptr;
  return Schema(std::shared_ptr<const Node>(document, root));
}

Result<void> Schema::check(std::string_view json) const {
  return root_->check(trim_json(json), "body", 0);
}

Result<void> Schema::check_text(std::string_view text) const {
  std::string quoted;
  append_json_string(quoted, mended_utf8(text));
  // A text that reads as what is wanted is that; any other is a string, and refused as one.
  const bool plain = text.size() <= 32 && !text.empty() && validate_json(text, "").has_value();
  if (plain && trim_json(text) == text) {
    const unsigned found = types_of(text);
    if ((found & (unsigned{kNumber} | unsigned{kBoolean})) != 0 && root_->check(text, "", 0)) {
      return {};
    }
    const unsigned wanted = root_->types;
    if ((wanted & found) != 0) return root_->check(text, "", 0);
  }
  return root_->check(quoted, "", 0);
}

}  // namespace skein::http
