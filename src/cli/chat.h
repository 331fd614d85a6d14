// Commands of their own files that stand beside `skein run`.
#pragma once

#include <memory>

#include "cli/command.h"

namespace skein {

std::unique_ptr<Command> chat_command();
std::unique_ptr<Command> usage_command();

}  // namespace skein
