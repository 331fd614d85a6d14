#include "store/postgres/threads.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "core/try.h"
#include "store/checks.h"
#include "store/codec.h"
#include "store/lease.h"
#include "store/run_job.h"

namespace skein::postgres {
namespace {

constexpr char kInsertThread[] =
    "INSERT INTO skein.threads(id, agent, created, status, made, version, last_seq, updated, "
    "listed)"
    " VALUES($1, $2, $3, $4, $5, $5, 0, $6, $7)";
constexpr char kUpdateThread[] =
    "UPDATE skein.threads SET updated = $2, listed = $2, status = $3, version = $4 WHERE id = $1";
constexpr char kMoveToAgent[] = "UPDATE skein.threads SET agent = $2 WHERE id = $1";
constexpr char kInsertManifest[] = "INSERT INTO skein.manifests(id, crc, body) VALUES($1, $2, $3)";
constexpr char kUpdateManifest[] = "UPDATE skein.manifests SET crc = $2, body = $3 WHERE id = $1";
constexpr char kInsertAlias[] = "INSERT INTO skein.aliases(alias, id) VALUES($1, $2)";
constexpr char kDeleteAlias[] = "DELETE FROM skein.aliases WHERE alias = $1 AND id = $2";
constexpr char kDeleteAliasesOf[] = "DELETE FROM skein.aliases WHERE id = $1";
constexpr char kInsertMeta[] =
    "INSERT INTO skein.thread_meta(id, hash, key, value)"
    " SELECT $1, * FROM unnest($2::bigint[], $3::bytea[], $4::bytea[])";
constexpr char kDeleteMeta[] = "DELETE FROM skein.thread_meta WHERE id = $1";
constexpr char kCopyEvents[] =
    "INSERT INTO skein.events(id, seq, g, ts, tokens, key, crc, body)"
    " SELECT $1, e.seq, w.g, e.ts, e.tokens, e.key, e.crc, e.body FROM skein.events e"
    " JOIN unnest($3::bigint[]) WITH ORDINALITY AS w(g, seq) ON w.seq = e.seq"
    " WHERE e.id = $2";
constexpr char kCopyBranches[] =
    "INSERT INTO skein.branches(id, seq, base)"
    " SELECT $1, seq, base FROM skein.branches WHERE id = $2 AND seq <= $3";
constexpr char kMoveHead[] =
    "UPDATE skein.threads SET last_seq = $2, updated = $3, listed = $4 WHERE id = $1";

constexpr const char* kDeleteById[] = {
    "DELETE FROM skein.events WHERE id = $1",
    "DELETE FROM skein.branches WHERE id = $1",
    "DELETE FROM skein.manifests WHERE id = $1",
    "DELETE FROM skein.threads WHERE id = $1",
};

void insert_meta(WriteBatch& batch, const Manifest& manifest) {
  Column hash(Column::Type::kBigint), key(Column::Type::kBytes), value(Column::Type::kBytes);
  for (const auto& [name, scalar] : scalar_members(manifest.metadata)) {
    hash.add(meta_hash(name, scalar));
    key.add(name);
    value.add(scalar);
  }
  if (key.size() > 0) batch.queue(kInsertMeta, Arguments::of(manifest.id.bits(), hash, key, value));
}

void store_manifest(WriteBatch& batch, const char* sql, const Manifest& manifest) {
  const std::string body = encode_manifest(manifest);
  batch.queue(sql,
              Arguments::of(manifest.id.bits(), manifest_crc(manifest.id, manifest.version, body),
                            std::string_view(body)));
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
    if (request.from)
      subject = request.from->thread.bits();
    else if (request.id)
      subject = request.id->bits();
    if (request.alias) {
      if (auto alias = check_alias(*request.alias)) alias_ = std::move(*alias);
    }
  }

