// A JSON object that a person wrote: its fields become native types, and everything that is wrong
// with it is told at once.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/json.h"
#include "core/json_fields.h"

namespace skein {

// Each take gives the value of a field. One that is missing, or wrong, and then told, gives
// nothing. At the end every field that nobody took is told as unknown. Not thread-safe.
class CheckedFields {
 public:
  // Told a field, with the path to it, and what is wrong.
  using Problems = std::function<void(std::string field, std::string reason)>;

  // `object` is valid JSON. `path` is what leads to it ("limits"), empty at the top.
  CheckedFields(std::string_view object, std::string path, Problems problems);
  ~CheckedFields();
  CheckedFields(const CheckedFields&) = delete;
  CheckedFields& operator=(const CheckedFields&) = delete;

  struct TextRule {
    std::size_t max_bytes = 4096;
    bool may_be_empty = false;
  };
  std::optional<std::string> text(std::string_view name) { return text(name, TextRule{}); }
  std::optional<std::string> text(std::string_view name, const TextRule& rule);
  std::optional<std::string> choice(std::string_view name, const std::vector<std::string>& choices);
  std::optional<std::int64_t> whole(std::string_view name, std::int64_t min, std::int64_t max);
  std::optional<double> number(std::string_view name, double min, double max);
  std::optional<bool> flag(std::string_view name);
  std::vector<std::string> texts(std::string_view name, std::size_t max_count);
  // An object of texts, in order.
  std::vector<std::pair<std::string, std::string>> pairs(std::string_view name);
  // The text of an object, which lives as long as this.
  std::optional<RawJson> object(std::string_view name);
  // The objects in an object, by name.
  std::vector<std::pair<std::string, Json>> objects(std::string_view name);

  // Tells what is wrong with a field of this object.
  void wrong(std::string_view name, std::string reason);
  std::string path_of(std::string_view name) const;
  const Problems& problems() const { return problems_; }

 private:
  std::optional<RawJson> take(std::string_view name);

  const std::string path_;
  const Problems problems_;
  JsonFields fields_;
  std::vector<std::string> known_;
};

}  // namespace skein
