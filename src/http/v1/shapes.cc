#include "http/v1/shapes.h"

#include "core/json_array.h"
#include "core/json_object.h"
#include "skein/json.h"

namespace skein::http::v1 {
namespace {

Shape of_type(std::string_view type) { return JsonObject().add("type", type).str(); }

// The schema with one more member.
Shape with(const Shape& shape, std::string_view name, std::string_view json) {
  if (json.empty()) return shape;
  JsonObject more;
  more.add_json(name, json);
  const std::string rest = more.str().substr(1);
  return shape == "{}" ? "{" + rest : shape.substr(0, shape.size() - 1) + "," + rest;
}

Shape with_number(const Shape& shape, std::string_view name, std::uint64_t number) {
  return with(shape, name, std::to_string(number));
}

Shape members_of(const std::vector<Member>& members, bool others) {
  JsonObject properties;
  std::vector<std::string> required;
  for (const Member& member : members) {
    properties.add_json(member.name, member.shape);
    if (member.required) required.push_back(member.name);
  }
  JsonObject object;
  object.add("type", "object").add_json("properties", properties.str());
  if (!required.empty()) object.add("required", required);
  return object.add("additionalProperties", others).str();
}

// Beside a reference a description would be of what it refers to; it is left out there.
Shape described(const Shape& shape, std::string_view about) {
  if (about.empty() || shape.starts_with("{\"$ref\"")) return shape;
  return with(shape, "description", Json::string(about).text());
}

}  // namespace

Member must(std::string name, Shape shape, std::string_view about) {
  return {std::move(name), described(shape, about), true};
}
Member may(std::string name, Shape shape, std::string_view about) {
  return {std::move(name), described(shape, about), false};
}

Shape anything() { return "{}"; }
Shape truth() { return of_type("boolean"); }
Shape real() { return of_type("number"); }
Shape text() { return of_type("string"); }

Shape whole(std::int64_t min) { return with(of_type("integer"), "minimum", std::to_string(min)); }
Shape whole(std::int64_t min, std::int64_t max) {
  return with(whole(min), "maximum", std::to_string(max));
}

Shape text(std::size_t max_length) { return with_number(text(), "maxLength", max_length); }
Shape some_text(std::size_t max_length) {
  return with_number(with_number(text(), "minLength", 1), "maxLength", max_length);
}

Shape choice(const std::vector<std::string>& words) {
  return JsonObject().add("type", "string").add("enum", words).str();
}

Shape time() { return with(text(), "format", "\"date-time\""); }

Shape list(const Shape& item) { return with(of_type("array"), "items", item); }
Shape list(const Shape& item, std::size_t max_items) {
  return with_number(list(item), "maxItems", max_items);
}

Shape pairs(const Shape& value) {
  return with(of_type("object"), "additionalProperties", value == "{}" ? "true" : value);
}
Shape object(const std::vector<Member>& members) { return members_of(members, false); }
Shape record(const std::vector<Member>& members) { return members_of(members, true); }

Shape any_of(const std::vector<Shape>& shapes) {
  return JsonObject().add_json("anyOf", json_array_of(shapes)).str();
}
Shape nothing() { return of_type("null"); }
Shape or_null(const Shape& shape) { return any_of({shape, nothing()}); }

Shape named(std::string_view name) {
  return JsonObject().add("$ref", "#/components/schemas/" + std::string(name)).str();
}

Shape with_default(const Shape& shape, std::string_view json) {
  return with(shape, "default", json);
}

}  // namespace skein::http::v1
