// What may stand in the options of an engine.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/checked_fields.h"
#include "skein/engines.h"

namespace skein {

// The options as an object, whatever they are. Absent ones are an empty object.
inline std::string_view options_text(const Json& options) {
  return options.kind() == Json::Kind::kObject ? std::string_view(options.text()) : "{}";
}

// Collects what is wrong.
inline CheckedFields::Problems into_problems(std::vector<FieldProblem>& problems) {
  return [&problems](std::string field, std::string reason) {
    problems.push_back({std::move(field), std::move(reason)});
  };
}

// The first of them as an error.
inline Result<void> no_problems(const std::vector<FieldProblem>& problems) {
  if (problems.empty()) return {};
  return fail(ErrorCode::kInvalid, "\"" + problems.front().field + "\" " + problems.front().reason);
}

}  // namespace skein
