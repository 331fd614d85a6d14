#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

#include "core/json.h"
#include "core/quote.h"
#include "core/try.h"
#include "http/route.h"

namespace skein::http {
namespace {

constexpr std::size_t kMaxSegments = 32;
// What is stored may be nested as deep as limits allow, and lies in lists of objects.
constexpr std::size_t kMaxBodyDepth = limits::kMaxJsonDepth + 8;

// "/a/b" as {"a", "b"}; "/" and "/a/" end in an empty one, which is a segment like any other.
std::vector<std::string_view> split_path(std::string_view path) {
  std::vector<std::string_view> segments;
  if (path.starts_with('/')) path.remove_prefix(1);
  for (;;) {
    const std::size_t end = path.find('/');
    segments.push_back(path.substr(0, end));
    if (end == std::string_view::npos || segments.size() == kMaxSegments) return segments;
    path.remove_prefix(end + 1);
  }
}

struct Entry {
  const Route* route = nullptr;
  const RouteSet* set = nullptr;
};

// A segment of the patterns, and those that may follow it.
struct Place {
  std::map<std::string, std::unique_ptr<Place>, std::less<>> fixed;
  std::unique_ptr<Place> named;
  std::map<std::string, Entry> here;  // by method
  std::map<std::string, Entry> rest;  // of {name...}
};

struct Compiled {
  std::vector<std::pair<std::string, Schema>> parameters;  // of path, query and headers
  std::optional<Schema> body;
};

std::vector<std::string> names_in(std::string_view pattern) {
  std::vector<std::string> names;
  for (const std::string_view segment : split_path(pattern)) {
    if (!segment.starts_with('{')) continue;
    std::string name(segment.substr(1, segment.size() - 2));
    if (name.ends_with("...")) name.resize(name.size() - 3);
    names.push_back(std::move(name));
  }
  return names;
}

tl::unexpected<Error> bad_route(const Route& route, const std::string& reason) {
  return fail(ErrorCode::kInvalid, "route " + route.method + " " + route.path + ": " + reason);
}

bool is_json(std::string_view content_type) { return content_type.starts_with("application/json"); }

}  // namespace

struct RouteTable::Impl {
  std::vector<RouteSet> sets;
  Place root;
  std::unordered_map<const Route*, Compiled> compiled;

