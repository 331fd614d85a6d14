// The thread operations as users of the library call them: names and rules of the threads contract,
// over any Store. A thread is named by its id, the UUID form of its id, or its alias.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "skein/store.h"

namespace skein {

struct CreateOptions {
  std::optional<std::string> task_id;
  std::optional<std::string> title;
  std::optional<std::string> alias;
  Json metadata;
  std::vector<Event> events;
};

struct AppendOptions {
  std::optional<LeaseToken> fence;
  std::optional<Seq> expect_seq;
};

// Thread-safe, as the store is. Borrows the store. A malformed id is kInvalid everywhere.
class Threads {
 public:
  explicit Threads(Store& store) : store_(store) {}

  // Not idempotent: a new id each time.
  Result<ThreadId> create(std::string_view agent_id, const CreateOptions& options = {});

  // Nothing, when there is no such thread.
  Result<std::optional<Manifest>> get(std::string_view thread);

  // All threads of an agent, newest first. For many, page through Store::list instead.
  Result<std::vector<Manifest>> list(std::string_view agent_id);

  // Idempotent: removing what is not there is no error.
  Result<void> remove(std::string_view thread);

  // Durable when it returns. kNotFound creates nothing. Roles: user and assistant only.
  Result<Appended> append_message(std::string_view thread, Role role, std::string_view text,
                                  const AppendOptions& options = {});

  // Any event, messages of the roles system and tool included.
  Result<Appended> append_event(std::string_view thread, Event event,
                                const AppendOptions& options = {});

  // In append order; empty for an unknown thread. For long threads, read_events in parts.
  Result<std::vector<Event>> load_events(std::string_view thread);
  Result<void> read_events(std::string_view thread, const ReadRange& range, const EventSink& sink);

  // Shallow merge. Besides what Store::update refuses, "status" is kInvalid: it has its own
  // operation.
  Result<Manifest> update_manifest(std::string_view thread, const ManifestPatch& patch,
                                   const UpdateOptions& options = {});

  // A new thread of the same agent with a copy of events 1 … seq (kLastSeq: all), title and
  // metadata, and no session.
  Result<Manifest> fork(std::string_view thread, Seq seq = kLastSeq);

  // kNotFound for an unknown alias; an id is not looked up.
  Result<ThreadId> resolve(std::string_view thread);

 private:
  Store& store_;
};

}  // namespace skein
