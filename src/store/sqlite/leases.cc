#include "store/sqlite/leases.h"

#include <utility>

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

Result<ChangedLease> load_lease(Database& database, ThreadId id) {
  SKEIN_ASSIGN(Query query, database.query(kLoad));
  SKEIN_ASSIGN(const bool held, query.bind(id.bits()).step());
  if (!held) return ChangedLease{};
  return ChangedLease{{.token = static_cast<LeaseToken>(query.integer(0)),
                       .holder = std::string(query.bytes(1)),
                       .expires_boot_ms = query.integer(2),
                       .boot_id = std::string(query.bytes(3))},
                      true};
}

// As the transaction has it. For the holder of `token` it need not say more than that it is theirs.
Result<ChangedLease> find_lease(WriteContext& context, ThreadId id, const Head& head,
                                std::optional<LeaseToken> token) {
  if (const auto changed = context.leases.find(id); changed != context.leases.end()) {
    return changed->second;
  }
  if (head.lease == LeaseToken{0}) return ChangedLease{};
  if (token && head.lease == token) return ChangedLease{LeaseState{*token, {}, 0, {}}, true};
  return load_lease(context.database, id);
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
    SKEIN_ASSIGN(ChangedLease lease, find_lease(context, id, *head, token));
    answer = change_lease(lease.state, id, holder, ttl, token, *options.clock, *options.ids);
    if (!answer) return {};
    head->lease = lease.state.token;
    context.leases.insert_or_assign(id, std::move(lease));
    return {};
  }
};

}  // namespace

Result<void> store_leases(WriteContext& context) {
  for (const auto& [id, lease] : context.leases) {
    const LeaseState& state = lease.state;
    if (state.token != 0) {
      SKEIN_ASSIGN(Query query, context.database.query(kStore));
      SKEIN_TRY(
          query.bind(id.bits(), state.token, state.holder, state.expires_boot_ms, state.boot_id)
              .run());
    } else if (lease.has_row) {
      SKEIN_ASSIGN(Query query, context.database.query(kDelete));
      SKEIN_TRY(query.bind(id.bits()).run());
    }
  }
  return {};
}

Result<std::optional<Error>> refuse_fence(WriteContext& context, ThreadId id, Head& head,
                                          std::optional<LeaseToken> token) {
  if (!token || (*token != 0 && head.lease == token)) return std::nullopt;
  SKEIN_ASSIGN(const ChangedLease lease, find_lease(context, id, head, token));
  head.lease = lease.state.token;
  const auto checked = check_fence(lease.state, id, token);
  return checked ? std::nullopt : std::optional(checked.error());
}

Result<Lease> lease_thread(JobRunner& writer, const StoreOptions& options, ThreadId id,
                           std::string_view holder, std::chrono::milliseconds ttl,
                           std::optional<LeaseToken> token) {
  SKEIN_TRY(check_lease(holder, ttl, token));
  return run_job<LeaseJob>(writer, options, id, holder, ttl, token);
}

}  // namespace skein::sqlite
