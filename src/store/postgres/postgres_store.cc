#include "store/postgres/postgres_store.h"

#include <utility>

#include "core/try.h"
#include "store/commit_counter.h"
#include "store/postgres/appends.h"
#include "store/postgres/check.h"
#include "store/postgres/feed.h"
#include "store/postgres/leases.h"
#include "store/postgres/list.h"
#include "store/postgres/pool.h"
#include "store/postgres/reads.h"
#include "store/postgres/records.h"
#include "store/postgres/schema.h"
#include "store/postgres/server_check.h"
#include "store/postgres/settings.h"
#include "store/postgres/threads.h"
#include "store/postgres/writer.h"

namespace skein {
namespace {

using namespace postgres;

class PostgresStore final : public Store {
 public:
  PostgresStore(Settings settings, StoreOptions options)
      : options_(std::move(options)),
        settings_(std::move(settings)),
        watch_(settings_),
        writer_(settings_,
                [this](std::size_t jobs) {
                  commits_.add(jobs);
                  watch_.notify();
                }),
        pool_(settings_) {}

  Result<void> open();

  Result<Manifest> create(const NewThread& thread) override {
    return create_thread(writer_, options_, thread);
  }
  Result<std::optional<Manifest>> get(const ThreadRef& ref) override {
    return get_thread(pool_, ref);
  }
  Result<ThreadPage> list(const ListQuery& query) override {
    return list_threads(pool_, query, options_.notice);
  }
  Result<Manifest> update(ThreadId id, const ManifestPatch& patch,
                          const UpdateOptions& options) override {
    return update_thread(writer_, options_, id, patch, options);
  }
  Result<bool> remove(ThreadId id, const UpdateOptions& options) override {
    return remove_thread(writer_, id, options);
  }
  std::vector<Result<Appended>> append(std::span<const Append> appends) override {
    return append_events(writer_, options_, appends);
  }
  Result<void> together(const std::function<void(Writes&)>& work) override {
    work(*this);
    return {};
  }
  Result<void> read(ThreadId id, const ReadRange& range, const EventSink& sink) override {
    return read_events(pool_, id, range, sink);
  }
  Result<ChangeBatch> changes(std::string_view cursor, std::size_t limit,
                              std::chrono::milliseconds wait) override {
    return read_changes(pool_, watch_, settings_, cursor, limit, wait);
  }
  Result<Lease> lease(ThreadId id, std::string_view holder, std::chrono::milliseconds ttl,
                      std::optional<LeaseToken> token) override {
    return lease_thread(writer_, options_, id, holder, ttl, token);
  }
  Result<std::vector<Version>> write(std::span<const RecordWrite> writes) override {
    return write_records(writer_, writes);
  }
  Result<std::vector<Record>> scan(const ScanRange& range) override {
    return scan_records(pool_, range, options_.notice);
  }
  Result<CheckSummary> check(const CheckOptions& options,
                             const std::function<void(const Finding&)>& sink) override {
    return check_store(pool_, options, sink);
  }
  CommitSizes commit_sizes() const override { return commits_.sizes(); }

 private:
  // `again`: whether another attempt may do better.
  Result<void> try_to_open(bool& again, Deadline deadline);

  const StoreOptions options_;
  const Settings settings_;
  Watch watch_;
  CommitCounter commits_;
  Writer writer_;
  Pool pool_;
};

Result<void> PostgresStore::open() {
  const Deadline deadline = std::chrono::steady_clock::now() + settings_.timeout;
  bool again = false;
  for (Backoff backoff;;) {
    auto opened = try_to_open(again, deadline);
    if (opened || !again || !backoff.wait(deadline)) return opened;
  }
}

Result<void> PostgresStore::try_to_open(bool& again, Deadline deadline) {
  std::unique_ptr<Connection> connections[2];
  for (auto& connection : connections) {
    auto opened = Connection::open(settings_);
    if (!opened) {
      // A server that cannot be reached at the start is more likely a mistake than a restart,
      // unless it says so.
      again = again || Connection::is_restarting(settings_);
      return tl::unexpected(std::move(opened.error()));
    }
    connection = std::move(*opened);
  }
  auto& [first, second] = connections;
  auto ready = prepare_schema(*first, settings_, deadline);
  if (ready) ready = check_tables(*first, settings_, deadline);
  if (ready) ready = check_locks(*first, *second, settings_, deadline);
  if (!ready) {
    again = first->failure().passing() || second->failure().passing();
    return ready;
  }
  for (auto& connection : connections) pool_.add(std::move(connection));
  return {};
}

}  // namespace

Result<std::unique_ptr<Store>> open_postgres_store(const std::string& url, StoreOptions options) {
  if (options.clock == nullptr) options.clock = &system_clock();
  if (options.ids == nullptr) options.ids = &random_ids();
  SKEIN_ASSIGN(Settings settings, parse_settings(url));
  settings.flush = !options.unsafe_no_flush;
  auto store = std::make_unique<PostgresStore>(std::move(settings), std::move(options));
  SKEIN_TRY(store->open());
  return store;
}

}  // namespace skein