  void want(Wanted& wanted) override {
    if (!id_) id_ = request_.id ? *request_.id : ThreadId::from_bits(options_.ids->next());
    wanted.threads.insert(*id_);
    if (alias_) wanted.aliases.insert(*alias_);
    wanted.positions += 1 + events_.size();
    if (!request_.from) return;
    wanted.threads.insert(request_.from->thread);
    wanted.manifests.insert(request_.from->thread);
    wanted.positions += std::min<Seq>(request_.from->seq, known_last_seq_);
    wanted.prefixes.emplace(request_.from->thread, request_.from->seq);
    for (const PreparedEvent& event : events_) {
      if (!event.key.empty()) wanted.keys.emplace(request_.from->thread, event.key);
    }
  }

  bool apply(WriteBatch& batch) override {
    if (committed(batch.loaded) == Committed::kYes) return true;
    made_.reset();
    if (!request_.id && batch.loaded.head(*id_) != nullptr) {
      id_.reset();
      return false;
    }
    if (request_.from) {
      // Of a parent that was not looked at yet one does not know how many places its copy takes.
      const Head* parent = batch.loaded.head(request_.from->thread);
      const Seq last_seq = parent == nullptr ? 0 : parent->last_seq;
      if (std::exchange(known_last_seq_, last_seq) < std::min(request_.from->seq, last_seq))
        return false;
    }
    answer = create(batch);
    return true;
  }

  Committed committed(Loaded& loaded) const override {
    if (!made_ || !id_) return Committed::kUnknown;
    const Head* head = loaded.head(*id_);
    return head != nullptr && head->made == *made_ ? Committed::kYes : Committed::kNo;
  }

  Result<Manifest> answer;

 private:
  Result<Manifest> create(WriteBatch& batch);
  Result<void> check_against_parent(Loaded& loaded);
  void copy_parent(WriteBatch& batch, Head& head);

  const StoreOptions& options_;
  const NewThread& request_;
  std::vector<PreparedEvent> events_;
  std::optional<std::string> alias_;
  std::optional<ThreadId> id_;
  Seq known_last_seq_ = 4096;  // of the parent: a guess at first
  std::optional<std::int64_t> made_;
};

Result<void> CreateJob::check_against_parent(Loaded& loaded) {
  const Seq copied = request_.from ? request_.from->seq : 0;
  if (request_.from) {
    const auto parent = loaded.manifests.find(request_.from->thread);
    if (parent == loaded.manifests.end())
      return tl::unexpected(unknown_thread(request_.from->thread));
    SKEIN_ASSIGN(Manifest now, parent->second);
    now.last_seq = loaded.head(now.id)->last_seq;
    SKEIN_TRY(check_fork(request_, now));
  }
  return check_initial_events(request_, *id_, copied, [&](const std::string& key) {
    if (!request_.from) return false;
    const auto known = loaded.keys.find({request_.from->thread, key});
    return known != loaded.keys.end() && known->second.seq <= copied;
  });
}

Result<Manifest> CreateJob::create(WriteBatch& batch) {
  Loaded& loaded = batch.loaded;
  if (loaded.head(*id_) != nullptr)
    return fail(ErrorCode::kConflict, "thread " + id_->str() + " exists already");
  SKEIN_ASSIGN(Manifest manifest, make_manifest(request_, *id_, options_.clock->now()));
  if (manifest.alias && loaded.aliases.contains(*manifest.alias))
    return tl::unexpected(alias_taken(*manifest.alias));
  SKEIN_TRY(check_against_parent(loaded));

  Head head;
  head.id = manifest.id;
  head.agent = manifest.agent_id;
  head.created = manifest.created_at.us;
  head.status = static_cast<int>(manifest.status);
  head.updated = manifest.updated_at.us;
  // Listed once where it will end up, rather than moved with every event.
  head.listed = head.updated;
  for (const PreparedEvent& event : events_)
    head.listed = std::max(head.listed, event.timestamp_us);
  head.made = batch.add_change({.kind = ChangeKind::kCreated, .thread = manifest.id});
  made_ = head.made;
  head.version = static_cast<Version>(head.made);
  manifest.version = head.version;
  batch.queue(kInsertThread,
              Arguments::of(head.id.bits(), std::string_view(head.agent), head.created, head.status,
                            head.made, head.updated, head.listed));
  store_manifest(batch, kInsertManifest, manifest);
  insert_meta(batch, manifest);
  if (manifest.alias) {
    batch.queue(kInsertAlias, Arguments::of(std::string_view(*manifest.alias), head.id.bits()));
    loaded.aliases[*manifest.alias] = head.id;
  }
  Head& kept = loaded.heads[head.id] = head;
  if (request_.from) copy_parent(batch, kept);
  for (const PreparedEvent& event : events_) batch.add_event(kept, event);
  for (std::size_t i = 0; i < request_.events.size(); ++i) {
    const Event& event = request_.events[i];
    const Seq seq = kept.last_seq - request_.events.size() + i + 1;
    if (!event.key.empty())
      loaded.keys.insert_or_assign({kept.id, event.key}, KnownEvent{seq, &event, nullptr});
  }
  manifest.last_seq = kept.last_seq;
  manifest.updated_at = Timestamp{kept.updated};
  loaded.manifests.insert_or_assign(kept.id, manifest);
  return manifest;
}

void CreateJob::copy_parent(WriteBatch& batch, Head& head) {
  const Parent& from = *request_.from;
  if (from.seq == 0) return;
  Column places(Column::Type::kBigint);
  for (Seq seq = 1; seq <= from.seq; ++seq) places.add(batch.loaded.next_g());
  batch.queue(kCopyEvents, Arguments::of(head.id.bits(), from.thread.bits(), places));
  batch.queue(kCopyBranches, Arguments::of(head.id.bits(), from.thread.bits(), from.seq));
  head.last_seq = from.seq;
  const auto latest = batch.loaded.prefixes.find({from.thread, from.seq});
  if (latest != batch.loaded.prefixes.end()) head.updated = std::max(head.updated, latest->second);
  head.listed = std::max(head.listed, head.updated);
  batch.queue(kMoveHead, Arguments::of(head.id.bits(), head.last_seq, head.updated, head.listed));
}

class UpdateJob : public Job {
 public:
  UpdateJob(const StoreOptions& options, ThreadId id, const ManifestPatch& patch,
            const UpdateOptions& update)
      : options_(options), id_(id), patch_(patch), update_(update) {
    subject = id.bits();
  }

