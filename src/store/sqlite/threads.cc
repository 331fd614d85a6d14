#include "store/sqlite/threads.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "core/try.h"
#include "store/checks.h"
#include "store/codec.h"
#include "store/run_job.h"
#include "store/sqlite/appends.h"
#include "store/sqlite/leases.h"
#include "store/sqlite/manifests.h"
#include "store/sqlite/reads.h"
#include "store/sqlite/rows.h"

namespace skein::sqlite {
namespace {

constexpr char kKnown[] = "SELECT 1 FROM threads WHERE id = ?";

Result<bool> is_known(Database& database, ThreadId id) {
  SKEIN_ASSIGN(Query query, database.query(kKnown));
  return query.bind(id.bits()).step();
}

// A storage error is returned; a refusal becomes the answer.
template <class T>
Result<void> settle(Result<Result<T>> outcome, Result<T>& answer) {
  SKEIN_ASSIGN(answer, std::move(outcome));
  return {};
}

class CreateJob : public Job {
 public:
  CreateJob(const StoreOptions& options, const NewThread& request)
      : options_(options), request_(request) {
    const Timestamp now = options.clock->now();
    for (const Event& event : request.events) {
      events_.push_back(prepare_event(event, now));
      bytes += events_.back().body.size();
    }
    items = 1 + events_.size();
  }

  Result<void> apply(WriteContext& context) override { return settle(create(context), answer); }

  Result<Manifest> answer;

 private:
  Result<Result<Manifest>> create(WriteContext& context);
  Result<Result<ThreadId>> pick_id(Database& database);
  // Everything about the parent and the events that may be refused.
  Result<std::optional<Error>> refusal(Database& database, ThreadId id);
  Result<void> copy_parent(WriteContext& context, ThreadId id, Head& head);

  const StoreOptions& options_;
  const NewThread& request_;
  std::vector<PreparedEvent> events_;
};

Result<Result<ThreadId>> CreateJob::pick_id(Database& database) {
  if (request_.id) {
    SKEIN_ASSIGN(const bool taken, is_known(database, *request_.id));
    if (!taken) return *request_.id;
    return Result<ThreadId>(
        fail(ErrorCode::kConflict, "thread " + request_.id->str() + " exists already"));
  }
  for (;;) {
    const ThreadId id = ThreadId::from_bits(options_.ids->next());
    SKEIN_ASSIGN(const bool taken, is_known(database, id));
    if (!taken) return id;
  }
}

Result<std::optional<Error>> CreateJob::refusal(Database& database, ThreadId id) {
  if (request_.from) {
    const ThreadId from = request_.from->thread;
    auto parent = load_thread(database, from);
    if (!parent && parent.error().code == ErrorCode::kDamaged) return std::move(parent.error());
    if (!parent) return tl::unexpected(std::move(parent.error()));
    if (!*parent) return unknown_thread(from);
    if (auto fit = check_fork(request_, (*parent)->manifest); !fit) return std::move(fit.error());
  }
  std::optional<Error> storage;
  const Seq copied = request_.from ? request_.from->seq : 0;
  auto fit = check_initial_events(request_, id, copied, [&](const std::string& key) {
    if (!request_.from || storage) return false;
    auto known = find_key(database, request_.from->thread, key, copied);
    if (!known) storage = std::move(known.error());
    return known && known->has_value();
  });
  if (storage) return tl::unexpected(std::move(*storage));
  if (!fit) return std::move(fit.error());
  return std::nullopt;
}

Result<Result<Manifest>> CreateJob::create(WriteContext& context) {
  Database& database = context.database;
  SKEIN_ASSIGN(const auto picked, pick_id(database));
  if (!picked) return Result<Manifest>(tl::unexpected(picked.error()));
  const ThreadId id = *picked;
  auto made = make_manifest(request_, id, options_.clock->now());
  if (!made) return made;
  Manifest manifest = std::move(*made);
  if (manifest.alias) {
    SKEIN_ASSIGN(const auto taken, find_alias(database, *manifest.alias));
    if (taken) return Result<Manifest>(tl::unexpected(alias_taken(*manifest.alias)));
  }
  SKEIN_ASSIGN(auto refused, refusal(database, id));
  if (refused) return Result<Manifest>(tl::unexpected(std::move(*refused)));

  // Listed once where it will end up, rather than moved with every event.
  std::int64_t listed = manifest.updated_at.us;
  for (const PreparedEvent& event : events_) listed = std::max(listed, event.timestamp_us);
  SKEIN_ASSIGN(Head head, insert_thread(context, manifest, listed));
  if (request_.from) SKEIN_TRY(copy_parent(context, id, head));
  for (const PreparedEvent& event : events_) SKEIN_TRY(insert_event(context, id, head, event));
  context.heads.put(id, head);
  manifest.last_seq = head.last_seq;
  manifest.updated_at = Timestamp{head.updated};
  context.note(manifest);
  return manifest;
}

Result<void> CreateJob::copy_parent(WriteContext& context, ThreadId id, Head& head) {
  EventChunk chunk;
  EventReader reader;
  Event event;
  for (Seq next = 1; next <= request_.from->seq;) {
    const SeqSpan span{next, request_.from->seq};
    SKEIN_TRY(chunk.load(context.database, request_.from->thread, span, Direction::kForward,
                         request_.from->seq));
    for (const EventRow& row : chunk.rows()) {
      decode_event(row, reader, event);
      PreparedEvent copy;
      copy.body = row.body;
      copy.key = row.key;
      copy.tokens = row.tokens;
      copy.content_crc = content_crc(copy.key, copy.body);
      if (std::holds_alternative<Unreadable>(event.payload) && !verifies(row)) {
        copy.content_crc = ~copy.content_crc;  // damaged it was, and damaged it stays
      } else {
        copy.base = event.base;
        copy.timestamp_us = event.timestamp.is_set() ? event.timestamp.us : Timestamp::kUnset;
        if (!row.key.empty()) copy.key_hash = key_hash(row.key);
      }
      SKEIN_TRY(insert_event(context, id, head, copy));
    }
    next += chunk.rows().size();
  }
  return {};
}

class UpdateJob : public Job {
 public:
  UpdateJob(const StoreOptions& options, ThreadId id, const ManifestPatch& patch,
            const UpdateOptions& update)
      : options_(options), id_(id), patch_(patch), update_(update) {}

