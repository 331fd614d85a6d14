#include "support/postgres_server.h"

#include <libpq-fe.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <utility>

#include "core/subprocess.h"

namespace skein::test {
namespace {

// A test must not pass for want of a server.
[[noreturn]] void give_up(const std::string& why) {
  std::fprintf(stderr, "no PostgreSQL to test with: %s\n", why.c_str());
  std::exit(2);
}

std::string run(std::vector<std::string> argv) {
  ProgramLimits limits;
  limits.time = std::chrono::minutes(2);
  const auto done = run_program({.argv = std::move(argv)}, "", limits);
  if (!done) give_up(done.error().message);
  if (!done->exit.ok()) give_up(done->exit.str() + ": " + done->out + done->err);
  return done->out;
}

std::string read_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

std::string script() { return SKEIN_SOURCE_DIR "/tests/support/private_postgres"; }

std::string url_in(const std::string& folder, const std::string& parameters,
                   const std::string& database = "postgres") {
  return "postgres://skein@/" + database + "?host=" + folder + (parameters.empty() ? "" : "&") +
         parameters;
}

struct Finish {
  void operator()(PGconn* handle) const { PQfinish(handle); }
};
using Handle = std::unique_ptr<PGconn, Finish>;

Handle connect(const std::string& folder, const std::string& database = "postgres") {
  Handle handle(PQconnectdb(url_in(folder, "", database).c_str()));
  if (PQstatus(handle.get()) != CONNECTION_OK) return nullptr;
  return handle;
}

using Answer = std::unique_ptr<PGresult, decltype(&PQclear)>;

bool good(const Answer& answer) {
  const ExecStatusType status = PQresultStatus(answer.get());
  return status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK;
}

std::string ask(PGconn* handle, const std::string& sql) {
  const Answer answer(PQexec(handle, sql.c_str()), PQclear);
  if (!good(answer)) give_up(PQerrorMessage(handle));
  return PQntuples(answer.get()) > 0 ? PQgetvalue(answer.get(), 0, 0) : "";
}

// The one that ctest started for all test programs; or, when a program is run by hand, one of its
// own.
const std::string& shared_folder() {
  static const std::string folder = [] {
    const std::string name = read_line(SKEIN_TEST_BIN_DIR "/postgres.folder");
    if (!name.empty() && connect(name)) return name;
    static const PostgresServer own;
    return own.folder();
  }();
  return folder;
}

}  // namespace

PostgresServer::PostgresServer(const std::vector<std::string>& settings) {
  std::vector<std::string> argv{script(), "start", own_file(), std::to_string(::getpid())};
  argv.insert(argv.end(), settings.begin(), settings.end());
  run(std::move(argv));
  folder_ = read_line(own_file());
}

PostgresServer::PostgresServer(const PostgresServer* primary) {
  run({script(), "clone", own_file(), std::to_string(::getpid()), primary->folder()});
  folder_ = read_line(own_file());
}

std::unique_ptr<PostgresServer> PostgresServer::standby_of(const PostgresServer& primary) {
  return std::unique_ptr<PostgresServer>(new PostgresServer(&primary));
}

PostgresServer::~PostgresServer() { run({script(), "stop", own_file()}); }

std::string PostgresServer::url(const std::string& parameters) const {
  return url_in(folder_, parameters);
}

void PostgresServer::stop(const std::string& mode) { run({script(), "halt", folder_, mode}); }

void PostgresServer::start() { run({script(), "resume", folder_}); }

void PostgresServer::promote() { run({script(), "promote", folder_}); }

void PostgresServer::demote() { run({script(), "demote", folder_}); }

std::string PostgresServer::sql(const std::string& text) const {
  const Handle handle = connect(folder_);
  if (!handle) give_up("cannot connect to " + folder_);
  return ask(handle.get(), text);
}

bool PostgresServer::try_sql(const std::string& text) const {
  const Handle handle = connect(folder_);
  return handle && good(Answer(PQexec(handle.get(), text.c_str()), PQclear));
}

struct PostgresTables::Claim {
  Handle handle;
};

PostgresTables::PostgresTables() : claim_(std::make_unique<Claim>()) {
  claim_->handle = connect(shared_folder());
  PGconn* handle = claim_->handle.get();
  if (handle == nullptr) give_up("cannot connect to " + shared_folder());
  // Tables are made once and used again: whoever holds the lock of a number has those of that name.
  int number = 0;
  while (ask(handle, "SELECT pg_try_advisory_lock(7171, " + std::to_string(number) + ")") != "t")
    ++number;
  const std::string schema = "test_" + std::to_string(number);
  const std::string tables =
      ask(handle,
          "SELECT string_agg(schemaname || '.' || tablename, ', ') FROM pg_tables"
          " WHERE tablename <> 'migrations' AND schemaname = '" +
              schema + "'");
  if (!tables.empty()) ask(handle, "TRUNCATE " + tables);
  url_ = url_in(shared_folder(), "skein_schema=" + schema);
}

PostgresTables::~PostgresTables() = default;

PostgresDatabase::PostgresDatabase(const std::string& statements) {
  static int number = 0;
  name_ = "database_" + std::to_string(::getpid()) + "_" + std::to_string(++number);
  const Handle server = connect(shared_folder());
  if (!server) give_up("cannot connect to " + shared_folder());
  ask(server.get(), "DROP DATABASE IF EXISTS " + name_);  // of a killed process with the same id
  ask(server.get(), "CREATE DATABASE " + name_);
  const Handle database = connect(shared_folder(), name_);
  if (!database) give_up("cannot connect to " + url());
  ask(database.get(), statements);
}

PostgresDatabase::~PostgresDatabase() {
  const Handle server = connect(shared_folder());
  if (server) ask(server.get(), "DROP DATABASE " + name_ + " WITH (FORCE)");
}

std::string PostgresDatabase::url() const { return url_in(shared_folder(), "", name_); }

}  // namespace skein::test
