// A connection to PostgreSQL: statements are queued and exchanged for their answers in one round
// trip, within a deadline.
#pragma once

#include <libpq-fe.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "skein/error.h"
#include "skein/ids.h"
#include "store/postgres/settings.h"
#include "store/postgres/values.h"

namespace skein::postgres {

using Deadline = std::chrono::steady_clock::time_point;

// The rows that a statement answered.
class Answer {
 public:
  explicit Answer(PGresult* result) : result_(result) {}

  int rows() const { return PQntuples(result_.get()); }
  bool is_null(int row, int column) const { return PQgetisnull(result_.get(), row, column) != 0; }
  std::int64_t integer(int row, int column) const;  // of bigint; 0 for null
  std::string_view bytes(int row, int column) const;
  ThreadId thread(int row, int column) const {
    return ThreadId::from_bits(static_cast<std::uint64_t>(integer(row, column)));
  }
  std::string_view command() const { return PQcmdStatus(result_.get()); }

 private:
  struct Clear {
    void operator()(PGresult* result) const { PQclear(result); }
  };
  std::unique_ptr<PGresult, Clear> result_;
};

// Why an exchange failed.
struct Failure {
  std::string state;     // SQLSTATE; empty: the server said nothing
  bool lost = false;     // the connection cannot be used any more
  bool refused = false;  // the server answered, and what was asked has not happened

  // Whether another attempt, on another connection if this one is lost, may do better: the server
  // is restarting, gone, or no longer the one that takes writes.
  bool passing() const;
  // Whether transactions got into each other's way, and the same again may pass.
  bool collided() const;
  // Whether a commit that failed so may have taken effect all the same. PostgreSQL rolls back
  // before it reports an error; extensions and servers that spread a commit over several nodes may
  // report an internal error after the commit.
  bool in_doubt() const;
  bool internal_error() const { return state == "XX000"; }
  bool waited_for_a_lock() const { return state == "55P03"; }
};

// One thread at a time. A statement is known by its text, in which `skein.` stands for the schema.
class Connection {
 public:
  static Result<std::unique_ptr<Connection>> open(const Settings& settings);
  // Whether the server is there, but takes no connections for now: it starts, or shuts down.
  static bool is_restarting(const Settings& settings);

  void queue(std::string_view sql, const Arguments& arguments = {});
  // Ends a part whose failure does not touch the next. `exchange` does that by itself.
  void end_part();

  // Sends what was queued and waits for the answers to its first part; those of further parts are
  // read by the next exchange, and are `late` then. When a statement fails, those after it in its
  // part are not executed.
  Result<std::vector<Answer>> exchange(Deadline deadline);
  // What further parts of the exchange before the last one answered, if nothing failed in them.
  const std::vector<Answer>& late() const { return late_; }
  // One statement alone.
  Result<Answer> ask(std::string_view sql, const Arguments& arguments, Deadline deadline);
  // Statements that take no parameters, several at once, in one transaction.
  Result<void> execute(const std::string& sql, Deadline deadline);

  const Failure& failure() const { return failure_; }
  // For a caller that needs the primary and finds a server in recovery. The failure is a passing
  // one, and the connection is given up: the next one may reach the primary, or find the server
  // promoted. `what` needs the primary.
  Error refuse_standby(std::string_view what);
  // Whether a warning came with the last exchange.
  const std::string& warning() const { return warning_; }
  bool usable() const { return !failure_.lost; }
  bool in_transaction() const;

  std::string with_schema(std::string_view sql) const;
  // What the server reports about itself, such as "server_encoding".
  std::string parameter(const char* name) const;
  int server_version() const { return PQserverVersion(handle_.get()); }
  // For whoever waits for notifications.
  PGconn* handle() const { return handle_.get(); }

 private:
  enum class Step { kPrepare, kExecute, kSync };
  struct Queued {
    Step step;
    std::string sql;  // kPrepare
  };
  struct Finish {
    void operator()(PGconn* handle) const { PQfinish(handle); }
  };

  Connection(PGconn* handle, const Settings& settings);
  static void on_notice(void* self, const PGresult* result);

  void send(std::string_view sql, const Arguments& arguments);
  Result<void> flush(Deadline deadline);
  // The next result; null between those of two statements.
  Result<PGresult*> next_result(Deadline deadline);
  Result<void> wait(short events, Deadline deadline);
  // Reads what belongs to one statement.
  Result<void> receive(const Queued& queued, Deadline deadline, std::vector<Answer>& answers,
                       std::optional<Error>& error);
  Result<void> receive_part(std::size_t end, Deadline deadline, std::vector<Answer>& answers);
  Error refusal(const PGresult* result);
  Error loss(std::string why);

  std::unique_ptr<PGconn, Finish> handle_;
  const std::string schema_;
  const bool prepare_;
  std::unordered_map<std::string, std::string> prepared_;  // text → name
  int names_ = 0;              // given so far; one of a statement that failed is not given again
  std::vector<Queued> queue_;  // sent, not yet answered
  std::size_t unread_ = 0;     // of queue_: further parts of the last exchange
  std::vector<Answer> late_;
  Failure failure_;
  std::string warning_;
};

}  // namespace skein::postgres
