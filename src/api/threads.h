// Operations on threads that the library's own classes leave to their callers.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "skein/store.h"

namespace skein {

// kNotFound when there is no such thread.
Result<Manifest> find_thread(Store& store, const ThreadRef& ref);

// Delivers up to `limit` threads, page by page, and answers where the next one would begin (empty:
// there are no more). `query.limit` does not count. False from the sink stops.
Result<std::string> list_threads(Store& store, ListQuery query, std::uint64_t limit,
                                 const std::function<bool(const Manifest&)>& sink);

enum class FollowEnd { kStopped, kRemoved };

// Delivers the events after `after`, and then each new one as it comes, until `go_on` says no
// (asked several times a second), the sink does, or the thread is removed. `settled` is called
// whenever all that there is has been delivered.
Result<FollowEnd> follow_events(Store& store, ThreadId thread, Seq after,
                                const std::function<bool()>& go_on, const EventSink& sink,
                                const std::function<void()>& settled);

}  // namespace skein
