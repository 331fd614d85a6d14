// The commands of `skein thread` that have files of their own.
#pragma once

#include <memory>

#include "cli/command.h"
#include "skein/thread.h"

namespace skein {

std::unique_ptr<Command> thread_append_command();
std::unique_ptr<Command> thread_context_command();
std::unique_ptr<Command> thread_events_command();
std::unique_ptr<Command> thread_list_command();
std::unique_ptr<Command> thread_summarize_command();
std::unique_ptr<Command> thread_messages_command();
// update, pin, unpin
std::vector<std::unique_ptr<Command>> thread_update_commands();
// pause, resume, close, archive, restore
std::vector<std::unique_ptr<Command>> thread_status_commands();

// A thread as it is now: for people, or with --json as one object.
void print_manifest(Context& context, const Manifest& manifest);

}  // namespace skein
