// Turns the words of a command line into one command, ready to run.
#pragma once

#include <string>

#include "cli/command.h"

namespace skein {

struct Parsed {
  Command* command = nullptr;  // nothing: say `text` and end with `exit_code`
  int exit_code = kExitDone;
  std::string text;  // help or version (kExitDone), or what is wrong with the words (kExitUsage)
};

// Sets the values of all arguments that were typed. Borrows the tree.
Parsed parse_command_line(CommandTree& tree, int argc, const char* const* argv);

}  // namespace skein
