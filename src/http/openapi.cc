#include "http/openapi.h"

#include <algorithm>
#include <map>

#include "core/json_array.h"
#include "core/json_object.h"
#include "http/response.h"

namespace skein::http {
namespace {

// By name, so that the text stays the same wherever a set comes first.
using Members = std::map<std::string, std::string>;

std::string object_json(const Members& members) {
  JsonObject object;
  for (const auto& [name, json] : members) object.add_json(name, json);
  return object.str();
}

const char* place_of(ParameterIn in) {
  switch (in) {
    case ParameterIn::kPath:
      return "path";
    case ParameterIn::kHeader:
      return "header";
    case ParameterIn::kQuery:
      break;
  }
  return "query";
}

std::string parameter_json(const Parameter& parameter) {
  JsonObject object;
  object.add("name", parameter.name).add("in", place_of(parameter.in));
  if (!parameter.description.empty()) object.add("description", parameter.description);
  if (parameter.required) object.add("required", true);
  if (!parameter.repeated) return object.add_json("schema", parameter.schema).str();
  return object
      .add_json("schema",
                JsonObject().add("type", "array").add_json("items", parameter.schema).str())
      .str();
}

// "{thread_id}" of a path, whether the route describes it or not.
std::vector<std::string> names_in(std::string_view path) {
  std::vector<std::string> names;
  for (std::size_t at = path.find('{'); at != std::string_view::npos; at = path.find('{', at + 1)) {
    std::string name(path.substr(at + 1, path.find('}', at) - at - 1));
    if (name.ends_with("...")) name.resize(name.size() - 3);
    names.push_back(std::move(name));
  }
  return names;
}

std::string parameters_json(const Route& route) {
  std::vector<std::string> parameters;
  for (const std::string& name : names_in(route.path)) {
    const auto described = std::find_if(
        route.parameters.begin(), route.parameters.end(),
        [&](const Parameter& one) { return one.in == ParameterIn::kPath && one.name == name; });
    Parameter parameter;
    if (described != route.parameters.end()) parameter = *described;
    parameter.name = name;
    parameter.in = ParameterIn::kPath;
    parameter.required = true;
    parameters.push_back(parameter_json(parameter));
  }
  for (const Parameter& parameter : route.parameters) {
    if (parameter.in != ParameterIn::kPath) parameters.push_back(parameter_json(parameter));
  }
  return json_array_of(parameters);
}

std::string content_json(const std::string& type, const std::string& schema) {
  const std::string described =
      JsonObject().add_json("schema", schema.empty() ? "{}" : schema).str();
  return JsonObject().add_json(type, described).str();
}

std::string responses_json(const Route& route) {
  Members responses;
  for (const ResponseSpec& response : route.responses) {
    JsonObject object;
    object.add("description", response.description.empty()
                                  ? std::string(reason_phrase(response.status))
                                  : response.description);
    if (!response.schema.empty()) {
      object.add_json("content", content_json(response.content_type, response.schema));
    }
    responses[std::to_string(response.status)] = object.str();
  }
  if (responses.empty()) responses["200"] = JsonObject().add("description", "OK").str();
  return object_json(responses);
}

std::string operation_json(const RouteSet& set, const Route& route) {
  JsonObject object;
  object.add("operationId", set.name == "v1" ? route.name : set.name + "_" + route.name);
  object.add("tags", std::vector<std::string>{route.tag});
  object.add("summary", route.summary);
  std::string description = route.description;
  if (route.access != Access::kOpen) {
    description += (description.empty() ? "" : " ") + std::string("Needs the right `") +
                   to_string(route.access) + "`.";
  }
  if (!description.empty()) object.add("description", description);
  if (const std::string parameters = parameters_json(route); parameters != "[]") {
    object.add_json("parameters", parameters);
  }
  if (route.body) {
    object.add_json("requestBody", JsonObject()
                                       .add("required", route.body->required)
                                       .add_json("content", content_json(route.body->content_type,
                                                                         route.body->schema))
                                       .str());
  }
  object.add_json("responses", responses_json(route));
  if (route.access == Access::kOpen) object.add_json("security", "[]");
  return object.str();
}

// "/a/{rest...}" as OpenAPI has it.
std::string template_of(std::string path) {
  if (const std::size_t dots = path.find("...}"); dots != std::string::npos) path.erase(dots, 3);
  return path;
}

std::string tags_json(const std::vector<RouteSet>& sets) {
  std::vector<std::string> names;
  std::vector<std::string> tags;
  for (const RouteSet& set : sets) {
    if (!set.in_openapi) continue;
    for (const Route& route : set.routes) {
      if (std::find(names.begin(), names.end(), route.tag) != names.end()) continue;
      names.push_back(route.tag);
      tags.push_back(JsonObject().add("name", route.tag).str());
    }
  }
  return json_array_of(tags);
}

std::string lower(std::string text) {
  for (char& c : text) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  return text;
}

}  // namespace

std::string openapi_document(const std::vector<RouteSet>& sets) {
  std::map<std::string, Members> paths;
  Members schemas;
  for (const RouteSet& set : sets) {
    if (!set.in_openapi) continue;
    for (const Route& route : set.routes) {
      paths[template_of(route.path)][lower(route.method)] = operation_json(set, route);
    }
    for (const auto& [name, json] : set.schemas) schemas.emplace(name, json);
  }
  JsonObject items;
  for (const auto& [path, operations] : paths) items.add_json(path, object_json(operations));
  const std::string bearer =
      JsonObject()
          .add_json("key", JsonObject()
                               .add("type", "http")
                               .add("scheme", "bearer")
                               .add("description",
                                    "A key that `skein key create` printed. Not needed on a "
                                    "server without keys.")
                               .str())
          .str();
  return JsonObject()
      .add("openapi", "3.1.0")
      .add_json(
          "info",
          JsonObject()
              .add("title", "Skein")
              .add("version", "1")
              .add("description", "Durable memory for AI agents.")
              .add_json(
                  "license",
                  JsonObject().add("name", "Apache-2.0").add("identifier", "Apache-2.0").str())
              .str())
      .add_json("servers", R"([{"url":"/"}])")
      .add_json("security", R"([{"key":[]}])")
      .add_json("tags", tags_json(sets))
      .add_json("paths", items.str())
      .add_json("components", JsonObject()
                                  .add_json("schemas", object_json(schemas))
                                  .add_json("securitySchemes", bearer)
                                  .str())
      .str();
}

RouteSet openapi_routes(const std::vector<RouteSet>& sets) {
  const Bytes document = share(openapi_document(sets));
  const Bytes page = share(docs_page(sets));
  RouteSet set;
  set.name = "about";
  set.in_openapi = false;
  set.routes.push_back({.method = "GET",
                        .path = "/openapi.json",
                        .name = "openapi",
                        .tag = "about",
                        .summary = "This interface, as OpenAPI 3.1",
                        .access = Access::kOpen,
                        .runs_on = RunsOn::kIoThread,
                        .handler = [document](Service&, Request&) -> Reply {
                          return json_response(200, document);
                        }});
  set.routes.push_back({.method = "GET",
                        .path = "/docs",
                        .name = "docs",
                        .tag = "about",
                        .summary = "This interface, for people",
                        .access = Access::kOpen,
                        .runs_on = RunsOn::kIoThread,
                        .handler = [page](Service&, Request&) -> Reply {
                          Response response = text_response(200, "text/html; charset=utf-8", "");
                          response.body = page;
                          // The page brings its style, and nothing else is loaded or run.
                          response.header("Content-Security-Policy",
                                          "default-src 'none'; style-src 'unsafe-inline'; "
                                          "base-uri 'none'; form-action 'none'");
                          return response;
                        }});
  return set;
}

}  // namespace skein::http
