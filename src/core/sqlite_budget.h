// A limit on the work of a query, in proportion to the size of the database.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <string>

namespace skein {

// A small file can have rows without end: pages of a B-tree that name the same page again and
// again. No query that Skein makes takes more than a few steps for each byte of a file; one that
// does is interrupted (SQLITE_INTERRUPT). Of one connection, and not thread-safe.
class QueryBudget {
 public:
  explicit QueryBudget(std::string path) : path_(std::move(path)) {}
  QueryBudget(const QueryBudget&) = delete;
  QueryBudget& operator=(const QueryBudget&) = delete;

  // The connection borrows this until it is closed.
  void limit(sqlite3* handle);

  // A query begins and ends. Those that run within another one share its budget.
  void enter() {
    if (running_++ == 0) used_ = 0;
  }
  void leave() { --running_; }

 private:
  static int count(void* self);
  bool is_spent();

  const std::string path_;
  int running_ = 0;
  std::uint64_t used_ = 0;  // steps
};

}  // namespace skein
