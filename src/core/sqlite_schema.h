// Whether a database has the tables and indices that it is to have. A file that somebody else made
// can have clauses in its schema that drop writes without a word, or compute for ever.
#pragma once

#include <string_view>
#include <vector>

#include "core/sqlite.h"

namespace skein {

class SqliteSchema {
 public:
  // The CREATE statements of `sql`, which lives as long as this; others are passed over. What
  // creates a table or an index anew takes the place of what created it before.
  void add(std::string_view sql);

  // kDamaged, unless the database has exactly this, in these words. What SQLite itself adds
  // (indices of constraints, statistics) may be there. Reads the schema and nothing else.
  Result<void> check(Database& database) const;

 private:
  std::vector<std::string_view> statements_;
};

}  // namespace skein
