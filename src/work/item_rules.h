// What every new or resolved item meets.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "work/item_formats.h"

namespace skein {

// Not blank, UTF-8, without control characters but line feed and tab, and not too long. `what`
// begins the message.
Result<void> check_item_text(std::string_view what, std::string_view text);

// An open item that says this, with a fresh id. It is never older than a resolution of the same
// text that is in the list, even if that was made where clocks are ahead: it is to stay open.
WorkItem new_item(const ItemList& list, std::string text, Timestamp now, IdSource& ids);

// When an item with this text is resolved: now, but after all open items of the list that say the
// same were created, so that they are resolved with it.
Timestamp resolution_time(const ItemList& list, std::string_view text, Timestamp now);

// Marks an item of the list as resolved.
void resolve_in(const ItemList& list, WorkItem& item, Timestamp now,
                const std::optional<std::string>& session, std::optional<std::string> note);

}  // namespace skein
