// Puts Skein's hooks into the settings of a coding agent.
#pragma once

#include <string>
#include <string_view>

#include "skein/error.h"

namespace skein {

// `settings` (the text of .claude/settings.json; empty: there is none) with the hooks in it that
// run `program`, a word of a shell command. Everything else stays as it is, byte for byte where the
// file is laid out with two spaces; hooks that are there already, from another place perhaps, are
// brought up to date. The same text, if there is nothing to do. kInvalid: the settings are no JSON
// object, or their hooks are of another shape.
Result<std::string> with_hooks(std::string_view settings, const std::string& program);

}  // namespace skein
