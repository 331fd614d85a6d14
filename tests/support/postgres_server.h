// A private PostgreSQL for tests.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "support/temp_dir.h"

namespace skein::test {

// A server of one test's own, which it may treat as badly as it likes.
class PostgresServer {
 public:
  // Settings are as in postgresql.conf, NAME=VALUE.
  explicit PostgresServer(const std::vector<std::string>& settings = {});
  // A streaming standby of the primary, with the settings that it has now.
  static std::unique_ptr<PostgresServer> standby_of(const PostgresServer& primary);
  ~PostgresServer();
  PostgresServer(const PostgresServer&) = delete;
  PostgresServer& operator=(const PostgresServer&) = delete;

  // Of a store in it. `parameters` are added to the URL: "skein_schema=a&…".
  std::string url(const std::string& parameters = {}) const;
  const std::string& folder() const { return folder_; }

  void stop(const std::string& mode = "immediate");  // as if it had crashed
  void start();
  void promote();  // a standby: it takes writes from now on
  void demote();   // restarted as a standby, which nobody feeds
  // Runs SQL as its superuser; what it answers.
  std::string sql(const std::string& text) const;
  // Likewise, but it may fail: then false.
  bool try_sql(const std::string& text) const;

 private:
  explicit PostgresServer(const PostgresServer* primary);
  std::string own_file() const { return (own_.path() / "folder").string(); }

  TempDir own_;
  std::string folder_;
};

// Empty tables on the server that all tests share, for as long as this lives.
class PostgresTables {
 public:
  PostgresTables();
  ~PostgresTables();
  PostgresTables(const PostgresTables&) = delete;
  PostgresTables& operator=(const PostgresTables&) = delete;

  const std::string& url() const { return url_; }

 private:
  struct Claim;
  std::unique_ptr<Claim> claim_;
  std::string url_;
};

// A database of one test's own on the server that all tests share, filled by SQL statements.
class PostgresDatabase {
 public:
  explicit PostgresDatabase(const std::string& statements);
  ~PostgresDatabase();
  PostgresDatabase(const PostgresDatabase&) = delete;
  PostgresDatabase& operator=(const PostgresDatabase&) = delete;

  std::string url() const;

 private:
  std::string name_;
};

}  // namespace skein::test
