#include "api/watch.h"

#include <algorithm>

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

ThreadEventFeed::ThreadEventFeed(Store& store, std::string since, ThreadEventFilter filter,
                                 std::optional<std::vector<std::string>> agents)
    : reader_(std::make_unique<ThreadEventReader>(store, std::move(since))),
      filter_(std::move(filter)),
      agents_(std::move(agents)) {}
ThreadEventFeed::~ThreadEventFeed() = default;
ThreadEventFeed::ThreadEventFeed(ThreadEventFeed&&) noexcept = default;

Result<ThreadEventFeed::Step> ThreadEventFeed::next(std::chrono::milliseconds wait) {
  SKEIN_ASSIGN(ThreadEventBatch batch, reader_->next(wait));
  Step step;
  step.moved = batch.begin != batch.end;
  for (ThreadEvent& event : batch.events) {
    // What belongs to nobody known is not for those who see some agents only.
    const bool seen =
        !agents_ || std::find(agents_->begin(), agents_->end(), event.agent_id) != agents_->end();
    if (seen && filter_.matches(event)) step.events.push_back(std::move(event));
  }
  return step;
}

const std::string& ThreadEventFeed::cursor() const { return reader_->cursor(); }

}  // namespace skein
