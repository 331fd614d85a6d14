#include "http/langgraph/writing.h"

#include "core/try.h"

namespace skein::http {

std::vector<Append> appends_of(ThreadId thread, const std::vector<Event>& events) {
  std::vector<Append> appends;
  appends.reserve(events.size());
  for (const Event& event : events) {
    Append append;
    append.thread = thread;
    append.event = event;
    appends.push_back(std::move(append));
  }
  return appends;
}

Result<Seq> last_of(const std::vector<Result<Appended>>& results) {
  Seq last = 0;
  for (const Result<Appended>& result : results) {
    SKEIN_TRY(result);
    last = result->seq;
  }
  return last;
}

Result<Seq> write_events(Service& service, ThreadId thread, const std::vector<Event>& events) {
  if (events.empty()) return Seq{0};
  return last_of(service.threads().append(thread, appends_of(thread, events)));
}

}  // namespace skein::http
