// How transactions that write begin.
#pragma once

#include <string>

#include "store/postgres/connection.h"

namespace skein::postgres {

// From here on the feed goes no further than the last place that was taken, until the transaction
// is over: all that it takes are later ones.
#define SKEIN_ANNOUNCE(lock_class)            \
  " pg_advisory_xact_lock_shared(" lock_class \
  "::bigint::int, "                           \
  "(pg_sequence_last_value('skein.feed') & 2147483647)::int)"

// They have settings of their own, and announce themselves to readers of the feed. On a connection
// that is one session of the server for as long as it lives, the settings are made once; a pooler
// may give each transaction to another session, and nothing may be left behind there.
class Entering {
 public:
  explicit Entering(const Settings& settings);

  // Of a new connection, before its first transaction.
  Result<void> open(Connection& connection, Deadline deadline);
  // Queues what must come before everything else in a transaction.
  void queue(Connection& connection) const;

  // Whether settings are made already, so that a transaction of one statement may do without
  // queue(): it has to take the feed's lock by itself, and to see that commits are flushed.
  bool settled() const { return settled_; }
  bool flush() const { return flush_; }
  std::int64_t lock_class() const { return lock_class_; }

 private:
  const std::string lock_ms_;
  const std::string idle_ms_;
  const bool flush_;
  const std::int64_t lock_class_;
  bool settled_ = false;
};

}  // namespace skein::postgres
