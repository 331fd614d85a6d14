#include "store/jsonl/jsonl_store.h"

#include <sys/resource.h>

#include <algorithm>
#include <map>
#include <set>

#include "core/try.h"
#include "store/checks.h"
#include "store/codec.h"
#include "store/jsonl/store_impl.h"

namespace skein {
namespace jsonl {
namespace {

constexpr std::size_t kMostStates = 512;
// Taken for the version of a manifest that cannot be read; above those that there are.
constexpr Version kUnknownVersion = Version{1} << 48;

// Each state may keep two files open: its writer's and its readers'.
std::size_t state_capacity() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return kMostStates / 8;
  return std::clamp<std::size_t>(limit.rlim_cur / 4, 16, kMostStates);
}

}  // namespace

JsonlStore::JsonlStore(std::unique_ptr<Folder> folder)
    : folder_(std::move(folder)),
      catalog_(*folder_,
               [this](ThreadId id) -> Result<void> {
                 const std::shared_ptr<ThreadState> state = threads_.get(id);
                 SKEIN_ASSIGN(const ThreadLock lock, ThreadLock::acquire(*folder_, *state));
                 state->writer.file.reset();
                 const auto found = writer_.refresh(*state);
                 if (found || found.error().code == ErrorCode::kDamaged) return {};
                 return tl::unexpected(found.error());
               }),
      threads_(state_capacity()),
      writer_(*folder_, catalog_),
      records_(*folder_),
      feed_(*folder_) {}

Result<void> JsonlStore::start() {
  SKEIN_TRY(records_.start());
  SKEIN_ASSIGN(const bool fresh, feed_.open());
  return fresh ? reconcile_if_due(true) : Result<void>();
}

Result<std::optional<Manifest>> JsonlStore::get(const ThreadRef& ref) {
  std::optional<ThreadId> id = ref.id();
  if (!id) {
    SKEIN_ASSIGN(id, catalog_.find_alias(ref.alias()));
    if (!id) return std::nullopt;
  }
  SKEIN_ASSIGN(auto entry, catalog_.find(*id));
  if (!entry) return std::nullopt;
  if (!entry->problem.empty()) {
    return fail(ErrorCode::kDamaged, "thread " + id->str() + ": " + entry->problem);
  }
  return std::move(entry->manifest);
}

Result<ThreadPage> JsonlStore::list(const ListQuery& query) {
  SKEIN_ASSIGN(const ListPlan plan, plan_list(query));
  std::vector<Manifest> found;
  SKEIN_TRY(catalog_.each(query.agent_id, [&](const CatalogEntry& entry) {
    if (entry.problem.empty() && list_matches(query, plan, entry.manifest)) {
      found.push_back(entry.manifest);
    }
  }));
  ThreadPage page;
  if (query.with_total) page.total = found.size();
  if (plan.after) {
    std::erase_if(found, [&](const Manifest& manifest) {
      return !list_after(query.order, *plan.after, manifest);
    });
  }
  const std::size_t count = std::min(found.size(), query.limit);
  std::partial_sort(
      found.begin(), found.begin() + static_cast<std::ptrdiff_t>(count), found.end(),
      [&query](const Manifest& a, const Manifest& b) { return list_before(query.order, a, b); });
  const bool more = found.size() > count;
  found.resize(count);
  page.threads = std::move(found);
  if (more) page.next = list_cursor(query, page.threads.back());
  return page;
}

Result<Manifest> JsonlStore::update(ThreadId id, const ManifestPatch& patch,
                                    const UpdateOptions& options) {
  const std::shared_ptr<ThreadState> state = threads_.get(id);
  SKEIN_ASSIGN(const ThreadLock lock, ThreadLock::acquire(*folder_, *state));
  SKEIN_ASSIGN(const bool found, writer_.refresh_head(*state));
  if (!found) return tl::unexpected(unknown_thread(id));
  if (options.fence) {
    SKEIN_ASSIGN(const LeaseState lease, read_lease(id));
    SKEIN_TRY(check_fence(lease, id, options.fence));
  }
  Manifest manifest = state->writer.head.manifest;
  const std::string written_agent = manifest.agent_id;
  manifest.agent_id = state->writer.agent;
  manifest.last_seq = state->writer.tail.last_seq;
  manifest.updated_at = std::max(manifest.updated_at, state->writer.tail.last_time);
  SKEIN_ASSIGN(const bool changed, apply_update(manifest, patch, options));
  if (!changed) return manifest;
  manifest.updated_at = std::max(manifest.updated_at, folder_->clock().now());
  ++manifest.version;
  if (manifest.agent_id == state->writer.agent) {
    Manifest line = manifest;
    line.agent_id = written_agent;
    SKEIN_TRY(writer_.write_head(*state, line));
  } else {
    SKEIN_TRY(writer_.move(*state, manifest));
    const std::lock_guard guard(state->reader_mutex);
    state->reader = ReaderView{};
  }
  commits_.add(1);
  feed_.updated(id, manifest.version);
  return manifest;
}

Result<bool> JsonlStore::remove(ThreadId id, const UpdateOptions& options) {
  SKEIN_TRY(folder_->flusher().check());
  const std::shared_ptr<ThreadState> state = threads_.get(id);
  SKEIN_ASSIGN(const ThreadLock lock, ThreadLock::acquire(*folder_, *state));
  SKEIN_ASSIGN(auto agent, catalog_.locate(id));
  if (!agent) return false;
  if (options.fence) {
    SKEIN_ASSIGN(const LeaseState lease, read_lease(id));
    SKEIN_TRY(check_fence(lease, id, options.fence));
  }
  const auto readable = writer_.refresh_head(*state);
  if (options.expect_version) {
    SKEIN_TRY(readable);
    SKEIN_TRY(check_version("manifest of thread " + id.str(), options.expect_version,
                            state->writer.head.manifest.version));
  }
  // The tombstone first: a file without one would vanish without a trace in a feed made anew.
  SKEIN_TRY(records_.bury(
      id, readable && *readable ? state->writer.head.manifest.version : kUnknownVersion));
  state->writer = WriterView{};
  {
    const std::lock_guard guard(state->reader_mutex);
    state->reader = ReaderView{};
  }
  while (agent) {
    SKEIN_TRY(remove_file(folder_->thread_path(*agent, id)));
    catalog_.forget(id);
    SKEIN_TRY(folder_->flusher().folder(folder_->threads_folder(*agent)));
    SKEIN_ASSIGN(agent, catalog_.locate(id));
  }
  SKEIN_TRY(remove_file(folder_->own_path("leases", id)));
  SKEIN_TRY(remove_file(folder_->own_path("manifests", id)));
  commits_.add(1);
  feed_.removed(id);
  return true;
}

Result<std::vector<Version>> JsonlStore::write(std::span<const RecordWrite> writes) {
  SKEIN_TRY(check_writes(writes));
  std::set<ThreadId> fenced;
  for (const RecordWrite& write : writes) {
    if (write.fence) fenced.insert(write.fence->thread);
  }
  std::vector<std::shared_ptr<ThreadState>> states;
  std::vector<ThreadLock> locks;
  std::map<ThreadId, std::optional<LeaseState>> leases;  // nothing: there is no such thread
  for (const ThreadId id : fenced) {
    states.push_back(threads_.get(id));
    SKEIN_ASSIGN(ThreadLock lock, ThreadLock::acquire(*folder_, *states.back()));
    locks.push_back(std::move(lock));
    SKEIN_ASSIGN(const auto agent, catalog_.locate(id));
    if (!agent) {
      leases[id] = std::nullopt;
      continue;
    }
    SKEIN_ASSIGN(leases[id], read_lease(id));
  }
  const auto check_write_fence = [&leases](const RecordWrite& write) -> Result<void> {
    if (!write.fence) return {};
    const auto& lease = leases.at(write.fence->thread);
    if (!lease) return tl::unexpected(unknown_thread(write.fence->thread));
    return check_fence(*lease, write.fence->thread, write.fence->token);
  };
  return records_.write(writes, check_write_fence,
                        [this](const std::vector<RecordChange>& changes) {
                          commits_.add(1);
                          feed_.records(changes);
                        });
}

Result<std::vector<Record>> JsonlStore::scan(const ScanRange& range) {
  SKEIN_TRY(check_scan(range));
  return records_.scan(range);
}

}  // namespace jsonl

Result<std::unique_ptr<Store>> open_jsonl_store(const std::string& dir, StoreOptions options) {
  if (options.clock == nullptr) options.clock = &system_clock();
  if (options.ids == nullptr) options.ids = &random_ids();
  SKEIN_ASSIGN(auto folder, jsonl::Folder::open(dir, std::move(options)));
  auto store = std::make_unique<jsonl::JsonlStore>(std::move(folder));
  SKEIN_TRY(store->start());
  return store;
}

}  // namespace skein
