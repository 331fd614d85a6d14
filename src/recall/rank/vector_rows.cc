#include "recall/rank/vector_rows.h"

#include <algorithm>

namespace skein {

void VectorRows::reset(std::size_t dimensions) {
  table_ = std::make_unique<VectorTable>(dimensions);
  has_.clear();
  count_ = 0;
}

void VectorRows::set(std::size_t place, std::string_view bytes) {
  if (!table_) return;
  const auto code = vector_from_bytes(bytes, table_->dimensions());
  if (!code) return;
  if (place >= table_->size()) {
    const VectorCode nothing{0, std::vector<std::int8_t>(table_->dimensions())};
    while (table_->size() < place) table_->append(nothing);
    table_->append(*code);
    has_.resize(table_->size());
  } else {
    table_->set(place, *code);
  }
  if (!has_[place]) ++count_;
  has_[place] = true;
}

void VectorRows::clear(std::size_t place) {
  if (!has(place)) return;
  has_[place] = false;
  --count_;
}

void VectorRows::scan(std::span<const float> query, std::span<float> out) const {
  std::fill(out.begin(), out.end(), 0.0F);
  if (!table_ || query.size() != table_->dimensions()) return;
  const std::size_t known = std::min(out.size(), table_->size());
  table_->scan(quantize_query(query), 0, out.first(known));
  for (std::size_t place = 0; place < known; ++place) {
    if (!has_[place]) out[place] = 0;
  }
}

}  // namespace skein
