#include "store/postgres/entering.h"

#include <algorithm>

#include "core/try.h"
#include "store/postgres/schema.h"

namespace skein::postgres {
namespace {

// Neither a lock that somebody else holds nor a client that stopped keeps others waiting for long.
// Plans that are made while tables are small must do when they are large; and they are made once:
// for an array of one PostgreSQL thinks a plan of its own worth while, each time, or worth
// compiling. $4: whether they are for the transaction only.
#define SKEIN_SETTINGS                                                            \
  " set_config('lock_timeout', $1::text, $4::bigint = 1),"                        \
  " set_config('idle_in_transaction_session_timeout', $2::text, $4::bigint = 1)," \
  " set_config('enable_seqscan', 'off', $4::bigint = 1),"                         \
  " set_config('jit', 'off', $4::bigint = 1),"                                    \
  " set_config('plan_cache_mode', 'force_generic_plan', $4::bigint = 1),"         \
  " set_config('synchronous_commit', CASE WHEN $3::bigint = 0 THEN 'off'"         \
  "  WHEN current_setting('synchronous_commit') = 'off' THEN 'on'"                \
  "  ELSE current_setting('synchronous_commit') END, $4::bigint = 1)"

// A pooler answers for itself when it is asked who serves us.
constexpr char kWhoServes[] = "SELECT pg_backend_pid()::bigint, pg_is_in_recovery()::int::bigint";
constexpr char kSettle[] = "SELECT" SKEIN_SETTINGS;

constexpr char kEnter[] = "SELECT" SKEIN_ANNOUNCE("$5") "," SKEIN_SETTINGS;
constexpr char kEnterSettled[] =
    "SELECT" SKEIN_ANNOUNCE("$1")
    ", CASE WHEN (current_setting('synchronous_commit') = 'off') <> ($2::bigint = 0)"
    "  THEN set_config('synchronous_commit', CASE $2::bigint WHEN 0 THEN 'off' ELSE 'on' END, true)"
    " END";

}  // namespace

Entering::Entering(const Settings& settings)
    : lock_ms_(std::to_string(std::min<long long>(5'000, settings.timeout.count() / 3))),
      idle_ms_(std::to_string(settings.timeout.count())),
      flush_(settings.flush),
      lock_class_(feed_lock_class(settings)) {}

Result<void> Entering::open(Connection& connection, Deadline deadline) {
  settled_ = false;
  SKEIN_ASSIGN(const Answer served, connection.ask(kWhoServes, {}, deadline));
  if (served.integer(0, 1) != 0)
    return tl::unexpected(connection.refuse_standby("Leases and writes need the primary"));
  if (served.integer(0, 0) != PQbackendPID(connection.handle())) return {};
  SKEIN_TRY(connection.ask(
      kSettle,
      Arguments::of(std::string_view(lock_ms_), std::string_view(idle_ms_), flush_ ? 1 : 0, 0),
      deadline));
  settled_ = true;
  return {};
}

void Entering::queue(Connection& connection) const {
  if (settled_) {
    connection.queue(kEnterSettled, Arguments::of(lock_class_, flush_ ? 1 : 0));
    return;
  }
  connection.queue(kEnter, Arguments::of(std::string_view(lock_ms_), std::string_view(idle_ms_),
                                         flush_ ? 1 : 0, 1, lock_class_));
}

}  // namespace skein::postgres
