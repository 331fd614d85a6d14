// Records that say once, for everybody who follows the change feed, that a thread was closed or
// archived.
//
// The feed tells of a manifest only that it changed, and several changes as one: whether a closed
// thread was closed by this change or long before, nobody can tell from it. A record that is
// written once per closing is told once, at one place in the feed. Whoever changes a status writes
// it right after; should it die in between, the next reader who meets the thread does.
#pragma once

#include <optional>

#include "skein/store.h"
#include "skein/thread_events.h"

namespace skein {

struct Announcement {
  ThreadId thread;
  ThreadEventKind kind = ThreadEventKind::kClosed;
};

// Makes sure that the closing and archiving of the manifest are announced.
Result<void> announce_status(Store& store, const Manifest& manifest);

// What a change announces, if it is of that kind.
std::optional<Announcement> announcement_of(const Change& change);

// For a thread that is removed.
Result<void> forget_announcements(Store& store, ThreadId thread);

}  // namespace skein
