#include "runner/secrets.h"

#include <string>

#include "core/json.h"
#include "core/json_array.h"
#include "core/json_fields.h"
#include "core/redact.h"

namespace skein {
namespace {

void search(RawJson value, const std::string& path, std::vector<FieldProblem>& found) {
  if (value.starts_with('{')) {
    const JsonFields fields(value);
    for (const JsonFields::Field& field : fields.others()) {
      std::string name = field.name;
      if (redact_text(name) > 0) found.push_back({path, "has a key as the name of a field"});
      search(field.value, path.empty() ? name : path + "." + name, found);
    }
  } else if (value.starts_with('[')) {
    for (const RawJson element : json_elements(value)) search(element, path, found);
  } else if (auto text = json_to_string(value); text && redact_text(*text) > 0) {
    found.push_back({path,
                     "holds what looks like a key; keys come from the environment, by the name of "
                     "a variable"});
  }
}

}  // namespace

std::vector<FieldProblem> find_secrets(const Json& json) {
  std::vector<FieldProblem> found;
  search(trim_json(json.text()), "", found);
  return found;
}

}  // namespace skein
