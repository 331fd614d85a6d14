// Fields of a checkpoint that only other programs know.
#pragma once

#include <string>
#include <vector>

#include "skein/json.h"

namespace skein {

struct ExtraField {
  std::string name;
  std::vector<std::string> texts;  // a text, each entry of a list, or the JSON of anything else
  bool is_list = false;
};

// The members of an object, as people read them; none of absent JSON.
std::vector<ExtraField> extra_fields(const Json& object);

}  // namespace skein
