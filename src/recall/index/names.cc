#include "recall/index/names.h"

#include <vector>

#include "core/try.h"

namespace skein {

const NameTable kTermNames = {"SELECT term FROM terms WHERE text = ?",
                              "INSERT INTO terms (text) VALUES (?) RETURNING term"};
const NameTable kSpeakerNames = {"SELECT speaker FROM speakers WHERE name = ?",
                                 "INSERT INTO speakers (name) VALUES (?) RETURNING speaker"};
const NameTable kAgentNames = {"SELECT agent FROM agents WHERE name = ?",
                               "INSERT INTO agents (name) VALUES (?) RETURNING agent"};
const NameTable kModelNames = {"SELECT model FROM models WHERE name = ?",
                               "INSERT INTO models (name) VALUES (?) RETURNING model"};

Result<std::optional<std::int64_t>> find_name(Database& db, const NameTable& table,
                                              std::string_view name) {
  SKEIN_ASSIGN(Query query, db.query(table.find));
  query.bind(name);
  SKEIN_ASSIGN(const bool row, query.step());
  return row ? std::optional(query.integer(0)) : std::nullopt;
}

void Names::forget() {
  terms_.clear();
  speakers_.clear();
  agents_.clear();
}

Result<std::vector<std::int64_t>> find_agents(Database& db, const AgentNames& names) {
  std::vector<std::int64_t> numbers;
  for (const std::string& name : *names) {
    SKEIN_ASSIGN(const auto number, find_name(db, kAgentNames, name));
    if (number) numbers.push_back(*number);
  }
  return numbers;
}

Result<void> Names::begin(Database& db) {
  constexpr std::size_t kMost = 500'000;  // terms in memory
  SKEIN_ASSIGN(const auto epoch, index_number(db, kNamesEpoch));
  if (epoch != epoch_ || uncommitted_ || terms_.size() > kMost) forget();
  epoch_ = epoch;
  uncommitted_ = false;
  return {};
}

Result<std::int64_t> Names::number(Database& db, const NameTable& table, Known& known,
                                   std::string_view name) {
  key_.assign(name);
  if (const auto found = known.find(key_); found != known.end()) return found->second;
  SKEIN_ASSIGN(const auto there, find_name(db, table, name));
  std::int64_t number = there.value_or(0);
  if (!there) {
    SKEIN_ASSIGN(Query query, db.query(table.add));
    query.bind(name);
    SKEIN_TRY(query.step());
    number = query.integer(0);
    SKEIN_TRY(query.run());
    uncommitted_ = true;
  }
  known.emplace(key_, number);
  return number;
}

Result<std::optional<TermId>> IndexVocabulary::find(std::string_view term) {
  SKEIN_ASSIGN(const auto number, find_name(reading_.db(), kTermNames, term));
  return number ? std::optional(static_cast<TermId>(*number)) : std::nullopt;
}

Result<void> IndexVocabulary::each_like(std::string_view term, const Sink& sink) {
  std::size_t bytes = term.empty() ? 0 : 1;
  while (bytes < term.size() && (term[bytes] & 0xC0) == 0x80) ++bytes;
  const std::string from(term.substr(0, bytes));
  const std::string to = from + "\xF4\x8F\xBF\xBF";  // the last character there is
  SKEIN_ASSIGN(Query query,
               reading_.db().query("SELECT text, term FROM terms WHERE text >= ? AND text <= ?"));
  query.bind(std::string_view(from), std::string_view(to));
  for (;;) {
    SKEIN_ASSIGN(const bool row, query.step());
    if (!row || !sink(query.bytes(0), static_cast<TermId>(query.integer(1)))) return {};
  }
}

Result<void> sweep_names(IndexWriting& writing) {
  Database& db = writing.db();
  std::vector<bool> used;
  {
    SKEIN_ASSIGN(Query query, db.query("SELECT terms FROM messages"));
    for (;;) {
      SKEIN_ASSIGN(const bool row, query.step());
      if (!row) break;
      unpack_terms(query.bytes(0), [&](TermCount term) {
        if (term.term >= used.size()) used.resize(term.term + std::size_t{1});
        used[term.term] = true;
      });
    }
  }
  std::vector<std::int64_t> unused;
  {
    SKEIN_ASSIGN(Query query, db.query("SELECT term FROM terms"));
    for (;;) {
      SKEIN_ASSIGN(const bool row, query.step());
      if (!row) break;
      const auto term = static_cast<std::size_t>(query.integer(0));
      if (term >= used.size() || !used[term]) unused.push_back(query.integer(0));
    }
  }
  for (const std::int64_t term : unused) {
    SKEIN_ASSIGN(Query query, db.query("DELETE FROM terms WHERE term = ?"));
    SKEIN_TRY(query.bind(term).run());
  }
  SKEIN_TRY(db.execute("DELETE FROM speakers WHERE speaker NOT IN (SELECT speaker FROM messages)"));
  return set_index_value(db, kNamesEpoch, writing.generation());
}

}  // namespace skein
