// The user's editor.
#pragma once

#include <string>

#include "cli/command.h"

namespace skein {

// Opens $VISUAL, else $EDITOR, else vi, on the file, and waits until it ends. Wrong usage where
// standard input or output is no terminal, naming `instead`.
tl::expected<void, Failure> edit_file(const std::string& file, const std::string& instead);

}  // namespace skein
