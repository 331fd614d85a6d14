#include "http/langgraph/extract.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "core/json_array.h"
#include "core/json_fields.h"
#include "core/json_object.h"
#include "core/quote.h"
#include "core/try.h"
#include "http/langgraph/shared.h"

namespace skein::http {
namespace {

constexpr std::size_t kMaxPaths = 10;
constexpr std::size_t kMaxPathBytes = 256;
constexpr std::string_view kRoots[] = {"thread_id", "created_at", "updated_at", "metadata",
                                       "status",    "config",     "values",     "interrupts"};

// Takes a place, "[-1]", from the beginning of `rest`. Nothing: there is none.
std::optional<std::int64_t> take_place(std::string_view& rest) {
  const std::size_t end = rest.find(']');
  if (end == std::string_view::npos) return std::nullopt;
  std::int64_t place = 0;
  const char* const last = rest.data() + end;
  const auto [at, wrong] = std::from_chars(rest.data() + 1, last, place);
  if (wrong != std::errc() || at != last) return std::nullopt;
  rest.remove_prefix(end + 1);
  return place;
}

// False: it is none.
bool read_path(std::string_view rest, ExtractPath& path) {
  while (true) {
    const std::size_t end = std::min(rest.find_first_of(".["), rest.size());
    if (end == 0) return false;
    path.steps.emplace_back(std::string(rest.substr(0, end)));
    rest.remove_prefix(end);
    while (rest.starts_with('[')) {
      const auto place = take_place(rest);
      if (!place) return false;
      path.steps.emplace_back(*place);
    }
    if (rest.empty()) break;
    if (!rest.starts_with('.')) return false;
    rest.remove_prefix(1);
  }
  const auto& root = std::get<std::string>(path.steps.front());
  return std::find(std::begin(kRoots), std::end(kRoots), root) != std::end(kRoots);
}

std::string step_into(const std::string& json,
                      const std::variant<std::string, std::int64_t>& step) {
  if (const auto* name = std::get_if<std::string>(&step)) return member(json, *name);
  const auto elements = json_elements(json);
  const auto count = static_cast<std::int64_t>(elements.size());
  std::int64_t place = std::get<std::int64_t>(step);
  if (place < 0) place += count;
  if (place < 0 || place >= count) return "null";
  return std::string(elements[static_cast<std::size_t>(place)]);
}

}  // namespace

Result<std::vector<ExtractPath>> read_extract(RawJson json) {
  std::vector<ExtractPath> paths;
  const JsonFields fields(json);
  for (const auto& field : fields.others()) {
    const auto text = json_to_string(field.value);
    ExtractPath path{.alias = field.name, .steps = {}};
    if (!text || text->size() > kMaxPathBytes || !read_path(*text, path)) {
      return fail(ErrorCode::kInvalid,
                  "extract." + field.name +
                      " must be a path into a thread, such as values.messages[-1].content, of at "
                      "most " +
                      std::to_string(kMaxPathBytes) + " bytes, got " + excerpt(field.value));
    }
    paths.push_back(std::move(path));
  }
  if (paths.size() <= kMaxPaths) return paths;
  return fail(ErrorCode::kInvalid, "extract must be at most " + std::to_string(kMaxPaths) +
                                       " paths, got " + std::to_string(paths.size()));
}

std::string extracted_json(const std::string& thread, const std::vector<ExtractPath>& paths) {
  JsonObject object;
  for (const ExtractPath& path : paths) {
    std::string value = thread;
    for (const auto& step : path.steps) value = step_into(value, step);
    object.add_json(path.alias, value);
  }
  return object.str();
}

}  // namespace skein::http
