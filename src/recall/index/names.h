// Numbers for names: terms, speakers, agents, models.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "recall/index/index_file.h"
#include "recall/rank/question.h"

namespace skein {

struct NameTable {
  const char* find;  // SQL: name → number
  const char* add;   // SQL: name → a new number
};
extern const NameTable kTermNames;
extern const NameTable kSpeakerNames;
extern const NameTable kAgentNames;
extern const NameTable kModelNames;

Result<std::optional<std::int64_t>> find_name(Database& db, const NameTable& table,
                                              std::string_view name);

// The agents that something is about, sorted, each once. None: all agents.
using AgentNames = std::optional<std::vector<std::string>>;
// Numbers of those that the index knows. `names` must not be absent.
Result<std::vector<std::int64_t>> find_agents(Database& db, const AgentNames& names);

// Gives numbers to names that are new, and remembers them while the numbers hold. Used while
// writing; one at a time.
class Names {
 public:
  // At the start of each writing, and after it was committed.
  Result<void> begin(Database& db);
  void committed() { uncommitted_ = false; }

  Result<std::int64_t> term(Database& db, std::string_view text) {
    return number(db, kTermNames, terms_, text);
  }
  Result<std::int64_t> speaker(Database& db, std::string_view name) {
    return number(db, kSpeakerNames, speakers_, name);
  }
  Result<std::int64_t> agent(Database& db, std::string_view name) {
    return number(db, kAgentNames, agents_, name);
  }

 private:
  void forget();
  using Known = std::unordered_map<std::string, std::int64_t>;
  Result<std::int64_t> number(Database& db, const NameTable& table, Known& known,
                              std::string_view name);

  Known terms_;
  Known speakers_;
  Known agents_;
  std::string key_;
  std::int64_t epoch_ = -1;
  bool uncommitted_ = false;  // numbers were given that hold only if the writing does
};

// The terms of an index, while it is being read.
class IndexVocabulary : public Vocabulary {
 public:
  explicit IndexVocabulary(IndexReading& reading) : reading_(reading) {}
  Result<std::optional<TermId>> find(std::string_view term) override;
  Result<void> each_like(std::string_view term, const Sink& sink) override;

 private:
  IndexReading& reading_;
};

// Removes terms and speakers that no message has any more.
Result<void> sweep_names(IndexWriting& writing);

}  // namespace skein
