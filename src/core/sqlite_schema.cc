#include "core/sqlite_schema.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>
#include <unordered_set>

#include "core/quote.h"
#include "core/try.h"

namespace skein {
namespace {

// As ANALYZE and AUTOINCREMENT make them.
constexpr std::array<std::string_view, 3> kMadeBySqlite = {
    "CREATE TABLE sqlite_stat1(tbl,idx,stat)",
    "CREATE TABLE sqlite_stat4(tbl,idx,neq,nlt,ndlt,sample)",
    "CREATE TABLE sqlite_sequence(name,seq)"};

// What begins an expression that SQLite computes by itself, in `PRAGMA integrity_check` at least.
constexpr std::array<std::string_view, 4> kComputed = {"as", "check", "generated", "where"};

constexpr std::string_view kSpace = " \t\r\n";

// Names are the same in SQLite whatever their case.
std::string lower_case(std::string_view text) {
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return lower;
}

bool is_word(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return std::isalnum(byte) != 0 || c == '_' || c == '$' || byte >= 0x80;
}

// "TABLE events" of the statement that creates it.
std::string_view what_it_makes(std::string_view statement) {
  statement = statement.substr(0, statement.find('('));
  statement = statement.substr(0, statement.find_last_not_of(kSpace) + 1);
  return statement.substr(std::min(statement.size(), std::string_view("CREATE ").size()));
}

// Takes the next word or quoted name off the front of `sql`, in lower case; empty: there is none.
std::string take_name(std::string_view& sql) {
  sql.remove_prefix(std::min(sql.find_first_not_of(kSpace), sql.size()));
  if (sql.empty()) return {};
  const std::string_view quotes = "\"'`[";
  std::size_t end = 0;
  if (quotes.find(sql[0]) == std::string_view::npos) {
    while (end < sql.size() && is_word(sql[end])) ++end;
    const std::string name = lower_case(sql.substr(0, end));
    sql.remove_prefix(end);
    return name;
  }
  end = sql.find(sql[0] == '[' ? ']' : sql[0], 1);
  if (end == std::string_view::npos) return {};
  const std::string name = lower_case(sql.substr(1, end - 1));
  sql.remove_prefix(end + 1);
  return name;
}

// "table events" of the statement that creates it.
std::string described(std::string_view statement) {
  std::string_view rest = what_it_makes(statement);
  std::string type = take_name(rest);
  if (type == "unique") type = take_name(rest);
  return type + " " + take_name(rest);
}

bool computes_something(std::string_view sql) {
  while (!sql.empty()) {
    if (!is_word(sql[0])) {
      sql.remove_prefix(1);
    } else if (std::ranges::find(kComputed, take_name(sql)) != kComputed.end()) {
      return true;
    }
  }
  return false;
}

}  // namespace

// A row of sqlite_master. The file can say one thing in `type` and another in `sql`.
struct SchemaEntry {
  std::string type;
  std::string name;
  std::string table;
  std::string sql;

  bool is_plain_table() const {
    std::string_view rest = sql;
    return type == "table" && table == name && take_name(rest) == "create" &&
           take_name(rest) == "table" && take_name(rest) == lower_case(name) &&
           !computes_something(rest);
  }
  bool is_plain_index() const {
    std::string_view rest = sql;
    if (type != "index" || take_name(rest) != "create") return false;
    std::string word = take_name(rest);
    if (word == "unique") word = take_name(rest);
    if (word != "index" || take_name(rest) != lower_case(name)) return false;
    return take_name(rest) == "on" && take_name(rest) == lower_case(table) &&
           std::ranges::count(rest, '(') == 1 && !computes_something(rest);
  }
};

namespace {

Result<void> refuse(const Database& database, std::string_view why) {
  std::string message = database.path();
  message.append(": its schema is not the one that Skein creates: ").append(why);
  message +=
      ". What is written to it could be lost. Drop what was added, or restore the file from a "
      "backup; if it came with somebody else's folder, remove it";
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

bool SqliteSchema::makes(std::string_view name) const {
  const std::string table = "table " + lower_case(name);
  return std::ranges::any_of(
      statements_, [&](std::string_view statement) { return described(statement) == table; });
}

bool SqliteSchema::may_be_there(const SchemaEntry& entry, OtherTables others) const {
  if (std::ranges::find(kMadeBySqlite, entry.sql) != kMadeBySqlite.end()) return true;
  if (others == OtherTables::kRefused || makes(entry.table)) return false;
  if (lower_case(entry.name).starts_with("sqlite_")) return false;  // not a name that one can give
  return entry.is_plain_table() || entry.is_plain_index();
}

Result<void> SqliteSchema::check(Database& database, OtherTables others) const {
  std::vector<std::string_view> missing = statements_;
  std::string unexpected;
  std::unordered_set<std::int64_t> roots;
  // By the name that no table in the file can take.
  SKEIN_ASSIGN(Query rows, database.query("SELECT type, name, tbl_name, sql, rootpage"
                                          " FROM main.sqlite_master"));
  for (;;) {
    SKEIN_ASSIGN(const bool row, rows.step());
    if (!row) break;
    const SchemaEntry entry{.type = std::string(rows.bytes(0)),
                            .name = std::string(rows.bytes(1)),
                            .table = std::string(rows.bytes(2)),
                            .sql = std::string(rows.bytes(3))};
    const std::string what = entry.type + " " + quote(entry.name);
    const std::int64_t root = rows.integer(4);  // 0: it has no pages
    // Two that share their pages overwrite each other.
    if (root != 0 && !roots.insert(root).second) {
      return refuse(database, what + " shares its pages with another entry");
    }
    // Without a statement it is the index of a constraint, which SQLite has found in its table.
    if (entry.sql.empty() || std::erase(missing, entry.sql) > 0) continue;
    if (unexpected.empty() && !may_be_there(entry, others)) unexpected = what;
  }
  if (!missing.empty()) return refuse(database, described(missing[0]) + " differs or is missing");
  if (!unexpected.empty()) return refuse(database, "unexpected " + unexpected);
  return {};
}

}  // namespace skein
