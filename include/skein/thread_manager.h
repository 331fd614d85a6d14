// Conversations: threads with a status, messages of four roles, pins, limits, and live events.
//
// The rules on top of the store:
//
//   status    active ⇄ paused, either → closed → archived; archiving an open thread closes it
//             first, an archived one can be restored to closed, and a closed one never reopens:
//             fork it.
//   messages  go into active and paused threads. Refusals name the status.
//
// Both hold between processes: a status is changed, and a message appended, only if the manifest is
// still the one that was looked at (expect_version), so that no message lands in a thread that was
// closed meanwhile. Who carries the thread's fence, a run under way, writes on after a closing.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "skein/clock.h"
#include "skein/context.h"
#include "skein/store.h"
#include "skein/summary.h"
#include "skein/thread_events.h"

namespace skein {

// No more than `max_active` active threads whose metadata has the same value under `metadata_key`.
// Creating, resuming, and moving a thread there by new metadata are refused with kConflict beyond
// that, naming key, value and limit. Holds between processes that use the same limits: the number
// is reserved in the store first. Only a process that is stopped for more than a minute between
// reserving and creating may exceed it.
struct ActiveLimit {
  std::string metadata_key;
  std::size_t max_active = 0;
};

struct ThreadManagerOptions {
  Clock* clock = nullptr;   // borrowed; none: system_clock()
  IdSource* ids = nullptr;  // borrowed; none: random_ids()
  std::vector<ActiveLimit> active_limits{};
};

struct NewMessage {
  Role role = Role::kUser;
  std::string text{};
  Json metadata{};  // an object, or absent
  std::optional<MemoryType> memory_type{};
  std::string key{};  // idempotency key; empty: none
  std::optional<Seq> base{};
};

struct NewConversation {
  std::string agent_id;
  Json metadata{};  // an object, or absent
  std::optional<std::string> title{};
  std::optional<std::string> task_id{};
  std::optional<std::string> alias{};
  std::optional<std::string> system_message{};  // comes before the others
  std::vector<NewMessage> initial_messages{};
};

// A message as its thread has it.
struct ThreadMessage {
  std::string id;  // <threadId>-<seq>
  ThreadId thread;
  Seq seq = 0;
  Role role = Role::kUser;
  std::string text;
  Json metadata;
  std::optional<MemoryType> memory_type;
  Timestamp created_at;
};

std::string message_id(ThreadId thread, Seq seq);
// kInvalid names the rule and the value.
Result<std::pair<ThreadId, Seq>> parse_message_id(std::string_view text);
// One JSON object on one line.
std::string to_json(const ThreadMessage& message);

enum class MessageOrder { kOldestFirst, kNewestFirst };

struct MessageSelection {
  std::optional<std::uint64_t> limit{};
  std::uint64_t offset = 0;  // of those that match, in the order asked for
  MessageOrder order = MessageOrder::kOldestFirst;
  std::optional<Role> role{};
};

struct CloseOptions {
  std::optional<std::string> summary{};
  std::optional<std::string> resolution{};
};

struct ArchiveOptions {
  std::optional<std::int64_t> retention_days{};  // none: kept for ever
  std::optional<std::string> reason{};
};

class SubscriptionHub;

// Thread-safe. Borrows the store. A thread is named by its id, the UUID form of its id, or its
// alias; a malformed name is kInvalid, and an unknown one kNotFound except where said.
class ThreadManager {
 public:
  explicit ThreadManager(Store& store, ThreadManagerOptions options = {});
  // Ends all subscriptions and waits for callbacks under way; not from within one.
  ~ThreadManager();
  ThreadManager(const ThreadManager&) = delete;
  ThreadManager& operator=(const ThreadManager&) = delete;

  // The thread with all its messages, or nothing at all.
  Result<Manifest> create(const NewConversation& conversation);

  // Nothing, when there is no such thread.
  Result<std::optional<Manifest>> get(std::string_view thread);

