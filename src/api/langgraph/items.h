// LangGraph's store: values by namespace and key, as records of a collection.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/json.h"
#include "skein/clock.h"
#include "skein/store.h"

namespace skein::langgraph {

namespace limits {
inline constexpr std::size_t kMaxItemBytes = std::size_t{4} << 20;  // of one value
inline constexpr std::size_t kMaxLabels = 32;                       // of one namespace
inline constexpr std::size_t kMaxItemsLookedAt = 100'000;           // by one search
inline constexpr std::size_t kMaxItemQueryBytes = 4096;
}  // namespace limits

using Namespace = std::vector<std::string>;  // labels, none of them empty or with a period

struct ItemQuery {
  Namespace prefix{};
  // An object; each member must hold of the value: {"size":2}, or with an operator, {"size":{"$gt":
  // 1}}. Operators: $eq $ne $gt $gte $lt $lte. Empty: all.
  std::string filter{};
  // Words that the values had best have in them: those with most of them first. Blank: no such
  // order.
  std::string query{};
  std::uint64_t offset = 0;
  std::uint64_t limit = 10;
};

struct NamespaceQuery {
  Namespace prefix{};  // "*" is any label
  Namespace suffix{};
  std::optional<std::uint64_t> max_depth{};
  std::uint64_t offset = 0;
  std::uint64_t limit = 100;
};

// Thread-safe. Borrows its arguments. kInvalid names the rule and the value.
class Items {
 public:
  Items(Store& store, Clock& clock) : store_(store), clock_(clock) {}

  // `value` is an object.
  Result<void> put(const Namespace& where, std::string_view key, RawJson value);
  // {"namespace":…,"key":…,"value":…,"created_at":…,"updated_at":…}; nothing: there is none.
  Result<std::optional<std::string>> get(const Namespace& where, std::string_view key);
  // Removing what is not there is no error.
  Result<void> remove(const Namespace& where, std::string_view key);
  // In the order of namespaces and keys; with a query, first in that of their "score", the share of
  // its words that they have, from 0 to 1.
  Result<std::vector<std::string>> search(const ItemQuery& query);
  Result<std::vector<Namespace>> namespaces(const NamespaceQuery& query);

 private:
  Result<std::vector<std::string>> ranked(const ItemQuery& query);

  Store& store_;
  Clock& clock_;
};

// Whether a value meets a filter; both are valid JSON.
Result<bool> meets(RawJson value, RawJson filter);

}  // namespace skein::langgraph
