// Threads such as agents leave them, and worse.
#pragma once

#include <random>

#include "skein/store.h"

namespace skein::test {

// A thread with up to some hundred events: all roles and types, tool calls side by side, with ids
// that repeat, without ids or without responses, images, branches, decisions, pins, summaries and
// summaries that were undone. Metadata holds nothing but "tool_call_id", "covers" or "undoes".
ThreadId make_random_thread(Store& store, std::mt19937_64& random);

// One further event for it.
Event random_conversation_event(std::mt19937_64& random, Seq last);

}  // namespace skein::test
