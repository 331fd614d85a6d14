// The commands of `skein thread` that have files of their own.
#pragma once

#include <memory>

#include "cli/command.h"

namespace skein {

std::unique_ptr<Command> thread_append_command();
std::unique_ptr<Command> thread_context_command();
std::unique_ptr<Command> thread_events_command();
std::unique_ptr<Command> thread_list_command();
std::unique_ptr<Command> thread_summarize_command();

}  // namespace skein