  Result<void> add(const RouteSet& set, const Route& route);
  Result<void> compile(const RouteSet& set, const Route& route);
};

Result<void> RouteTable::Impl::add(const RouteSet& set, const Route& route) {
  if (!route.path.starts_with('/') || !route.handler) return bad_route(route, "makes no sense");
  Place* place = &root;
  bool rest = false;
  for (const std::string_view segment : split_path(route.path)) {
    if (rest) return bad_route(route, "something follows the rest");
    if (!segment.starts_with('{')) {
      auto& next = place->fixed[std::string(segment)];
      if (!next) next = std::make_unique<Place>();
      place = next.get();
    } else if (segment.ends_with("...}")) {
      rest = true;
    } else if (segment.ends_with('}')) {
      if (!place->named) place->named = std::make_unique<Place>();
      place = place->named.get();
    } else {
      return bad_route(route, "a segment is a {name} or none");
    }
  }
  auto& methods = rest ? place->rest : place->here;
  if (!methods.emplace(route.method, Entry{&route, &set}).second) {
    return bad_route(route, "is there twice");
  }
  return compile(set, route);
}

Result<void> RouteTable::Impl::compile(const RouteSet& set, const Route& route) {
  Compiled made;
  const auto make = [&](const std::string& text) -> Result<Schema> {
    auto schema = Schema::make(text, set.schemas);
    if (schema) return schema;
    return bad_route(route, schema.error().message);
  };
  for (const Parameter& parameter : route.parameters) {
    SKEIN_ASSIGN(Schema schema, make(parameter.schema));
    made.parameters.emplace_back(parameter.name, std::move(schema));
  }
  if (route.body && !route.body->schema.empty()) {
    SKEIN_ASSIGN(made.body, make(route.body->schema));
  }
  for (const ResponseSpec& response : route.responses) {
    if (!response.schema.empty()) SKEIN_TRY(make(response.schema));
  }
  compiled.emplace(&route, std::move(made));
  return {};
}

RouteTable::RouteTable(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
RouteTable::~RouteTable() = default;
RouteTable::RouteTable(RouteTable&&) noexcept = default;
RouteTable& RouteTable::operator=(RouteTable&&) noexcept = default;

Result<RouteTable> RouteTable::make(std::vector<RouteSet> sets) {
  auto impl = std::make_unique<Impl>();
  impl->sets = std::move(sets);
  for (const RouteSet& set : impl->sets) {
    std::set<std::string> names;
    for (const Route& route : set.routes) {
      SKEIN_TRY(impl->add(set, route));
      if (!names.insert(route.name).second) return bad_route(route, "another has its name");
    }
  }
  return RouteTable(std::move(impl));
}

namespace {

// Where a path leads, and what its {names} stand for.
struct Found {
  const std::map<std::string, Entry>* methods = nullptr;
  std::vector<std::string> values;
};

void walk(const Place& place, const std::vector<std::string_view>& segments, std::size_t at,
          std::vector<std::string>& values, Found& found) {
  if (found.methods != nullptr) return;
  if (at == segments.size()) {
    if (!place.here.empty()) found = {&place.here, values};
    return;
  }
  if (const auto next = place.fixed.find(segments[at]); next != place.fixed.end()) {
    walk(*next->second, segments, at + 1, values, found);
  }
  if (found.methods == nullptr && place.named && !segments[at].empty()) {
    values.emplace_back(segments[at]);
    walk(*place.named, segments, at + 1, values, found);
    values.pop_back();
  }
  if (found.methods == nullptr && !place.rest.empty()) {
    found = {&place.rest, values};
    const char* const begin = segments[at].data();
    const std::string_view last = segments.back();
    found.values.emplace_back(begin, last.data() + last.size());
  }
}

std::string allowed(const std::map<std::string, Entry>& methods) {
  std::string text;
  for (const auto& [method, entry] : methods) text += (text.empty() ? "" : ", ") + method;
  if (methods.contains("GET") && !methods.contains("HEAD")) text += ", HEAD";
  return text;
}

}  // namespace

tl::expected<Matched, Problem> RouteTable::match(std::string_view method,
                                                 std::string_view path) const {
  const std::vector<std::string_view> segments = split_path(path);
  Found found;
  std::vector<std::string> values;
  walk(impl_->root, segments, 0, values, found);
  if (found.methods == nullptr) {
    return refuse(404, "not_found", "there is nothing at " + quote(path, 200));
  }
  auto entry = found.methods->find(std::string(method));
  if (entry == found.methods->end() && method == "HEAD") entry = found.methods->find("GET");
  if (entry == found.methods->end()) {
    Problem problem(405, "method_not_allowed",
                    std::string(method) + " is not for " + quote(path, 200));
    problem.headers.push_back({"Allow", allowed(*found.methods)});
    return tl::unexpected(std::move(problem));
  }
  Matched matched{entry->second.route, entry->second.set, {}};
  const std::vector<std::string> names = names_in(matched.route->path);
  for (std::size_t i = 0; i < names.size() && i < found.values.size(); ++i) {
    auto value = decode_percent(found.values[i], false);
    if (!value) {
      return refuse(400, "invalid", names[i] + " is not percent-encoded UTF-8 without NUL");
    }
    matched.parameters.emplace_back(names[i], std::move(*value));
  }
  return matched;
}

const RouteSet& RouteTable::set_of(std::string_view path) const {
  const RouteSet* best = nullptr;
  for (const RouteSet& set : impl_->sets) {
    if (!path.starts_with(set.prefix)) continue;
    if (best == nullptr || set.prefix.size() > best->prefix.size()) best = &set;
  }
  return best == nullptr ? impl_->sets.front() : *best;
}

namespace {

std::vector<std::string> values_of(const Parameter& parameter, const Request& request) {
  if (parameter.in == ParameterIn::kQuery) return request.all_queries(parameter.name);
  if (parameter.in == ParameterIn::kPath) return {request.parameter(parameter.name)};
  const auto value = request.header(parameter.name);
  return value ? std::vector<std::string>{*value} : std::vector<std::string>{};
}

Result<void> check_parameter(const Parameter& parameter, const Schema& schema,
                             const Request& request) {
  const std::vector<std::string> values = values_of(parameter, request);
  if (values.empty() && parameter.required) {
    return fail(ErrorCode::kInvalid, parameter.name + " is required");
  }
  if (values.size() > 1 && !parameter.repeated) {
    return fail(ErrorCode::kInvalid, parameter.name + " may be given once");
  }
  for (const std::string& value : values) {
    const auto good = schema.check_text(value);
    if (!good) return fail(ErrorCode::kInvalid, parameter.name + " " + good.error().message);
  }
  return {};
}

}  // namespace

Result<void> RouteTable::check(const Matched& matched, const Request& request) const {
  const Route& route = *matched.route;
  const Compiled& compiled = impl_->compiled.at(&route);
  for (std::size_t i = 0; i < route.parameters.size(); ++i) {
    SKEIN_TRY(check_parameter(route.parameters[i], compiled.parameters[i].second, request));
  }
  for (const auto& [name, value] : request.queries) {
    const bool known = std::any_of(
        route.parameters.begin(), route.parameters.end(),
        [&](const Parameter& p) { return p.in == ParameterIn::kQuery && p.name == name; });
    if (!known && (matched.set->strict_queries || route.strict_query))
      return fail(ErrorCode::kInvalid, "there is no parameter " + quote(name));
  }
  if (!route.body) return {};
  if (request.body.empty()) {
    if (!route.body->required) return {};
    return fail(ErrorCode::kInvalid, "a body is required");
  }
  if (!is_json(route.body->content_type)) return {};
  SKEIN_TRY(validate_json(request.body, "body", kMaxBodyDepth));
  if (compiled.body) SKEIN_TRY(compiled.body->check(request.body));
  return {};
}

const std::vector<RouteSet>& RouteTable::sets() const { return impl_->sets; }

}  // namespace skein::http
