#include "api/watch.h"

#include "core/try.h"
#include "thread/thread_event_reader.h"

namespace skein {

Result<void> watch_threads(Store& store, const Watch& watch) {
  constexpr std::chrono::milliseconds kLookUp{200};
  ThreadEventReader reader(store, watch.since);
  while (watch.go_on()) {
    SKEIN_ASSIGN(const ThreadEventBatch batch, reader.next(kLookUp));
    for (const ThreadEvent& event : batch.events) {
      if (watch.filter.matches(event) && !watch.sink(event)) return {};
    }
    watch.pause(batch.end);
  }
  return {};
}

}  // namespace skein
