// skein agent add, edit, remove.
#pragma once

#include "cli/command.h"

namespace skein {

void add_agent_edit_commands(CommandGroup& group);

}  // namespace skein
