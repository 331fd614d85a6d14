// Items as other programs, and earlier ones, wrote them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/json.h"
#include "skein/work_items.h"

namespace skein {

// The items of a workspace or of a session. No two have the same id, each has a creation time.
struct ItemList {
  std::vector<WorkItem> items;
  std::vector<Json> others;  // entries that are no items, kept as they came

  friend bool operator==(const ItemList&, const ItemList&) = default;
};

// An entry of a list in any of the known formats:
//   "Fix the bug"                                    a text
//   {"id":"t-…","text":"…","status":"open", …}       an item
//   "{\"id\":\"t-…\",\"text\":\"…\", …}"             the same as a string
//   "{\"id\":\"t-…\",\"note\":\"…\", …}"             with a note for its text
//   "{\"item\":\"…\",\"context\":\"…\"}"             with an item for its text
// and the last two also as objects. An item whose text is such a string again is what is inside.
// The id in front of a text ("t-489d9c6c: …") is that of an earlier item and is left off. The id is
// empty and times are unset where the entry has none. Fields of unexpected kinds are kept as
// imported_<name>. Nothing, if it is no item.
std::optional<WorkItem> read_item(RawJson entry);

// The same; but an id is enough: {"id":"t-…","status":"resolved"} has no text then.
std::optional<WorkItem> read_item_change(RawJson entry);

// The text of the item that a text is, as JSON; else the text, without the id of an earlier item.
std::string unwrapped_text(const std::string& text);

// All entries of a valid JSON array. Items without an id get one that follows from their text, so
// that reading the same list again gives the same ids; it is another one than that of an item of
// the list that is resolved, or says something else. Items without a time of creation get
// `created_at`. `given_ids`: the ids that they got.
ItemList read_items(RawJson array, Timestamp created_at,
                    std::vector<std::string>* given_ids = nullptr);

// As the file has them: an entry each, two spaces deep.
std::string to_json(const ItemList& list);

}  // namespace skein
