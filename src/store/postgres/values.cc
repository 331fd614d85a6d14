#include "store/postgres/values.h"

namespace skein::postgres {
namespace {

template <std::size_t Bytes>
void append_big_endian(std::string& out, std::uint64_t value) {
  for (std::size_t i = 0; i < Bytes; ++i)
    out += static_cast<char>(value >> (8 * (Bytes - 1 - i)) & 0xff);
}

}  // namespace

void Column::add_number(std::int64_t value) {
  append_big_endian<4>(elements_, 8);
  append_big_endian<8>(elements_, static_cast<std::uint64_t>(value));
  ++size_;
}

void Column::add(std::string_view text) {
  append_big_endian<4>(elements_, text.size());
  elements_ += text;
  ++size_;
}

void Column::add_null() {
  append_big_endian<4>(elements_, 0xffffffff);
  has_null_ = true;
  ++size_;
}

void Column::clear() {
  elements_.clear();
  size_ = 0;
  has_null_ = false;
}

std::string Column::encode() const {
  std::string out;
  out.reserve(elements_.size() + 20);
  append_big_endian<4>(out, size_ == 0 ? 0 : 1);  // dimensions
  append_big_endian<4>(out, has_null_ ? 1 : 0);
  append_big_endian<4>(out, static_cast<std::uint32_t>(type_));
  if (size_ == 0) return out;
  append_big_endian<4>(out, size_);
  append_big_endian<4>(out, 1);  // the first index
  return out += elements_;
}

Arguments& Arguments::add_number(std::int64_t value) {
  offsets_.push_back(bytes_.size());
  lengths_.push_back(8);
  append_big_endian<8>(bytes_, static_cast<std::uint64_t>(value));
  return *this;
}

Arguments& Arguments::add(std::string_view text) {
  offsets_.push_back(bytes_.size());
  lengths_.push_back(static_cast<int>(text.size()));
  bytes_ += text;
  return *this;
}

Arguments& Arguments::add_null() {
  offsets_.push_back(bytes_.size());
  lengths_.push_back(-1);
  return *this;
}

std::vector<const char*> Arguments::values() const {
  std::vector<const char*> values;
  values.reserve(lengths_.size());
  for (std::size_t i = 0; i < lengths_.size(); ++i)
    values.push_back(lengths_[i] < 0 ? nullptr : bytes_.data() + offsets_[i]);
  return values;
}

}  // namespace skein::postgres
