// What the texts of items have in common, and the other texts that are kept with an item.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "skein/work_items.h"

namespace skein {

// The same for texts that make one item: without regard to case, white space, punctuation at the
// end, and an id of an earlier item in front ("t-489d9c6c: …"). Empty for blank text.
std::string text_key(std::string_view text);

// Without the id of an earlier item in front.
std::string_view without_stale_id(std::string_view text);

// Keeps a text in the "notes" of the item, unless it is there or is the item's own.
void add_note(WorkItem& item, std::string_view text);
std::vector<std::string> notes_of(const WorkItem& item);

// The notes of both, with the text that the joined item does not have; the same for (a, b) and
// (b, a). `text` is that of the joined item. A JSON array; empty: there are none.
std::string joined_notes(const WorkItem& a, const WorkItem& b, std::string_view text);

inline constexpr std::string_view kNotesField = "notes";

}  // namespace skein
