#include "work/checkpoint_extra.h"

#include "core/json_array.h"
#include "core/json_fields.h"

namespace skein {
namespace {

std::string text_of(RawJson value) {
  if (auto text = json_to_string(value)) return std::move(*text);
  std::string line;
  append_json_on_one_line(line, value);
  return line;
}

}  // namespace

std::vector<ExtraField> extra_fields(const Json& object) {
  std::vector<ExtraField> found;
  if (object.empty()) return found;
  const JsonFields fields(object.text());
  for (const JsonFields::Field& field : fields.others()) {
    ExtraField& extra = found.emplace_back();
    extra.name = field.name;
    extra.is_list = json_to_array(field.value).has_value();
    if (!extra.is_list) extra.texts.push_back(text_of(field.value));
    for (const RawJson element : json_elements(field.value)) {
      extra.texts.push_back(text_of(element));
    }
  }
  return found;
}

}  // namespace skein
