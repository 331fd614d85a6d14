#include "core/json_contains.h"

#include <algorithm>

#include "core/json_array.h"
#include "core/json_fields.h"

namespace skein {

bool json_contains(RawJson whole, RawJson part) {
  if (whole.empty() || part.empty()) return false;
  if (part.front() == '{') {
    if (whole.front() != '{') return false;
    const JsonFields wanted(part);
    const JsonFields there(whole);
    return std::all_of(wanted.others().begin(), wanted.others().end(), [&](const auto& member) {
      // Of members with one name the last counts.
      const auto found = std::find_if(there.others().rbegin(), there.others().rend(),
                                      [&](const auto& other) { return other.name == member.name; });
      return found != there.others().rend() && json_contains(found->value, member.value);
    });
  }
  if (part.front() == '[') {
    if (whole.front() != '[') return false;
    const std::vector<RawJson> there = json_elements(whole);
    const std::vector<RawJson> wanted = json_elements(part);
    return std::all_of(wanted.begin(), wanted.end(), [&](RawJson element) {
      return std::any_of(there.begin(), there.end(),
                         [&](RawJson other) { return json_contains(other, element); });
    });
  }
  const auto a = canonical_scalar(whole);
  return a.has_value() && a == canonical_scalar(part);
}

}  // namespace skein
