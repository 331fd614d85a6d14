// Operations on threads that the library's own classes leave to their callers.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "skein/store.h"
#include "skein/summary.h"

namespace skein {

// kNotFound when there is no such thread.
Result<Manifest> find_thread(Store& store, const ThreadRef& ref);

// Delivers up to `limit` threads, page by page, and answers where the next one would begin (empty:
// there are no more). `query.limit` does not count. False from the sink stops.
Result<std::string> list_threads(Store& store, ListQuery query, std::uint64_t limit,
                                 const std::function<bool(const Manifest&)>& sink);

// One page of the threads of these agents, as Store::list gives those of one. `query.agent_id` does
// not count.
Result<ThreadPage> list_threads_of(Store& store, ListQuery query,
                                   const std::vector<std::string>& agents);

// The same, of those alone that have the text in their title, id, alias or metadata, whatever the
// case. Looks at kMaxThreadsLookedAt at most: a page may be short, or empty, though `next` is
// there. `agents` absent: all. No total is counted.
inline constexpr std::size_t kMaxThreadsLookedAt = 20'000;
Result<ThreadPage> find_threads(Store& store, ListQuery query,
                                const std::optional<std::vector<std::string>>& agents,
                                std::string_view text);

// What the metadata of a thread has that goes when its run is over. Only the server sets it.
inline constexpr std::string_view kTemporaryMark = "langgraph_temporary";
// kInvalid: somebody else's metadata has it.
Result<void> check_has_no_mark(const Json& metadata);
// As Threads::fork. What was forked off a temporary thread stays.
Result<Manifest> fork_thread(Store& store, ThreadId thread, Seq seq = kLastSeq);

// {"seq":N,"covers":[[first,last],…],"text":…,"tokens":N} on one line.
std::string summary_json(const Summary& summary);

enum class FollowEnd { kStopped, kRemoved };

// Delivers the events after `after`, and then each new one as it comes, until `go_on` says no
// (asked several times a second), the sink does, or the thread is removed. `settled` is called
// whenever all that there is has been delivered.
Result<FollowEnd> follow_events(Store& store, ThreadId thread, Seq after,
                                const std::function<bool()>& go_on, const EventSink& sink,
                                const std::function<void()>& settled);

}  // namespace skein