  void want(Wanted& wanted) override {
    wanted.threads.insert(id_);
    wanted.manifests.insert(id_);
    ++wanted.positions;
  }

  bool apply(WriteBatch& batch) override {
    if (committed(batch.loaded) == Committed::kYes) return true;
    after_ = 0;
    answer = update(batch);
    return true;
  }

  Committed committed(Loaded& loaded) const override {
    const Head* head = loaded.head(id_);
    if (after_ == 0 || head == nullptr) return Committed::kUnknown;
    if (head->version == after_) return Committed::kYes;
    return head->version == before_ ? Committed::kNo : Committed::kUnknown;
  }

  Result<Manifest> answer;

 private:
  Result<Manifest> update(WriteBatch& batch) {
    Head* head = batch.loaded.head(id_);
    if (head == nullptr) return tl::unexpected(unknown_thread(id_));
    SKEIN_TRY(check_fence(head->lease, id_, update_.fence));
    Result<Manifest>& stored = batch.loaded.manifests.at(id_);
    SKEIN_TRY(stored);
    Manifest manifest = *stored;
    // Appends before it in this transaction moved only the head.
    manifest.last_seq = head->last_seq;
    manifest.updated_at = std::max(manifest.updated_at, Timestamp{head->updated});
    SKEIN_ASSIGN(const bool changed, apply_update(manifest, patch_, update_));
    if (!changed) return manifest;
    manifest.updated_at = std::max(manifest.updated_at, options_.clock->now());
    before_ = head->version;
    replace(batch, *head, *stored, manifest);
    after_ = manifest.version;
    stored = manifest;
    return manifest;
  }

