// Changes to files of other programs, shown and agreed to before they are made.
#pragma once

#include <string_view>

#include "api/file_change.h"
#include "cli/context.h"

namespace skein {

// Shows the change, asks unless `yes`, and applies it (apply_trusted_change). Without a change it
// prints `unchanged`.
Outcome make_change(Context& context, const Settings& settings, const FileChange& change, bool yes,
                    std::string_view unchanged);

}  // namespace skein
