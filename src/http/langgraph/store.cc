// LangGraph's store of items. They belong to no agent, so keys that are bound to agents do not
// reach them.
#include <utility>

#include "core/json_array.h"
#include "core/json_fields.h"
#include "core/json_object.h"
#include "core/try.h"
#include "http/langgraph/shared.h"

namespace skein::http {
namespace {

using langgraph::Namespace;

// kInvalid is 422 here, as the reference server has it; an empty namespace is 400.
Problem wording(Error error, bool empty) {
  const int status = error.code == ErrorCode::kInvalid && !empty ? 422 : 0;
  if (status == 0) return {std::move(error)};
  return {status, "invalid", std::move(error.message)};
}

Handler for_all(std::function<Reply(const Request&)> answer) {
  return [answer = std::move(answer)](Service&, Request& request) -> Reply {
    if (!request.caller.all_agents) {
      return refuse(403, "forbidden", "items belong to no agent: a key for all agents is needed");
    }
    return answer(request);
  };
}

Namespace labels(const Request& request, std::string_view name) {
  return JsonFields(request.body).take_strings(name).value_or(Namespace());
}

Namespace split(const std::string& text) {
  Namespace labels;
  std::size_t from = 0;
  while (from <= text.size() && !text.empty()) {
    const std::size_t end = std::min(text.find('.', from), text.size());
    labels.push_back(text.substr(from, end - from));
    from = end + 1;
  }
  return labels;
}

std::uint64_t number(const Request& request, std::string_view name, std::uint64_t usual) {
  const auto value = json_to_int(member(request.body, name));
  return value ? static_cast<std::uint64_t>(*value) : usual;
}

Reply put(LangGraph& graph, const Request& request) {
  if (member(request.body, "ttl") != "null") {
    return refuse(422, "not_offered", "ttl is not offered: items stay until they are deleted");
  }
  const Namespace where = labels(request, "namespace");
  if (where.empty()) {
    return text_response(400, "text/plain; charset=utf-8", "Namespace is required");
  }
  const auto done = graph.items.put(where, json_to_string(member(request.body, "key")).value_or(""),
                                    member(request.body, "value"));
  if (!done) return tl::unexpected(wording(done.error(), false));
  return no_content();
}

Reply get(LangGraph& graph, const Request& request) {
  const Namespace where = split(request.query("namespace").value_or(""));
  const auto found = graph.items.get(where, request.query("key").value_or(""));
  if (!found) return tl::unexpected(wording(found.error(), where.empty()));
  return json_response(found->value_or("null"));
}

Reply remove(LangGraph& graph, const Request& request) {
  const Namespace where = labels(request, "namespace");
  const auto done =
      graph.items.remove(where, json_to_string(member(request.body, "key")).value_or(""));
  if (!done) return tl::unexpected(wording(done.error(), where.empty()));
  return no_content();
}

Reply search(LangGraph& graph, const Request& request) {
  langgraph::ItemQuery query;
  query.prefix = labels(request, "namespace_prefix");
  if (std::string filter = member(request.body, "filter"); filter.starts_with('{')) {
    query.filter = std::move(filter);
  }
  query.query = json_to_string(member(request.body, "query")).value_or("");
  query.limit = number(request, "limit", 10);
  query.offset = number(request, "offset", 0);
  const auto found = graph.items.search(query);
  if (!found) return tl::unexpected(wording(found.error(), false));
  return json_response(JsonObject().add_json("items", json_array_of(*found)).str());
}

Reply namespaces(LangGraph& graph, const Request& request) {
  langgraph::NamespaceQuery query;
  query.prefix = labels(request, "prefix");
  query.suffix = labels(request, "suffix");
  if (const auto depth = json_to_int(member(request.body, "max_depth"))) {
    query.max_depth = static_cast<std::uint64_t>(*depth);
  }
  query.limit = number(request, "limit", 100);
  query.offset = number(request, "offset", 0);
  const auto found = graph.items.namespaces(query);
  if (!found) return tl::unexpected(wording(found.error(), false));
  std::vector<std::string> shown;
  for (const Namespace& where : *found) {
    std::vector<std::string> quoted;
    for (const std::string& label : where) quoted.push_back(Json::string(label).text());
    shown.push_back(json_array_of(quoted));
  }
  return json_response(JsonObject().add_json("namespaces", json_array_of(shown)).str());
}

#define SKEIN_LABELS R"({"type":"array","maxItems":32,"items":{"type":"string"}})"
#define SKEIN_PAGE                                                     \
  R"("limit":{"type":["integer","null"],"minimum":1,"maximum":1000},)" \
  R"("offset":{"type":["integer","null"],"minimum":0})"
constexpr const char* kPutBody =
    R"({"type":"object","required":["namespace","key","value"],"properties":{"namespace":)" SKEIN_LABELS
    R"(,"key":{"type":"string"},"value":{"type":"object"}}})";
constexpr const char* kDeleteBody =
    R"({"type":"object","required":["key"],"properties":{"namespace":)" SKEIN_LABELS
    R"(,"key":{"type":"string"}},"additionalProperties":false})";
constexpr const char* kSearchBody =
    R"({"type":"object","required":["namespace_prefix"],"properties":{"namespace_prefix":)" SKEIN_LABELS
    R"(,"filter":{"type":["object","null"]},"query":{"type":["string","null"]},)"
    R"("refresh_ttl":{"type":["boolean","null"]},)" SKEIN_PAGE R"(},"additionalProperties":false})";
constexpr const char* kNamespacesBody =
    R"({"type":"object","properties":{"prefix":)" SKEIN_LABELS R"(,"suffix":)" SKEIN_LABELS
    R"(,"max_depth":{"type":["integer","null"],"minimum":1},)" SKEIN_PAGE
    R"(},"additionalProperties":false})";
#undef SKEIN_LABELS
#undef SKEIN_PAGE

}  // namespace

void add_store_routes(const Shared& shared, std::vector<Route>& routes) {
  const auto add = [&](std::string method, std::string path, std::string name, std::string summary,
                       Access access, Reply (*answer)(LangGraph&, const Request&)) -> Route& {
    routes.push_back(make_route(
        std::move(method), std::move(path), std::move(name), "store", std::move(summary), access,
        for_all([shared, answer](const Request& request) { return answer(*shared, request); })));
    return routes.back();
  };
  add("PUT", "/store/items", "lgPutItem", "Keeps a value", Access::kWrite, put).body =
      BodySpec{kPutBody};
  Route& read = add("GET", "/store/items", "lgGetItem", "One value, or null", Access::kRead, get);
  read.strict_query = true;
  read.parameters = {{.name = "namespace",
                      .in = ParameterIn::kQuery,
                      .description = "labels, with periods between them"},
                     {.name = "key", .in = ParameterIn::kQuery, .description = "its key"},
                     {.name = "refresh_ttl",
                      .in = ParameterIn::kQuery,
                      .description = "without effect: items stay"}};
  add("DELETE", "/store/items", "lgDeleteItem", "Removes a value", Access::kWrite, remove).body =
      BodySpec{kDeleteBody};
  add("POST", "/store/items/search", "lgSearchItems", "Values below a namespace", Access::kRead,
      search)
      .body = BodySpec{kSearchBody};
  add("POST", "/store/namespaces", "lgListNamespaces", "Namespaces that have values", Access::kRead,
      namespaces)
      .body = BodySpec{kNamespacesBody};
}

}  // namespace skein::http
