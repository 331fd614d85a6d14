#include "core/sqlite_schema.h"

#include <algorithm>
#include <array>
#include <string>
#include <unordered_set>

#include "core/try.h"

namespace skein {
namespace {

// As ANALYZE makes them.
constexpr std::array<std::string_view, 2> kStatistics = {
    "CREATE TABLE sqlite_stat1(tbl,idx,stat)",
    "CREATE TABLE sqlite_stat4(tbl,idx,neq,nlt,ndlt,sample)"};

// "CREATE TABLE events" of the statement that begins with it.
std::string_view what_it_makes(std::string_view statement) {
  statement = statement.substr(0, statement.find('('));
  return statement.substr(0, statement.find_last_not_of(' ') + 1);
}

Result<void> refuse(const Database& database, std::string_view why) {
  std::string message = database.path();
  message.append(": its tables are not those that Skein makes (").append(why);
  message +=
      "), and could lose what is written to them. If the file came with a folder of somebody "
      "else's, remove it; otherwise take out what was changed, or restore the file from a copy";
  return fail(ErrorCode::kDamaged, std::move(message));
}

}  // namespace

void SqliteSchema::add(std::string_view sql) {
  while (!sql.empty()) {
    const std::size_t end = std::min(sql.find(';'), sql.size());
    std::string_view statement = sql.substr(0, end);
    sql.remove_prefix(std::min(end + 1, sql.size()));
    statement.remove_prefix(std::min(statement.find_first_not_of(" \n"), statement.size()));
    statement = statement.substr(0, statement.find_last_not_of(" \n") + 1);
    if (!statement.starts_with("CREATE ")) continue;
    std::erase_if(statements_, [&](std::string_view old) {
      return what_it_makes(old) == what_it_makes(statement);
    });
    statements_.push_back(statement);
  }
}

Result<void> SqliteSchema::check(Database& database) const {
  std::vector<std::string_view> missing = statements_;
  bool more = false;
  std::unordered_set<std::int64_t> roots;
  // By the name that no table in the file can take.
  SKEIN_ASSIGN(Query rows, database.query("SELECT sql, rootpage FROM main.sqlite_master"));
  for (;;) {
    SKEIN_ASSIGN(const bool row, rows.step());
    if (!row) break;
    // Two that share their pages overwrite each other.
    if (!roots.insert(rows.integer(1)).second) return refuse(database, "some share their pages");
    const std::string_view sql = rows.bytes(0);
    if (sql.empty()) continue;  // the index of a constraint, which SQLite has found in its table
    if (std::erase(missing, sql) > 0) continue;
    more = more || std::ranges::find(kStatistics, sql) == kStatistics.end();
  }
  if (!missing.empty()) {
    return refuse(database, "otherwise or not at all: " + std::string(what_it_makes(missing[0])));
  }
  if (more) return refuse(database, "there is more than those");
  return {};
}

}  // namespace skein
