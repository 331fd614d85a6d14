// Whether a database has the tables and indices that it is to have. A file that somebody else made
// can have clauses in its schema that drop writes without a word, or compute for ever.
#pragma once

#include <string_view>
#include <vector>

#include "core/sqlite.h"

namespace skein {

// Tables of others in the same file, such as those of a replication tool.
enum class OtherTables { kAllowed, kRefused };

struct SchemaEntry;

class SqliteSchema {
 public:
  // The CREATE statements of `sql`, which lives as long as this; others are passed over. What
  // creates a table or an index anew takes the place of what created it before.
  void add(std::string_view sql);

  // kDamaged, naming the first difference, unless the database has exactly this, in these words.
  // What SQLite itself adds (indices of constraints, statistics) may be there. kAllowed: so may
  // ordinary tables of other names, and their indices, if nothing in them is computed. Skein never
  // reads or writes those. Reads the schema and nothing else.
  Result<void> check(Database& database, OtherTables others) const;

 private:
  bool makes(std::string_view name) const;
  bool may_be_there(const SchemaEntry& entry, OtherTables others) const;

  std::vector<std::string_view> statements_;
};

}  // namespace skein
