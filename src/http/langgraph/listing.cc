#include "http/langgraph/listing.h"

#include <algorithm>
#include <utility>

#include "core/json_array.h"
#include "core/json_fields.h"
#include "core/json_object.h"
#include "http/langgraph/shared.h"

namespace skein::http {
namespace {

// Texts, times and null are in the order of what is written; equal ones stay as they came.
std::vector<std::string> sorted(std::vector<std::string> items, const std::string& name,
                                bool descending) {
  std::vector<std::pair<std::string, std::size_t>> places;
  for (const std::string& item : items) places.emplace_back(member(item, name), places.size());
  std::sort(places.begin(), places.end(), [&](const auto& a, const auto& b) {
    if (a.first == b.first) return a.second < b.second;
    return descending ? b.first < a.first : a.first < b.first;
  });
  std::vector<std::string> in_order;
  for (const auto& [key, place] : places) in_order.push_back(std::move(items[place]));
  return in_order;
}

}  // namespace

std::string selected(const std::string& json, const Select& select) {
  if (select.empty()) return json;
  JsonObject object;
  for (const JsonFields fields(json); const auto& field : fields.others()) {
    if (std::find(select.begin(), select.end(), field.name) != select.end()) {
      object.add_json(field.name, field.value);
    }
  }
  return object.str();
}

Response listed(std::vector<std::string> items, std::string_view body) {
  JsonFields asked(body);
  const auto sort_by = asked.take_string("sort_by");
  const auto order = asked.take_string("sort_order");
  if (sort_by || order) {
    items = sorted(std::move(items), sort_by.value_or("created_at"), order != "asc");
  }
  const auto limit = static_cast<std::size_t>(asked.take_int("limit").value_or(10));
  const auto offset = static_cast<std::size_t>(asked.take_int("offset").value_or(0));
  const Select select = asked.take_strings("select").value_or(Select());
  std::vector<std::string> page;
  for (std::size_t i = offset; i < items.size() && page.size() < limit; ++i) {
    page.push_back(selected(items[i], select));
  }
  Response response = json_response(json_array_of(page));
  if (offset + page.size() < items.size()) {
    response.header("X-Pagination-Next", std::to_string(offset + page.size()));
  }
  response.header("X-Pagination-Total", std::to_string(items.size()));
  return response;
}

}  // namespace skein::http
