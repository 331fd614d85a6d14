#include "skein/threads.h"

#include "core/quote.h"
#include "core/try.h"
#include "skein/limits.h"
#include "store/checks.h"

namespace skein {

Result<ThreadId> Threads::resolve(std::string_view thread) {
  SKEIN_ASSIGN(const ThreadRef ref, ThreadRef::parse(thread));
  if (ref.id()) return *ref.id();
  SKEIN_ASSIGN(const auto manifest, store_.get(ref));
  if (manifest) return manifest->id;
  return fail(ErrorCode::kNotFound, "there is no thread with the alias " + ref.alias());
}

Result<ThreadId> Threads::create(std::string_view agent_id, const CreateOptions& options) {
  NewThread thread;
  thread.agent_id = agent_id;
  thread.alias = options.alias;
  if (options.task_id) thread.fields.task_id(*options.task_id);
  if (options.title) thread.fields.title(*options.title);
  if (!options.metadata.empty()) thread.fields.metadata(options.metadata);
  thread.events = options.events;
  SKEIN_ASSIGN(const Manifest manifest, store_.create(thread));
  return manifest.id;
}

Result<std::optional<Manifest>> Threads::get(std::string_view thread) {
  SKEIN_ASSIGN(const ThreadRef ref, ThreadRef::parse(thread));
  return store_.get(ref);
}

Result<std::vector<Manifest>> Threads::list(std::string_view agent_id) {
  std::vector<Manifest> all;
  ListQuery query;
  query.agent_id = agent_id;
  query.limit = limits::kMaxPageSize;
  do {
    SKEIN_ASSIGN(ThreadPage page, store_.list(query));
    std::move(page.threads.begin(), page.threads.end(), std::back_inserter(all));
    query.after = std::move(page.next);
  } while (!query.after.empty());
  return all;
}

Result<void> Threads::remove(std::string_view thread) {
  const auto id = resolve(thread);
  if (!id && id.error().code == ErrorCode::kNotFound) return {};
  if (!id) return tl::unexpected(id.error());
  SKEIN_TRY(store_.remove(*id));
  return {};
}

Result<Appended> Threads::append_message(std::string_view thread, Role role, std::string_view text,
                                         const AppendOptions& options) {
  if (role != Role::kUser && role != Role::kAssistant) {
    return fail(ErrorCode::kInvalid, "role of a message must be user or assistant, got " +
                                         quote(to_string(role)) + "; append it as an event");
  }
  Event event;
  event.payload = Message{role, std::string(text)};
  return append_event(thread, std::move(event), options);
}

Result<Appended> Threads::append_event(std::string_view thread, Event event,
                                       const AppendOptions& options) {
  SKEIN_ASSIGN(const ThreadId id, resolve(thread));
  const Append append{id, std::move(event), options.fence, options.expect_seq};
  return std::move(store_.append(std::span(&append, 1)).front());
}

Result<std::vector<Event>> Threads::load_events(std::string_view thread) {
  std::vector<Event> events;
  SKEIN_TRY(read_events(thread, {}, [&events](Event& event) {
    events.push_back(std::move(event));
    return true;
  }));
  return events;
}

Result<void> Threads::read_events(std::string_view thread, const ReadRange& range,
                                  const EventSink& sink) {
  const auto id = resolve(thread);
  if (!id && id.error().code == ErrorCode::kNotFound) return {};
  if (!id) return tl::unexpected(id.error());
  return store_.read(*id, range, sink);
}

Result<Manifest> Threads::update_manifest(std::string_view thread, const ManifestPatch& patch,
                                          const UpdateOptions& options) {
  for (const ManifestPatch::Entry& entry : patch.entries()) {
    if (entry.field != "status") continue;
    return fail(ErrorCode::kInvalid, "status has its own operation and cannot be set here, got " +
                                         excerpt(entry.value.text()));
  }
  SKEIN_ASSIGN(const ThreadId id, resolve(thread));
  return store_.update(id, patch, options);
}

Result<Manifest> Threads::fork(std::string_view thread, Seq seq) {
  SKEIN_ASSIGN(const ThreadRef ref, ThreadRef::parse(thread));
  SKEIN_ASSIGN(const auto parent, store_.get(ref));
  if (!parent) return fail(ErrorCode::kNotFound, "there is no thread " + ref.str());
  NewThread fork;
  fork.agent_id = parent->agent_id;
  fork.from = Parent{parent->id, seq == kLastSeq ? parent->last_seq : seq};
  if (parent->title) fork.fields.title(*parent->title);
  if (!parent->metadata.empty()) fork.fields.metadata(parent->metadata);
  return store_.create(fork);
}

}  // namespace skein
