// A JSON object whose known fields become native types, and whose others are kept.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/json.h"
#include "skein/clock.h"
#include "skein/json.h"

namespace skein {

// For JsonFields::take of a value of any kind.
inline std::optional<RawJson> any_json(RawJson value) { return value; }

// Each take gives the value of a field, or nothing when it is not there or of another kind; what
// was not taken is left in the rest. Of fields with one name the last counts. Not thread-safe.
class JsonFields {
 public:
  struct Field {
    std::string name;
    RawJson value;  // lives as long as the JsonFields
  };

  // `object` is valid JSON; anything but an object has no fields.
  explicit JsonFields(std::string_view object);

  std::optional<std::string> take_string(std::string_view name);
  std::optional<std::vector<std::string>> take_strings(std::string_view name);
  std::optional<bool> take_bool(std::string_view name);
  std::optional<std::int64_t> take_int(std::string_view name);
  std::optional<Timestamp> take_time(std::string_view name);
  // The text of an object, which lives as long as this.
  std::optional<RawJson> take_object(std::string_view name);

  // Anything that `convert` can make of the value.
  template <class T>
  std::optional<T> take(std::string_view name, std::optional<T> (*convert)(RawJson)) {
    const auto named = [name](const Field& field) { return field.name == name; };
    const auto found = std::find_if(fields_.rbegin(), fields_.rend(), named);
    if (found == fields_.rend()) return std::nullopt;
    std::optional<T> value = convert(found->value);
    if (value) std::erase_if(fields_, named);
    return value;
  }

  // An object with all that was not taken, as it came; absent when that is nothing.
  Json rest() const;

  // What was not taken, in order.
  const std::vector<Field>& others() const { return fields_; }

 private:
  JsonObjectReader reader_;
  std::vector<Field> fields_;
};

}  // namespace skein
