// The forms of what /v1 takes and gives, as JSON Schema, said once: they check requests, describe
// the interface, and make the types of its clients.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace skein::http::v1 {

// The text of a schema.
using Shape = std::string;

struct Member {
  std::string name;
  Shape shape;
  bool required = true;
};
Member must(std::string name, Shape shape, std::string_view about = {});
Member may(std::string name, Shape shape, std::string_view about = {});

Shape anything();
Shape truth();
Shape whole(std::int64_t min = 0);
Shape whole(std::int64_t min, std::int64_t max);
Shape real();
Shape text();
Shape text(std::size_t max_length);
Shape some_text(std::size_t max_length);  // not empty
Shape choice(const std::vector<std::string>& words);
Shape time();
Shape list(const Shape& item);
Shape list(const Shape& item, std::size_t max_items);
Shape pairs(const Shape& value);                   // an object with any names
Shape object(const std::vector<Member>& members);  // with these members only
Shape record(const std::vector<Member>& members);  // and others: what is stored may have more
Shape any_of(const std::vector<Shape>& shapes);
Shape nothing();  // null
Shape or_null(const Shape& shape);
Shape named(std::string_view name);  // of named_shapes.h

// With a default, which is for readers: `json` is what holds where nothing is given.
Shape with_default(const Shape& shape, std::string_view json);

}  // namespace skein::http::v1
