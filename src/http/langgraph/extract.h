// Values that a search of threads is asked to extract from each of them.
#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/json.h"

namespace skein::http {

// The way to a value, such as "values.messages[-1].content": names of members, and places in
// arrays, the last of which is -1.
struct ExtractPath {
  std::string alias;
  std::vector<std::variant<std::string, std::int64_t>> steps;
};

// `json` is an object of aliases and paths, or null. kInvalid names the alias and its path.
Result<std::vector<ExtractPath>> read_extract(RawJson json);

// An object of the aliases with what their paths lead to in `thread`; null where that is nothing.
std::string extracted_json(const std::string& thread, const std::vector<ExtractPath>& paths);

}  // namespace skein::http
