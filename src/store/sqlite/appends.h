// Appending events.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "skein/store.h"
#include "store/sqlite/writer.h"

namespace skein::sqlite {

std::vector<Result<Appended>> append_events(JobRunner& writer, const StoreOptions& options,
                                            std::span<const Append> appends);

// The seq of the thread's event with this key, if there is one at or before `last`.
Result<std::optional<Seq>> find_key(Database& database, ThreadId id, std::string_view key,
                                    Seq last);

}  // namespace skein::sqlite
