// Events that a request writes.
#pragma once

#include <vector>

#include "http/langgraph/shared.h"

namespace skein::http {

// In order, in one write; answers the seq of the last, or 0 of none. The first that is refused is
// the error.
Result<Seq> write_events(Service& service, ThreadId thread, const std::vector<Event>& events);

std::vector<Append> appends_of(ThreadId thread, const std::vector<Event>& events);
Result<Seq> last_of(const std::vector<Result<Appended>>& results);

}  // namespace skein::http
