// Parameters of a statement in PostgreSQL's binary format: numbers are bigint, texts text or bytea.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace skein::postgres {

// A list of values that a statement gets as one array.
class Column {
 public:
  enum class Type : std::uint32_t { kBigint = 20, kText = 25, kBytes = 17 };
  explicit Column(Type type) : type_(type) {}

  template <std::integral T>
  void add(T value) {
    add_number(static_cast<std::int64_t>(value));
  }
  void add(std::string_view text);
  void add_null();
  template <class T>
  void add(const std::optional<T>& value) {
    if (value)
      add(*value);
    else
      add_null();
  }

  std::size_t size() const { return size_; }
  void clear();
  // The whole array, as the server reads it.
  std::string encode() const;

 private:
  void add_number(std::int64_t value);

  const Type type_;
  std::string elements_;
  std::uint32_t size_ = 0;
  bool has_null_ = false;
};

// The parameters of one execution, in order. Copies what it is given.
class Arguments {
 public:
  template <class... Values>
  static Arguments of(const Values&... values) {
    Arguments arguments;
    (arguments.add(values), ...);
    return arguments;
  }

  template <std::integral T>
  Arguments& add(T value) {
    return add_number(static_cast<std::int64_t>(value));
  }
  Arguments& add(std::string_view text);
  Arguments& add(const Column& column) { return add(std::string_view(column.encode())); }
  Arguments& add_null();
  template <class T>
  Arguments& add(const std::optional<T>& value) {
    return value ? add(*value) : add_null();
  }

  int count() const { return static_cast<int>(lengths_.size()); }
  // Arrays of `count()` for libpq; good until the next change.
  std::vector<const char*> values() const;
  const int* lengths() const { return lengths_.data(); }
  std::vector<int> formats() const { return std::vector<int>(lengths_.size(), 1); }

 private:
  Arguments& add_number(std::int64_t value);

  std::string bytes_;
  std::vector<std::size_t> offsets_;
  std::vector<int> lengths_;  // -1: null
};

}  // namespace skein::postgres
