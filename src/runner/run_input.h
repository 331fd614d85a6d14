// What is said to a run, as the events that it begins with.
#pragma once

#include <string>
#include <vector>

#include "skein/runner.h"

namespace skein {

// metadata.runId is ours.
Event input_event(const NewMessage& message, const std::string& run_id);
// All of it, in the order in which it is written.
std::vector<Event> input_events(const RunRequest::Input& input, const std::string& run_id);
// The messages among it, as the record of the run keeps them.
Json input_json(const RunRequest::Input& input);

}  // namespace skein
