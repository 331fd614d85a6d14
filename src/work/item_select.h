// Which item of a list somebody means.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "work/item_formats.h"

namespace skein {

// kInvalid: neither an id nor a text, both, or a malformed id.
Result<void> check_selection(const ResolveItem& request);

// Null: there is none.
WorkItem* item_with_id(ItemList& list, std::string_view id);
// kNotFound.
Result<WorkItem*> find_item(ItemList& list, std::string_view id);

// The item that is to be resolved; a text or a position names one of the project only (none: of
// all). One that is not in the list is looked for in the last closed sessions of the project (none:
// that of the place), whose items are merged into the list then.
Result<WorkItem*> select_item(Store& store, const WorkPlace& place, ItemList& list,
                              const ResolveItem& request, const std::optional<std::string>& project,
                              Timestamp now);

// The open item that the resolution note of another names as its original ("duplicate of t-…"), or
// null.
WorkItem* open_original(ItemList& list, const WorkItem& resolved);
// The resolution note of that original.
std::string duplicate_note(std::string_view duplicate);

// Gives those of `items` whose ids are in `given_ids` the id of the item of the project that has
// the text as a note, or is open and says nearly the same.
Result<void> take_for_known(Store& store, const WorkPlace& place, const std::string& project,
                            const ItemList& list, std::vector<WorkItem>& items,
                            const std::vector<std::string>& given_ids);

}  // namespace skein
