// Which process somebody is, so that another one on the same machine can tell whether it still
// lives.
#pragma once

#include <string>
#include <string_view>

#include "skein/clock.h"
#include "skein/ids.h"

namespace skein {

// "<boot id>/<pid namespace>/<pid>/<start time>/<number>"; the number tells apart several users of
// this within one process.
std::string name_this_process(Clock& clock, IdSource& ids);

// Whether a process with that name is known to be gone. False for processes of other machines and
// containers, of which nothing can be known here.
bool process_is_gone(std::string_view name, Clock& clock);

}  // namespace skein
