#include "skein/thread_manager.h"

#include <algorithm>

#include "core/quote.h"
#include "core/try.h"
#include "skein/limits.h"
#include "store/checks.h"
#include "thread/active_limits.h"
#include "thread/announcements.h"
#include "thread/messages.h"
#include "thread/path.h"
#include "thread/removals.h"
#include "thread/status.h"
#include "thread/subscription_hub.h"

namespace skein {
namespace {

// Whoever comes so many times too late competes with something that never rests.
constexpr int kMostAttempts = 1000;
// No manifest has it: an append that expects it is refused, unless its key is known.
constexpr Version kNoVersion = ~Version{0};

ThreadManagerOptions with_defaults(ThreadManagerOptions options) {
  if (options.clock == nullptr) options.clock = &system_clock();
  if (options.ids == nullptr) options.ids = &random_ids();
  return options;
}

Result<Manifest> find(Store& store, std::string_view thread) {
  SKEIN_ASSIGN(const ThreadRef ref, ThreadRef::parse(thread));
  SKEIN_ASSIGN(auto manifest, store.get(ref));
  if (!manifest) return fail(ErrorCode::kNotFound, "there is no thread " + ref.str());
  return std::move(*manifest);
}

Event to_event(const NewMessage& message) {
  Event event;
  event.payload = Message{message.role, message.text};
  event.metadata = message.metadata;
  event.memory_type = message.memory_type;
  event.key = message.key;
  event.base = message.base;
  return event;
}

// The manifest as it will be after the patch, as far as limits are concerned.
bool becomes_active_elsewhere(const Manifest& manifest, const ManifestPatch& patch,
                              Json& metadata) {
  bool active = manifest.status == ThreadStatus::kActive;
  bool moved = !active;
  metadata = manifest.metadata;
  for (const ManifestPatch::Entry& entry : patch.entries()) {
    if (entry.field == "status") active = entry.value == Json::string("active");
    if (entry.field == "metadata") {
      moved = moved || !same_json(metadata, entry.value);
      metadata = entry.value;
    }
  }
  return active && moved;
}

}  // namespace

ThreadManager::ThreadManager(Store& store, ThreadManagerOptions options)
    : store_(store),
      options_(with_defaults(std::move(options))),
      hub_(std::make_shared<SubscriptionHub>(store)) {}

ThreadManager::~ThreadManager() { hub_->shut_down(); }

Result<Manifest> ThreadManager::create(const NewConversation& conversation) {
  NewThread thread;
  thread.agent_id = conversation.agent_id;
  thread.alias = conversation.alias;
  if (conversation.title) thread.fields.title(*conversation.title);
  if (conversation.task_id) thread.fields.task_id(*conversation.task_id);
  if (!conversation.metadata.empty()) thread.fields.metadata(conversation.metadata);
  if (conversation.system_message) {
    thread.events.push_back(
        to_event({.role = Role::kSystem, .text = *conversation.system_message}));
  }
  for (const NewMessage& message : conversation.initial_messages) {
    thread.events.push_back(to_event(message));
  }
  SKEIN_TRY(check_new_thread(thread));
  const ActiveLimits limits(store_, *options_.clock, options_.active_limits);
  if (!limits.apply_to(conversation.metadata)) return store_.create(thread);

  for (;;) {
    thread.id = ThreadId::from_bits(options_.ids->next());
    SKEIN_ASSIGN(const auto taken, store_.get(*thread.id));
    if (taken) continue;
    SKEIN_ASSIGN(const Reservation reservation, limits.reserve(*thread.id, conversation.metadata));
    return store_.create(thread);
  }
}

Result<std::optional<Manifest>> ThreadManager::get(std::string_view thread) {
  SKEIN_ASSIGN(const ThreadRef ref, ThreadRef::parse(thread));
  return store_.get(ref);
}

Result<std::vector<Manifest>> ThreadManager::list(ListQuery query) {
  query.limit = limits::kMaxPageSize;
  query.after.clear();
  std::vector<Manifest> all;
  do {
    SKEIN_ASSIGN(ThreadPage page, store_.list(query));
    std::move(page.threads.begin(), page.threads.end(), std::back_inserter(all));
    query.after = std::move(page.next);
  } while (!query.after.empty());
  return all;
}

Result<std::uint64_t> ThreadManager::count(ListQuery query) {
  query.limit = 1;
  query.after.clear();
  query.with_total = true;
  SKEIN_ASSIGN(const ThreadPage page, store_.list(query));
  return page.total.value_or(page.threads.size());
}

Result<ThreadPage> ThreadManager::page(const ListQuery& query) { return store_.list(query); }

Result<ThreadMessage> ThreadManager::add_message(std::string_view thread,
                                                 const NewMessage& message) {
  SKEIN_ASSIGN(const Manifest manifest, find(store_, thread));
  std::vector<Append> appends{{manifest.id, to_event(message), {}, {}}};
  SKEIN_ASSIGN(const Appended appended, std::move(append(manifest.id, std::move(appends)).front()));
  // What is there is what counts: its time, and with a key that was known the message of then.
  std::optional<ThreadMessage> stored;
  SKEIN_TRY(store_.read(manifest.id, {.from = appended.seq, .limit = 1}, [&](Event& event) {
    stored = to_thread_message(manifest.id, std::move(event));
    return false;
  }));
  if (stored) return std::move(*stored);
  return tl::unexpected(unknown_thread(manifest.id));
}

std::vector<Result<Appended>> ThreadManager::append(ThreadId thread, std::vector<Append> appends) {
  std::vector<Result<Appended>> answers(appends.size());
  std::vector<std::size_t> open(appends.size());  // those that have no answer yet
  for (std::size_t i = 0; i < appends.size(); ++i) open[i] = i;
  const auto answer_rest = [&](const Error& error) {
    for (const std::size_t i : open) answers[i] = tl::unexpected(error);
    return answers;
  };

  std::optional<Version> looked_at;
  for (int attempt = 0; attempt < kMostAttempts && !open.empty(); ++attempt) {
    const auto manifest = find(store_, thread.str());
    if (!manifest) return answer_rest(manifest.error());
    // A conflict that was not about the version is the caller's.
    if (looked_at == manifest->version) break;
    looked_at = manifest->version;
    const auto takes = check_takes_messages(*manifest);

    std::vector<Append> batch;
    for (const std::size_t i : open) {
      batch.push_back(appends[i]);
      batch.back().thread = thread;
      if (!batch.back().fence) batch.back().expect_version = takes ? *looked_at : kNoVersion;
    }
    auto results = store_.append(batch);
    std::vector<std::size_t> conflicting;
    for (std::size_t i = 0; i < open.size(); ++i) {
      answers[open[i]] = std::move(results[i]);
      const bool conflicts = !answers[open[i]] && !appends[open[i]].fence &&
                             answers[open[i]].error().code == ErrorCode::kConflict;
      if (conflicts) conflicting.push_back(open[i]);
    }
    open = std::move(conflicting);
    if (!takes) return answer_rest(takes.error());
  }
  return answers;
}

Result<std::vector<ThreadMessage>> ThreadManager::messages(std::string_view thread,
                                                           const MessageSelection& selection) {
  SKEIN_ASSIGN(const Manifest manifest, find(store_, thread));
  MessageQuery query;
  if (selection.order == MessageOrder::kNewestFirst) query.direction = Direction::kBackward;
  query.role = selection.role;
  query.offset = selection.offset;
  query.limit = selection.limit.value_or(query.limit);
  std::vector<ThreadMessage> found;
  SKEIN_TRY(read_messages(store_, manifest.id, query, [&](Event& event) {
    found.push_back(to_thread_message(manifest.id, std::move(event)));
    return true;
  }));
  return found;
}

Result<Manifest> ThreadManager::change(std::string_view thread, const MakePatch& make_patch,
                                       const UpdateOptions& options) {
  const ActiveLimits limits(store_, *options_.clock, options_.active_limits);
  for (int attempt = 0;; ++attempt) {
    SKEIN_ASSIGN(Manifest manifest, find(store_, thread));
    SKEIN_ASSIGN(const ManifestPatch patch, make_patch(manifest));
    if (patch.empty()) return manifest;
    std::optional<Reservation> reservation;
    Json metadata;
    if (becomes_active_elsewhere(manifest, patch, metadata) && limits.apply_to(metadata)) {
      SKEIN_ASSIGN(Reservation place, limits.reserve(manifest.id, metadata));
      reservation.emplace(std::move(place));
    }
    const Version expected = options.expect_version.value_or(manifest.version);
    auto updated =
        store_.update(manifest.id, patch, {.expect_version = expected, .fence = options.fence});
    const bool overtaken = !updated && updated.error().code == ErrorCode::kConflict;
    if (!overtaken || options.expect_version || attempt == kMostAttempts) return updated;
  }
}

Result<Manifest> ThreadManager::update(std::string_view thread, const ManifestPatch& patch,
                                       const UpdateOptions& options) {
  for (const ManifestPatch::Entry& entry : patch.entries()) {
    for (const std::string_view own : {"status", "closedAt", "archive", "pins"}) {
      if (entry.field != own) continue;
      return fail(ErrorCode::kInvalid, entry.field +
                                           " has its own operation and cannot be set here, got " +
                                           excerpt(entry.value.text()));
    }
    if (entry.field == "sessionId" && !entry.value.empty()) {
      return fail(ErrorCode::kInvalid,
                  "sessionId is set by the engine's runs alone and can only be cleared here, got " +
                      excerpt(entry.value.text()));
    }
  }
  return change(
      thread, [&patch](const Manifest&) -> Result<ManifestPatch> { return patch; }, options);
}

Result<Manifest> ThreadManager::clear_session(std::string_view thread) {
  return update(thread, ManifestPatch().clear("sessionId"));
}

Result<Manifest> ThreadManager::change_status(std::string_view thread,
                                              const MakePatch& make_patch) {
  SKEIN_ASSIGN(Manifest manifest, change(thread, make_patch, {}));
  SKEIN_TRY(announce_status(store_, manifest));
  return manifest;
}

Result<Manifest> ThreadManager::update_status(std::string_view thread, ThreadStatus status) {
  if (status == ThreadStatus::kClosed || status == ThreadStatus::kArchived) {
    return change_status(thread, [&](const Manifest& manifest) {
      return plan_status(manifest, status, options_.clock->now());
    });
  }
  return change(thread,
                [&](const Manifest& manifest) {
                  return plan_status(manifest, status, options_.clock->now());
                },
                {});
}

Result<Manifest> ThreadManager::close(std::string_view thread, const CloseOptions& options) {
  return change_status(thread, [&](const Manifest& manifest) {
    return plan_close(manifest, options, options_.clock->now());
  });
}

Result<Manifest> ThreadManager::archive(std::string_view thread, const ArchiveOptions& options) {
  return change_status(thread, [&](const Manifest& manifest) {
    return plan_archive(manifest, options, options_.clock->now());
  });
}

Result<Manifest> ThreadManager::restore(std::string_view thread) {
  SKEIN_ASSIGN(Manifest manifest,
               change_status(thread, [](const Manifest& found) { return plan_restore(found); }));
  SKEIN_TRY(forget_removal(store_, manifest.id));
  return manifest;
}

Result<Manifest> ThreadManager::pin(std::string_view thread, Seq seq) {
  return change(thread,
                [seq](const Manifest& manifest) -> Result<ManifestPatch> {
                  if (seq < 1 || seq > manifest.last_seq) {
                    return fail(ErrorCode::kInvalid, "pin must be an event of thread " +
                                                         manifest.id.str() + ", 1 to " +
                                                         std::to_string(manifest.last_seq) +
                                                         ", got " + std::to_string(seq));
                  }
                  std::vector<Seq> pins = manifest.pins;
                  pins.push_back(seq);
                  return pins_patch(std::move(pins));
                },
                {});
}

Result<Manifest> ThreadManager::unpin(std::string_view thread, Seq seq) {
  return change(thread,
                [seq](const Manifest& manifest) -> Result<ManifestPatch> {
                  std::vector<Seq> pins = manifest.pins;
                  std::erase(pins, seq);
                  return pins_patch(std::move(pins));
                },
                {});
}

Result<ContextWindow> ThreadManager::context(std::string_view thread,
                                             const ContextRequest& request) {
  SKEIN_ASSIGN(const Manifest manifest, find(store_, thread));
  return make_context(store_, manifest.id, request);
}

Result<std::optional<Summary>> ThreadManager::summarize(std::string_view thread,
                                                        const SummarizeRequest& request) {
  SKEIN_ASSIGN(const Manifest manifest, find(store_, thread));
  return summarize_thread(store_, manifest.id, request);
}

Result<Seq> ThreadManager::undo_summary(std::string_view thread, const UndoRequest& request) {
  SKEIN_ASSIGN(const Manifest manifest, find(store_, thread));
  return skein::undo_summary(store_, manifest.id, request);
}

Result<bool> ThreadManager::remove(std::string_view thread) {
  SKEIN_ASSIGN(const ThreadRef ref, ThreadRef::parse(thread));
  for (int attempt = 0;; ++attempt) {
    SKEIN_ASSIGN(const auto manifest, store_.get(ref));
    if (!manifest) return false;
    auto removed = remove_recorded(store_, *manifest, "asked for", options_.clock->now());
    const bool overtaken = !removed && removed.error().code == ErrorCode::kConflict;
    if (!overtaken || attempt == kMostAttempts) return removed;
  }
}

Result<Subscription> ThreadManager::subscribe(SubscribeOptions options,
                                              ThreadEventCallback callback) {
  return hub_->subscribe(std::move(options), std::move(callback));
}

Result<Subscription> ThreadManager::on(ThreadEventKind kind, ThreadEventCallback callback) {
  SubscribeOptions options;
  options.filter.kinds = {kind};
  return subscribe(std::move(options), std::move(callback));
}

}  // namespace skein