  // Every thread that matches, whatever their number; the query's own `limit` and `after` are for
  // page().
  Result<std::vector<Manifest>> list(ListQuery query = {});
  // How many match, without reading them.
  Result<std::uint64_t> count(ListQuery query = {});
  // One page; see Store::list.
  Result<ThreadPage> page(const ListQuery& query);

  // Appends a message of any role; it is on disk when this returns.
  Result<ThreadMessage> add_message(std::string_view thread, const NewMessage& message);

  // The same for any events and for several at once, with a result for each. An append with a
  // fence is not asked for the thread's status; expect_version is this class's own.
  std::vector<Result<Appended>> append(ThreadId thread, std::vector<Append> appends);

  // The messages of the current path: what was rolled back or edited away is not among them. Costs
  // as much as lies between the end one starts at and the last message delivered.
  Result<std::vector<ThreadMessage>> messages(std::string_view thread,
                                              const MessageSelection& selection = {});

  // Shallow merge; metadata is replaced whole, as given. An update that changes nothing leaves
  // updatedAt alone. What has an operation of its own is kInvalid here: "status", "closedAt",
  // "archive", "pins"; and so is a value for "sessionId", which runs alone set. Clearing it makes
  // the next run start a new session of the engine, with what the thread has.
  Result<Manifest> update(std::string_view thread, const ManifestPatch& patch,
                          const UpdateOptions& options = {});

  // Clears "sessionId", as update() does.
  Result<Manifest> clear_session(std::string_view thread);

  // Any move that the rules allow, as pause, resume, close, archive and restore would do it; to the
  // status that it has, nothing happens. kConflict names the status and what to do instead.
  Result<Manifest> update_status(std::string_view thread, ThreadStatus status);

  // Closing again adds a summary or resolution that is not there yet; another one is kConflict.
  Result<Manifest> close(std::string_view thread, const CloseOptions& options = {});

  // Archiving again replaces what is given, and keeps the time that retention counts from.
  Result<Manifest> archive(std::string_view thread, const ArchiveOptions& options = {});

  Result<Manifest> restore(std::string_view thread);

  // Keeps an event in mind for context windows. Pinning twice, or unpinning what is not pinned,
  // changes nothing. kInvalid: there is no such event.
  Result<Manifest> pin(std::string_view thread, Seq seq);
  Result<Manifest> unpin(std::string_view thread, Seq seq);

  // What of the thread fits into a model's window; see skein/context.h.
  Result<ContextWindow> context(std::string_view thread, const ContextRequest& request = {});
  // Appends a summary of what is old, or takes one out of force; see skein/summary.h.
  Result<std::optional<Summary>> summarize(std::string_view thread,
                                           const SummarizeRequest& request = {});
  Result<Seq> undo_summary(std::string_view thread, const UndoRequest& request = {});

  // Removes a thread for good, and leaves a record that it went (skein/retention.h). Idempotent:
  // false, when there is no such thread. An index of messages has it until its next backfill;
  // Workspace::remove() takes it out of there, too.
  Result<bool> remove(std::string_view thread);

  // Calls back for what matches; see skein/thread_events.h. kInvalid: a cursor that the feed did
  // not give out, or limits::kMaxSubscribers reached.
  Result<Subscription> subscribe(SubscribeOptions options, ThreadEventCallback callback);
  // From now on, one kind of event.
  Result<Subscription> on(ThreadEventKind kind, ThreadEventCallback callback);

 private:
  using MakePatch = std::function<Result<ManifestPatch>(const Manifest&)>;
  // Applies what `make_patch` says of the manifest as it is, again if it changed in between.
  Result<Manifest> change(std::string_view thread, const MakePatch& make_patch,
                          const UpdateOptions& options);
  // And tells of a closing or archiving.
  Result<Manifest> change_status(std::string_view thread, const MakePatch& make_patch);

  Store& store_;
  const ThreadManagerOptions options_;
  const std::shared_ptr<SubscriptionHub> hub_;
};

}  // namespace skein
