#include "http/langgraph/writing.h"

#include "core/try.h"

namespace skein::http {

Result<Seq> last_of(const std::vector<Result<Appended>>& results) {
  Seq last = 0;
  for (const Result<Appended>& result : results) {
    SKEIN_TRY(result);
    last = result->seq;
  }
  return last;
}

Result<Seq> write_plan(Service& service, ThreadId thread, const langgraph::UpdatePlan& plan) {
  if (plan.events.empty()) return Seq{0};
  return last_of(service.threads().append(thread, langgraph::appends_of(thread, plan)));
}

}  // namespace skein::http
