// Events that a request writes.
#pragma once

#include <vector>

#include "api/langgraph/update.h"
#include "http/langgraph/shared.h"

namespace skein::http {

// In order, in one write; answers the seq of the last, or 0 of none. The first that is refused is
// the error. kConflict: the thread is not as the plan was made for.
Result<Seq> write_plan(Service& service, ThreadId thread, const langgraph::UpdatePlan& plan);

Result<Seq> last_of(const std::vector<Result<Appended>>& results);

}  // namespace skein::http
