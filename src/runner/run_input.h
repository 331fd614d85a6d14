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
// As the record of the run keeps it: an object for each event. Of those that are no messages it has
// only the type.
Json input_json(const RunRequest::Input& input);

}  // namespace skein
