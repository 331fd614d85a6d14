// What a search found, as people read it.
#pragma once

#include <string>
#include <vector>

#include "cli/style.h"
#include "skein/recall.h"

namespace skein {

// A heading for each result with thread, time, score and reasons, and its messages; the words of
// the question stand out on a terminal. Long messages are cut there.
std::string search_text(const SearchAnswer& answer, const Style& style);

// What to know of the answer besides: a line each.
std::vector<std::string> search_notes(const SearchAnswer& answer);

}  // namespace skein
