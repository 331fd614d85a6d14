// JSON Schema, as far as routes need it: what a body must be, told once for checks, OpenAPI and
// people.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "skein/error.h"

namespace skein::http {

using NamedSchemas = std::vector<std::pair<std::string, std::string>>;

// Known: type (one, or several), properties, required, additionalProperties (false, or a schema),
// items, enum, const, minimum, maximum, minLength, maxLength (characters), minItems, maxItems,
// anyOf, oneOf, allOf, $ref to #/components/schemas/NAME, and, without effect, title, description,
// default, examples, format, readOnly, deprecated. Any other keyword is refused when the schema is
// made. Immutable, and so thread-safe.
class Schema {
 public:
  // kInvalid: it is no such schema.
  static Result<Schema> make(std::string_view json, const NamedSchemas& named = {});
  Schema(Schema&&) noexcept;
  Schema& operator=(Schema&&) noexcept;
  ~Schema();

  // `json` is valid JSON. kInvalid names the place and the rule: "body.limit must be at most 1000,
  // got 5000".
  Result<void> check(std::string_view json) const;
  // Of a parameter's text: a number, a boolean or a string, as the schema wants it. The message
  // leaves the place to the caller: "must be at most 1000, got 5000".
  Result<void> check_text(std::string_view text) const;

 private:
  struct Node;
  explicit Schema(std::shared_ptr<const Node> root);
  std::shared_ptr<const Node> root_;
};

}  // namespace skein::http
