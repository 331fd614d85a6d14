#include "store/sqlite/leases.h"

#include "core/try.h"
#include "store/checks.h"
#include "store/run_job.h"

namespace skein::sqlite {
namespace {

constexpr char kLoad[] = "SELECT token, holder, expires_boot_ms, boot FROM leases WHERE id = ?";
constexpr char kStore[] =
    "INSERT OR REPLACE INTO leases(id, token, holder, expires_boot_ms, boot)"
    " VALUES(?, ?, ?, ?, ?)";
constexpr char kDelete[] = "DELETE FROM leases WHERE id = ?";

Result<void> store_lease(Database& database, ThreadId id, const LeaseState& state) {
  if (state.token == 0) {
    SKEIN_ASSIGN(Query query, database.query(kDelete));
    return query.bind(id.bits()).run();
  }
  SKEIN_ASSIGN(Query query, database.query(kStore));
  return query.bind(id.bits(), state.token, state.holder, state.expires_boot_ms, state.boot_id)
      .run();
}

struct LeaseJob : Job {
  const StoreOptions& options;
  ThreadId id;
  std::string_view holder;
  std::chrono::milliseconds ttl;
  std::optional<LeaseToken> token;
  Result<Lease> answer;

  LeaseJob(const StoreOptions& options_given, ThreadId thread, std::string_view name,
           std::chrono::milliseconds time, std::optional<LeaseToken> known)
      : options(options_given), id(thread), holder(name), ttl(time), token(known) {}

  Result<void> apply(WriteContext& context) override {
    SKEIN_ASSIGN(Head * head, context.heads.find(context.database, id));
    if (head == nullptr) {
      answer = tl::unexpected(unknown_thread(id));
      return {};
    }
    SKEIN_ASSIGN(LeaseState state, load_lease(context.database, id));
    answer = change_lease(state, id, holder, ttl, token, *options.clock, *options.ids);
    if (!answer) return {};
    head->lease = state.token;
    return store_lease(context.database, id, state);
  }
};

}  // namespace

Result<LeaseState> load_lease(Database& database, ThreadId id) {
  SKEIN_ASSIGN(Query query, database.query(kLoad));
  SKEIN_ASSIGN(const bool held, query.bind(id.bits()).step());
  LeaseState state;
  if (!held) return state;
  state.token = static_cast<LeaseToken>(query.integer(0));
  state.holder = query.bytes(1);
  state.expires_boot_ms = query.integer(2);
  state.boot_id = query.bytes(3);
  return state;
}

Result<std::optional<Error>> refuse_fence(Database& database, ThreadId id, Head& head,
                                          std::optional<LeaseToken> token) {
  if (!token) return std::nullopt;
  LeaseState state;
  if (head.lease == token) {
    state.token = *token;
  } else {
    SKEIN_ASSIGN(state, load_lease(database, id));
    head.lease = state.token;
  }
  const auto checked = check_fence(state, id, token);
  return checked ? std::nullopt : std::optional(checked.error());
}

Result<Lease> lease_thread(JobRunner& writer, const StoreOptions& options, ThreadId id,
                           std::string_view holder, std::chrono::milliseconds ttl,
                           std::optional<LeaseToken> token) {
  SKEIN_TRY(check_lease(holder, ttl, token));
  return run_job<LeaseJob>(writer, options, id, holder, ttl, token);
}

}  // namespace skein::sqlite
