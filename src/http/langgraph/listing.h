// Lists that are short enough to be sorted and cut when they are asked for: agents, crons.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "http/response.h"

namespace skein::http {

// The members of an object that are wanted; without any, all.
std::string selected(const std::string& json, const std::vector<std::string>& select);

// The items (objects) that the body of a search asks for: in the order of "sort_by" and
// "sort_order" (with neither, as they come), cut by "offset" and "limit", with the members in
// "select" alone. Headers say how many there are, and where the next page begins.
Response listed(std::vector<std::string> items, std::string_view body);

}  // namespace skein::http
