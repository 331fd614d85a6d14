// What is shown of a list of items.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "work/item_formats.h"
#include "work/item_likeness.h"
#include "work/item_merge.h"

namespace skein {

inline constexpr std::string_view kProjectStatePrefix = "PROJECT STATE:";

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

// Open items, taken apart once to be compared with many texts.
class OpenWordings {
 public:
  explicit OpenWordings(const std::vector<WorkItem>& shown);
  void add(const WorkItem& item);

  // The first one that is accepted and has the same text, else the first that says nearly the same
  // (ItemWording::is_like), or null. The pointer is good until the next add.
  using Accept = std::function<bool(const WorkItem&)>;
  const WorkItem* find(const ItemWording& wording, std::string_view text,
                       const Accept& accept = {}) const;
  const WorkItem* find(std::string_view text, const Accept& accept = {}) const {
    return find(ItemWording(text), text, accept);
  }

 private:
  struct Entry {
    WorkItem item;
    std::string key;
    ItemWording wording;
  };
  std::vector<Entry> open_;
};

}  // namespace skein
