// Whether a request for a run, or an answer to one, makes sense, before anything is written.
#pragma once

#include "skein/runner.h"

namespace skein {

// Absent, or an object of at most so many bytes.
Result<void> check_optional_object(std::string_view what, const Json& json, std::size_t limit);

// The rules that need no look at the data.
Result<void> check_request(const RunRequest& request);

// kConflict, unless it is the thread of that agent, and active.
Result<void> check_takes_runs(const Manifest& manifest, std::string_view agent_id);

// The thread of the request: there, of that agent, and active. A new one is made only if asked for.
Result<Manifest> thread_for(Store& store, const RunRequest& request);

// Whether that is an answer to what the run asks. kConflict: not to the question that is open.
Result<void> check_answer(const Run& run, const RunAnswer& answer);
Error no_open_question(const Run& run);

}  // namespace skein
