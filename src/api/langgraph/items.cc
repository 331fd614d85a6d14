#include "api/langgraph/items.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "api/langgraph/item_words.h"
#include "core/json_contains.h"
#include "core/json_fields.h"
#include "core/json_object.h"
#include "core/quote.h"
#include "core/text.h"
#include "core/try.h"
#include "store/find_record.h"
#include "store/record_access.h"

namespace skein::langgraph {
namespace {

constexpr std::string_view kCollection = "langgraph_items";

Result<void> check_labels(const Namespace& labels) {
  if (labels.size() > limits::kMaxLabels) {
    return fail(ErrorCode::kInvalid, fmt::format("a namespace has at most {} labels, got {}",
                                                 limits::kMaxLabels, labels.size()));
  }
  for (const std::string& label : labels) {
    if (label.empty() || label.find('.') != std::string::npos) {
      return fail(ErrorCode::kInvalid,
                  "labels of a namespace must not be empty or have periods, got " + quote(label));
    }
  }
  return {};
}

// "a/b/" of the labels a and b, which is also where all below them begins.
std::string prefix_of(const Namespace& labels) {
  std::string prefix;
  for (const std::string& label : labels) prefix += key_part(label) + '/';
  return prefix;
}

Result<std::string> record_key(const Namespace& where, std::string_view key) {
  SKEIN_TRY(check_labels(where));
  if (where.empty()) return fail(ErrorCode::kInvalid, "a namespace must have a label");
  if (key.empty()) return fail(ErrorCode::kInvalid, "a key must not be empty");
  // No label is empty, so that the second slash tells where the key begins.
  return prefix_of(where) + '/' + key_part(key);
}

bool fits(const std::string& label, const std::string& pattern) {
  return pattern == "*" || label == pattern;
}

bool begins_with(const Namespace& where, const Namespace& prefix) {
  return where.size() >= prefix.size() &&
         std::equal(prefix.begin(), prefix.end(), where.begin(),
                    [](const auto& pattern, const auto& label) { return fits(label, pattern); });
}

bool ends_with(const Namespace& where, const Namespace& suffix) {
  return where.size() >= suffix.size() &&
         std::equal(suffix.rbegin(), suffix.rend(), where.rbegin(),
                    [](const auto& pattern, const auto& label) { return fits(label, pattern); });
}

// Delivers the items below a namespace.
Result<void> scan_items(Store& store, const Namespace& below,
                        const std::function<bool(const Record&)>& sink) {
  std::size_t seen = 0;
  SKEIN_TRY(scan_prefix(store, kCollection, prefix_of(below), [&](const Record& record) {
    return ++seen <= limits::kMaxItemsLookedAt && sink(record);
  }));
  if (seen <= limits::kMaxItemsLookedAt) return {};
  return fail(ErrorCode::kInvalid,
              fmt::format("a search looks at no more than {} items: name a namespace",
                          limits::kMaxItemsLookedAt));
}

// A value that is not there is empty: it differs from every other.
Result<bool> meets_operator(RawJson value, const std::string& name, RawJson operand) {
  const auto number = json_to_double(value);
  const auto wanted = json_to_double(operand);
  const auto text = json_to_string(value);
  const auto wanted_text = json_to_string(operand);
  // Only what is of one kind has an order.
  const auto order = [&](auto compare) {
    if (number && wanted) return compare(*number, *wanted);
    if (text && wanted_text) return compare(text->compare(*wanted_text), 0);
    return false;
  };
  if (name == "$eq")
    return same_json(Json::trusted(std::string(value)), Json::trusted(std::string(operand)));
  if (name == "$ne")
    return !same_json(Json::trusted(std::string(value)), Json::trusted(std::string(operand)));
  if (name == "$gt") return order([](auto a, auto b) { return a > b; });
  if (name == "$gte") return order([](auto a, auto b) { return a >= b; });
  if (name == "$lt") return order([](auto a, auto b) { return a < b; });
  if (name == "$lte") return order([](auto a, auto b) { return a <= b; });
  return fail(ErrorCode::kInvalid,
              "an operator must be $eq, $ne, $gt, $gte, $lt or $lte, got " + quote(name));
}

Result<bool> meets_member(RawJson value, RawJson wanted) {
  const auto contains = [&] { return !value.empty() && json_contains(value, wanted); };
  if (!wanted.starts_with('{')) return contains();
  const JsonFields operators(wanted);
  const bool any = std::any_of(operators.others().begin(), operators.others().end(),
                               [](const auto& field) { return field.name.starts_with('$'); });
  if (!any) return contains();
  for (const auto& field : operators.others()) {
    SKEIN_ASSIGN(const bool met, meets_operator(value, field.name, field.value));
    if (!met) return false;
  }
  return true;
}

// The same, of those that meet the filter of a search.
Result<void> scan_matching(Store& store, const ItemQuery& query,
                           const std::function<bool(const Record&)>& sink) {
  Result<void> wrong;
  SKEIN_TRY(scan_items(store, query.prefix, [&](const Record& record) {
    if (!query.filter.empty()) {
      JsonFields item(record.bytes);
      const auto met = meets(item.take_object("value").value_or("{}"), query.filter);
      if (!met) wrong = tl::unexpected(met.error());
      if (!met || !*met) return met.has_value();
    }
    return sink(record);
  }));
  return wrong;
}

}  // namespace

Result<bool> meets(RawJson value, RawJson filter) {
  const JsonFields wanted(filter);
  const JsonFields there(value);
  for (const auto& member : wanted.others()) {
    const auto found = std::find_if(there.others().rbegin(), there.others().rend(),
                                    [&](const auto& other) { return other.name == member.name; });
    // Also where it is not there, an operator that nobody knows is told.
    SKEIN_ASSIGN(
        const bool met,
        meets_member(found == there.others().rend() ? RawJson() : found->value, member.value));
    if (!met) return false;
  }
  return true;
}

Result<void> Items::put(const Namespace& where, std::string_view key, RawJson value) {
  SKEIN_ASSIGN(const std::string record, record_key(where, key));
  if (value.size() > limits::kMaxItemBytes) {
    return fail(ErrorCode::kInvalid, fmt::format("a value must be at most {} bytes, got {}",
                                                 limits::kMaxItemBytes, value.size()));
  }
  return write_again_on_conflict(store_, [&]() -> Result<std::vector<RecordWrite>> {
    SKEIN_ASSIGN(const auto found, find_record(store_, kCollection, record));
    const std::string now = clock_.now().str();
    std::string created = now;
    if (found) created = JsonFields(found->bytes).take_string("created_at").value_or(now);
    std::string bytes = JsonObject()
                            .add_json("value", value)
                            .add("key", key)
                            .add("namespace", where)
                            .add("created_at", created)
                            .add("updated_at", now)
                            .str();
    return std::vector<RecordWrite>{
        put_record(kCollection, record, std::move(bytes), found ? found->version : 0)};
  });
}

Result<std::optional<std::string>> Items::get(const Namespace& where, std::string_view key) {
  SKEIN_ASSIGN(const std::string record, record_key(where, key));
  SKEIN_ASSIGN(auto found, find_record(store_, kCollection, record));
  if (!found) return std::nullopt;
  return std::move(found->bytes);
}

Result<void> Items::remove(const Namespace& where, std::string_view key) {
  SKEIN_ASSIGN(const std::string record, record_key(where, key));
  SKEIN_TRY(store_.write(std::vector<RecordWrite>{delete_record(kCollection, record)}));
  return {};
}

Result<std::vector<std::string>> Items::search(const ItemQuery& query) {
  SKEIN_TRY(check_labels(query.prefix));
  if (query.query.size() > limits::kMaxItemQueryBytes) {
    return fail(ErrorCode::kInvalid, fmt::format("query must be at most {} bytes, got {}",
                                                 limits::kMaxItemQueryBytes, query.query.size()));
  }
  if (query.query.find_first_not_of(" \t\r\n") != std::string::npos) return ranked(query);
  std::vector<std::string> found;
  std::uint64_t passed = 0;
  SKEIN_TRY(scan_matching(store_, query, [&](const Record& record) {
    if (passed++ >= query.offset && found.size() < query.limit) found.push_back(record.bytes);
    return found.size() < query.limit;
  }));
  return found;
}

Result<std::vector<std::string>> Items::ranked(const ItemQuery& query) {
  struct Ranked {
    double score;
    std::string key;
  };
  std::vector<Ranked> all;
  ItemWords words(query.query);
  SKEIN_TRY(scan_matching(store_, query, [&](const Record& record) {
    JsonFields item(record.bytes);
    all.push_back({words.share_in(item.take_object("value").value_or("{}")), record.key});
    return true;
  }));
  std::sort(all.begin(), all.end(), [](const Ranked& a, const Ranked& b) {
    return a.score != b.score ? a.score > b.score : a.key < b.key;
  });
  std::vector<std::string> found;
  for (std::uint64_t i = query.offset; i < all.size() && found.size() < query.limit; ++i) {
    SKEIN_ASSIGN(auto record, find_record(store_, kCollection, all[i].key));
    if (!record) continue;  // removed meanwhile
    std::string score;
    append_json_number(score, all[i].score);
    record->bytes.pop_back();
    found.push_back(std::move(record->bytes) + ",\"score\":" + score + "}");
  }
  return found;
}

Result<std::vector<Namespace>> Items::namespaces(const NamespaceQuery& query) {
  SKEIN_TRY(check_labels(query.prefix));
  SKEIN_TRY(check_labels(query.suffix));
  Namespace fixed;
  for (const std::string& label : query.prefix) {
    if (label == "*") break;
    fixed.push_back(label);
  }
  std::set<Namespace> found;
  SKEIN_TRY(scan_items(store_, fixed, [&](const Record& record) {
    Namespace where = JsonFields(record.bytes).take_strings("namespace").value_or(Namespace());
    if (!begins_with(where, query.prefix) || !ends_with(where, query.suffix)) return true;
    if (query.max_depth && where.size() > *query.max_depth) where.resize(*query.max_depth);
    found.insert(std::move(where));
    return true;
  }));
  std::vector<Namespace> page;
  std::uint64_t passed = 0;
  for (const Namespace& where : found) {
    if (passed++ >= query.offset && page.size() < query.limit) page.push_back(where);
  }
  return page;
}

}  // namespace skein::langgraph
