// A thread's events as the messages that models know.
#pragma once

#include <vector>

#include "skein/engine.h"
#include "skein/event.h"
#include "skein/runner.h"
#include "skein/store.h"

namespace skein {

// Narration and the calls after it become one message of the assistant, and the results of these
// calls follow it at once, wherever they stand in the thread. A call without a result, such as one
// of a run that was stopped, gets one that says so: no model accepts a call that was not answered.
std::vector<EngineMessage> engine_messages(const std::vector<Event>& events);

// What of the thread a model gets to see: its context, or, where the path is to end at `head`, the
// newest of that path that fit the budget.
Result<std::vector<EngineMessage>> conversation_of(Store& store, ThreadId thread,
                                                   const ContextRequest& request,
                                                   std::optional<Seq> head);

}  // namespace skein
