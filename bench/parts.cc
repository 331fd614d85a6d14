#include "bench/parts.h"

#include <filesystem>

#include "core/quote.h"
#include "core/try.h"

namespace skein::bench {

std::vector<std::string> part_names(std::span<const Part> parts) {
  std::vector<std::string> names;
  for (const Part& part : parts) names.emplace_back(part.name);
  return names;
}

Result<std::vector<Row>> run_parts(std::span<const Part> parts, const BenchOptions& options) {
  std::error_code code;
  if (!std::filesystem::is_directory(options.folder, code) ||
      !std::filesystem::is_empty(options.folder, code)) {
    return fail(ErrorCode::kInvalid,
                "folder must exist and be empty, got " + quote(options.folder));
  }
  std::vector<Row> rows;
  bool known = options.only.empty();
  for (const Part& part : parts) {
    if (!options.only.empty() && options.only != part.name) continue;
    known = true;
    SKEIN_TRY(part.run(options, rows));
  }
  if (!known) return fail(ErrorCode::kInvalid, "there is no part " + quote(options.only));
  return rows;
}

}  // namespace skein::bench
