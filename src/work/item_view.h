// What is shown of a list of items.
#pragma once

#include <string_view>
#include <vector>

#include "work/item_formats.h"
#include "work/item_merge.h"

namespace skein {

inline constexpr std::string_view kProjectStatePrefix = "PROJECT STATE:";

// The length of the issue key at the front of the text (two or more capitals and digits, a hyphen,
// digits: OD-692), or 0. What follows it may be anything but a digit.
std::size_t issue_key_length(std::string_view text);

bool is_project_state(const WorkItem& item);

// Each item once: those of a project with the same text that are open, or were resolved by the same
// deed, by the oldest of them. Without lines of project state.
std::vector<WorkItem> shown_items(const std::vector<WorkItem>& items,
                                  const ProjectOf& project_of = {});

struct ItemTotals {
  std::size_t open = 0;
  std::size_t resolved = 0;
};
ItemTotals count_items(const std::vector<WorkItem>& shown);

// An open item among `shown` that says nearly the same, or null. Words count by how many the two
// texts have in common (Dice's coefficient, at least 0.8). An issue key such as OD-692 weighs as
// much as three words, and texts that share one are alike from 0.65 on. Texts that each have a
// number or key that the other lacks are different, and a single word is like itself only.
const WorkItem* near_duplicate(std::string_view text, const std::vector<WorkItem>& shown);

}  // namespace skein
