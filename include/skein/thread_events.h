// What happens to threads, told as it happens and again to whoever comes later with a cursor.
//
// Events are read from the store's change feed, so they come from every process that works on the
// same file or folder. A cursor names a place in that feed and outlives the process: whoever goes
// on from the cursor of the last event it handled misses nothing and sees nothing twice. (`jsonl:`
// may repeat after a crash of the machine; a message's (thread, seq) then tells. Repeats within one
// subscription are left out.)
//
// The feed tells the latest state. A subscriber that keeps up sees each step; one that comes late
// finds several updates of a thread as one, and of a thread that is gone only its deletion. Each
// message, and each closing and archiving of a thread that still exists, is told once to everybody.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "skein/error.h"
#include "skein/event.h"
#include "skein/ids.h"
#include "skein/thread.h"

namespace skein {

enum class ThreadEventKind {
  kCreated,   // "thread:created"
  kMessage,   // "thread:message"; other events of a thread are not told
  kUpdated,   // "thread:updated": its manifest changed, the status included
  kClosed,    // "thread:closed", once in a thread's life
  kArchived,  // "thread:archived", each time; archiving an open thread closes it first
  kDeleted,   // "thread:deleted"
};

const char* to_string(ThreadEventKind kind);
Result<ThreadEventKind> parse_thread_event_kind(std::string_view text);
std::vector<ThreadEventKind> all_thread_event_kinds();

struct ThreadEvent {
  ThreadEventKind kind = ThreadEventKind::kCreated;
  ThreadId thread;
  // Empty where a deleted thread was removed without a record of its agent.
  std::string agent_id;
  // As it was when the event was read, which may be later than what is told. Not of messages and
  // deletions.
  std::optional<Manifest> manifest;
  std::optional<Event> message;  // kMessage; its payload is a Message
  std::string cursor;            // goes on right after this event
};

// {"event":"thread:message","threadId":…,"agentId":…,…,"cursor":…} on one line: "message" is the
// message as its thread has it, "thread" the manifest.
std::string to_json(const ThreadEvent& event);

// What must hold of an event; what is not set holds of all.
struct ThreadEventFilter {
  std::vector<ThreadEventKind> kinds;  // any of them
  std::optional<std::string> agent_id;
  std::optional<ThreadId> thread;

  bool matches(const ThreadEvent& event) const;
};

struct SubscribeOptions {
  ThreadEventFilter filter;
  // Where to begin: a cursor, Store::kNow (what happens from the call on), or "" for all there is.
  std::string since = "now";
  // Told when the feed cannot be read. It is tried again; nothing is skipped.
  std::function<void(const Error&)> on_error;
};

using ThreadEventCallback = std::function<void(const ThreadEvent&)>;

// One subscriber, for as long as this lives. Movable; destroyed or closed from any thread.
//
// Callbacks of one subscription run one after the other on a thread of its own. One that is slow
// delays nobody else, neither appends nor other subscribers, and loses nothing: what it cannot take
// from the events kept in memory it reads from the store again.
class Subscription {
 public:
  Subscription() = default;
  explicit Subscription(std::function<void()> end) : end_(std::move(end)) {}
  ~Subscription() { close(); }
  Subscription(Subscription&& other) noexcept : end_(std::exchange(other.end_, nullptr)) {}
  Subscription& operator=(Subscription&& other) noexcept {
    if (this != &other) {
      close();
      end_ = std::exchange(other.end_, nullptr);
    }
    return *this;
  }

  // When it returns, no callback runs any more, and none will. Called from within a callback, one
  // that is under way may still finish.
  void close() {
    if (auto end = std::exchange(end_, nullptr)) end();
  }

 private:
  std::function<void()> end_;
};

}  // namespace skein
