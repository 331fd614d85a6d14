// Threads as they are carried from one place to another.
#pragma once

#include "skein/event.h"
#include "skein/store.h"

namespace skein {

// A thread to be made with the same id and all the fields of this one; without its events.
Result<NewThread> new_thread_of(const Manifest& manifest);

// Why an import leaves out the session id of a thread.
std::string not_a_session(std::string_view id);

// Fields that Skein does not know, but whose names mean something in an event of its own, become
// "imported_<name>".
void rename_taken_fields(Json& extra);

}  // namespace skein