  Result<void> apply(WriteContext& context) override { return settle(update(context), answer); }

  Result<Manifest> answer;

 private:
  Result<Result<Manifest>> update(WriteContext& context) {
    const auto refuse = [](Error error) -> Result<Manifest> {
      return tl::unexpected(std::move(error));
    };
    SKEIN_ASSIGN(Head * known, context.heads.find(context.database, id_));
    if (known == nullptr) return refuse(unknown_thread(id_));
    SKEIN_ASSIGN(auto fenced, refuse_fence(context, id_, *known, update_.fence));
    if (fenced) return refuse(std::move(*fenced));
    SKEIN_ASSIGN(const auto stored, load_thread(context.database, id_));
    if (!stored) return refuse(unknown_thread(id_));
    Manifest manifest = stored->manifest;
    auto changed = apply_update(manifest, patch_, update_);
    if (!changed) return refuse(std::move(changed.error()));
    if (!*changed) return manifest;
    manifest.updated_at = std::max(manifest.updated_at, options_.clock->now());
    SKEIN_TRY(replace_manifest(context, *stored, manifest));
    context.heads.erase(id_);
    context.note(manifest);
    return manifest;
  }

  const StoreOptions& options_;
  const ThreadId id_;
  const ManifestPatch& patch_;
  const UpdateOptions& update_;
};

class RemoveJob : public Job {
 public:
  RemoveJob(ThreadId id, const UpdateOptions& options) : id_(id), options_(options) {}

  Result<void> apply(WriteContext& context) override { return settle(remove(context), answer); }

  Result<bool> answer = false;

 private:
  Result<Result<bool>> remove(WriteContext& context) {
    if (options_.fence || options_.expect_version) {
      SKEIN_ASSIGN(Head * head, context.heads.find(context.database, id_));
      if (head == nullptr) return Result<bool>(false);
      SKEIN_ASSIGN(auto fenced, refuse_fence(context, id_, *head, options_.fence));
      if (fenced) return Result<bool>(tl::unexpected(std::move(*fenced)));
      if (auto checked = check_version("manifest of thread " + id_.str(), options_.expect_version,
                                       head->version);
          !checked)
        return Result<bool>(tl::unexpected(std::move(checked.error())));
    }
    context.heads.erase(id_);
    SKEIN_ASSIGN(const bool removed, delete_thread(context, id_));
    if (removed) context.note_removal(id_);
    return Result<bool>(removed);
  }

  const ThreadId id_;
  const UpdateOptions& options_;
};

}  // namespace

Result<Manifest> create_thread(JobRunner& writer, const StoreOptions& options,
                               const NewThread& request) {
  SKEIN_TRY(check_new_thread(request));
  return run_job<CreateJob>(writer, options, request);
}

Result<Manifest> update_thread(JobRunner& writer, const StoreOptions& options, ThreadId id,
                               const ManifestPatch& patch, const UpdateOptions& update) {
  return run_job<UpdateJob>(writer, options, id, patch, update);
}

Result<bool> remove_thread(JobRunner& writer, ThreadId id, const UpdateOptions& options) {
  return run_job<RemoveJob>(writer, id, options);
}

}  // namespace skein::sqlite
