// How two lists of items become one, wherever that happens.
#pragma once

#include <functional>
#include <string>

#include "work/item_formats.h"

namespace skein {

// One item of two that have the same id. Commutative, associative and idempotent: resolved wins
// over open; of two resolutions the first one made; of two texts the one that was created earlier,
// with the other in its notes; a session that is known over none. Unknown fields of both are kept;
// of two values for one the one whose text sorts first.
WorkItem join(const WorkItem& a, const WorkItem& b);

// Tells which items have to do with each other: those of the same project. Asked only for items
// that say the same. None: all do.
using ProjectOf = std::function<std::string(const WorkItem&)>;

// Those of the same id joined, in the order of their creation.
void join_equal_ids(std::vector<WorkItem>& items);

// All items of both, those of the same id joined, in the order of their creation. An open item is
// resolved by an item of another id that says the same (text_key) and was resolved after the open
// one was created: a problem that comes back is a new item, which the old resolution leaves alone.
//
// No item is ever lost, and none that is resolved becomes open again. Commutative and idempotent;
// lists that take each other over become equal, in whichever order that happens.
ItemList merge(ItemList a, const ItemList& b, const ProjectOf& project_of = {});

}  // namespace skein
