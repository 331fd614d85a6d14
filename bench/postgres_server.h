// A server to measure: what is done to it besides Skein's own work, by the programs that come with
// PostgreSQL.
#pragma once

#include <string>

#include "skein/error.h"

namespace skein::bench {

// Tables of a benchmark's own in the database behind a URL, dropped in the end.
class PostgresScratch {
 public:
  static Result<PostgresScratch> make(const std::string& url);
  PostgresScratch(PostgresScratch&& other) noexcept;
  PostgresScratch& operator=(PostgresScratch&&) = delete;
  ~PostgresScratch();

  // Of a store in it.
  const std::string& store_url() const { return store_url_; }

  // pgbench with that many connections, each of which inserts and commits one row of the size of a
  // message at a time: rows a second.
  Result<double> pgbench(int connections, int seconds) const;
  // What the server does by itself, sooner or later: the statistics that it plans by.
  Result<void> analyze() const;

 private:
  PostgresScratch(std::string url, std::string schema, std::string store_url);
  Result<void> sql(const std::string& text) const;

  std::string url_;  // as libpq understands it
  std::string schema_;
  std::string store_url_;
};

}  // namespace skein::bench
