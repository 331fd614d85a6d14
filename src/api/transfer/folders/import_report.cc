#include "api/transfer/folders/import_report.h"

#include <algorithm>

namespace skein {

std::uint64_t ImportRow::left_out_count() const {
  std::uint64_t count = 0;
  for (const auto& [reason, of_reason] : left_out) count += of_reason;
  return count;
}

ImportRow& ImportReport::row(std::string_view kind) {
  const auto known = std::find_if(rows_.begin(), rows_.end(),
                                  [&](const ImportRow& each) { return each.kind == kind; });
  if (known != rows_.end()) return *known;
  rows_.push_back({.kind = std::string(kind)});
  return rows_.back();
}

void ImportReport::taken(std::string_view kind, std::uint64_t count) { row(kind).taken += count; }

void ImportReport::there(std::string_view kind, std::uint64_t count) { row(kind).there += count; }

void ImportReport::left_out(std::string_view kind, std::string_view reason, LeftOut why,
                            std::uint64_t count) {
  if (count == 0) return;
  row(kind).left_out[std::string(reason)] += count;
  if (why == LeftOut::kFailed) failed_ += count;
  if (why == LeftOut::kConflict) conflicts_ += count;
}

void ImportReport::found(std::string_view kind, std::uint64_t count) {
  row(kind);
  counted_[std::string(kind)] += count;
}

std::vector<ImportRow> ImportReport::rows() const {
  std::vector<ImportRow> rows;
  for (ImportRow row : rows_) {
    const auto counted = counted_.find(row.kind);
    row.found =
        counted != counted_.end() ? counted->second : row.taken + row.there + row.left_out_count();
    if (row.found > 0) rows.push_back(std::move(row));
  }
  return rows;
}

std::uint64_t ImportReport::taken_of(std::string_view kind) const {
  for (const ImportRow& row : rows_) {
    if (row.kind == kind) return row.taken;
  }
  return 0;
}

bool ImportReport::took_anything() const {
  return std::any_of(rows_.begin(), rows_.end(),
                     [](const ImportRow& row) { return row.taken > 0; });
}

}  // namespace skein