  void replace(WriteBatch& batch, Head& head, const Manifest& old, Manifest& manifest) {
    if (static_cast<std::int64_t>(head.version) != head.made)
      batch.overtake(static_cast<std::int64_t>(head.version));
    manifest.version = static_cast<Version>(
        batch.add_change({.kind = ChangeKind::kUpdated, .thread = manifest.id}));
    head.version = manifest.version;
    if (head.agent != manifest.agent_id) {
      head.agent = manifest.agent_id;
      batch.queue(kMoveToAgent, Arguments::of(id_.bits(), std::string_view(head.agent)));
    }
    head.status = static_cast<int>(manifest.status);
    head.updated = manifest.updated_at.us;
    head.listed = head.updated;
    batch.queue(kUpdateThread, Arguments::of(id_.bits(), head.updated, head.status, head.version));
    store_manifest(batch, kUpdateManifest, manifest);
    if (manifest.metadata == old.metadata) return;
    batch.queue(kDeleteMeta, Arguments::of(id_.bits()));
    insert_meta(batch, manifest);
  }

  const StoreOptions& options_;
  const ThreadId id_;
  const ManifestPatch& patch_;
  const UpdateOptions& update_;
  Version before_ = 0;
  Version after_ = 0;
};

class RemoveJob : public Job {
 public:
  RemoveJob(ThreadId id, const UpdateOptions& options) : id_(id), options_(options) {
    subject = id.bits();
  }

  void want(Wanted& wanted) override {
    wanted.threads.insert(id_);
    wanted.manifests.insert(id_);
    ++wanted.positions;
  }

  bool apply(WriteBatch& batch) override {
    removed_.reset();
    answer = remove(batch);
    return true;
  }

  Committed committed(Loaded& loaded) const override {
    if (!removed_) return Committed::kUnknown;
    const Head* head = loaded.head(id_);
    return head != nullptr && head->made == *removed_ ? Committed::kNo : Committed::kYes;
  }

  Result<bool> answer = false;

 private:
  Result<bool> remove(WriteBatch& batch) {
    Head* head = batch.loaded.head(id_);
    if (head == nullptr) return false;
    SKEIN_TRY(check_fence(head->lease, id_, options_.fence));
    SKEIN_TRY(
        check_version("manifest of thread " + id_.str(), options_.expect_version, head->version));
    batch.overtake(head->made);
    batch.overtake(static_cast<std::int64_t>(head->version));
    const auto manifest = batch.loaded.manifests.find(id_);
    if (manifest == batch.loaded.manifests.end() || !manifest->second) {
      batch.queue(kDeleteAliasesOf, Arguments::of(id_.bits()));  // slow, but sure
    } else if (manifest->second->alias) {
      const std::string& alias = *manifest->second->alias;
      batch.queue(kDeleteAlias, Arguments::of(std::string_view(alias), id_.bits()));
      batch.loaded.aliases.erase(alias);
    }
    batch.queue(kDeleteMeta, Arguments::of(id_.bits()));
    for (const char* sql : kDeleteById) batch.queue(sql, Arguments::of(id_.bits()));
    batch.add_change({.kind = ChangeKind::kRemoved, .thread = id_});
    removed_ = head->made;
    batch.loaded.heads.erase(id_);
    batch.loaded.manifests.erase(id_);
    std::erase_if(batch.loaded.keys, [&](const auto& known) { return known.first.first == id_; });
    return true;
  }

  const ThreadId id_;
  const UpdateOptions& options_;
  std::optional<std::int64_t> removed_;
};

}  // namespace

Result<Manifest> create_thread(Writer& writer, const StoreOptions& options,
                               const NewThread& request) {
  SKEIN_TRY(check_new_thread(request));
  return run_job<CreateJob>(writer, options, request);
}

Result<Manifest> update_thread(Writer& writer, const StoreOptions& options, ThreadId id,
                               const ManifestPatch& patch, const UpdateOptions& update) {
  return run_job<UpdateJob>(writer, options, id, patch, update);
}

Result<bool> remove_thread(Writer& writer, ThreadId id, const UpdateOptions& options) {
  return run_job<RemoveJob>(writer, id, options);
}

}  // namespace skein::postgres
