// Assistants are the agents of the workspace. They are defined in files, and only read here.
#include <filesystem>
#include <utility>

#include "core/json_array.h"
#include "core/json_contains.h"
#include "core/json_fields.h"
#include "core/json_object.h"
#include "core/text.h"
#include "core/try.h"
#include "http/langgraph/listing.h"
#include "http/langgraph/shared.h"
#include "skein/agents.h"

namespace skein::http {
namespace {

constexpr std::string_view kVersion = "1.5.1";  // of the reference server, whose API this is
constexpr std::string_view kMetadata = R"({"created_by":"system"})";

std::string written_at(const LangGraph& graph, const AgentDefinition& agent) {
  std::error_code missing;
  const auto time = std::filesystem::last_write_time(agent.file, missing);
  if (agent.file.empty() || missing) return graph.started_at.str();
  const auto wall = std::chrono::file_clock::to_sys(time).time_since_epoch();
  return Timestamp::from_ms(std::chrono::floor<std::chrono::milliseconds>(wall).count()).str();
}

std::string assistant_json(const LangGraph& graph, const AgentDefinition& agent) {
  const std::string at = written_at(graph, agent);
  JsonObject object;
  object.add("assistant_id", assistant_uuid(agent.id))
      .add("graph_id", agent.id)
      .add("name", agent.id)
      .add_json("version", "1")
      .add_json("config", "{}")
      .add_json("context", "{}")
      .add_json("metadata", kMetadata)
      .add("created_at", at)
      .add("updated_at", at);
  if (agent.description.empty()) {
    object.add_json("description", "null");
  } else {
    object.add("description", agent.description);
  }
  return object.str();
}

std::vector<const AgentDefinition*> find_all(LangGraph& graph, const Request& request) {
  JsonFields body(request.body);
  const auto graph_id = body.take_string("graph_id");
  const auto name = body.take_string("name");
  const auto metadata = body.take_object("metadata");
  std::vector<const AgentDefinition*> found;
  for (const auto& [id, agent] : graph.service.agents().agents().all()) {
    if (!request.caller.sees(id)) continue;
    if (graph_id && *graph_id != id) continue;
    if (name && fold_text(id).find(fold_text(*name)) == std::string::npos) continue;
    if (metadata && !json_contains(kMetadata, *metadata)) continue;
    found.push_back(&agent);
  }
  return found;
}

Reply search(LangGraph& graph, const Request& request) {
  std::vector<std::string> found;
  for (const AgentDefinition* agent : find_all(graph, request)) {
    found.push_back(assistant_json(graph, *agent));
  }
  return listed(std::move(found), request.body);
}

// Calls `answer` with the assistant of the path.
Handler with_assistant(
    const Shared& shared,
    std::function<std::string(const LangGraph&, const AgentDefinition&, const Request&)> answer) {
  return [shared, answer = std::move(answer)](Service&, Request& request) -> Reply {
    const std::string& named = request.parameter("assistant_id");
    const auto agent = find_agent(*shared, request.caller, named);
    if (!agent) return tl::unexpected(no_assistant(named));
    SKEIN_ASSIGN(const auto definition, shared->service.agents().agents().get(*agent));
    return json_response(answer(*shared, definition, request));
  };
}

std::string graph_json(const LangGraph&, const AgentDefinition&, const Request&) {
  return R"({"nodes":[{"id":"__start__","type":"schema","data":"__start__"},)"
         R"({"id":"agent","type":"runnable","data":{"id":["skein","agent"],"name":"agent"}},)"
         R"({"id":"__end__","type":"schema","data":"__end__"}],)"
         R"("edges":[{"source":"__start__","target":"agent","conditional":false},)"
         R"({"source":"agent","target":"__end__","conditional":false}]})";
}

std::string schemas_json(const LangGraph&, const AgentDefinition& agent, const Request&) {
  constexpr std::string_view kState =
      R"({"type":"object","properties":{"messages":{"type":"array","items":{"type":"object"}}}})";
  constexpr std::string_view kConfig = R"({"type":"object","properties":{}})";
  return JsonObject()
      .add("graph_id", agent.id)
      .add_json("input_schema", kState)
      .add_json("output_schema", kState)
      .add_json("state_schema", kState)
      .add_json("config_schema", kConfig)
      .add_json("context_schema", kConfig)
      .str();
}

std::string versions_json(const LangGraph& graph, const AgentDefinition& agent,
                          const Request& request) {
  JsonFields asked(request.body.empty() ? std::string_view("{}") : request.body);
  const auto metadata = asked.take_object("metadata");
  if (metadata && !json_contains(kMetadata, *metadata)) return "[]";
  if (asked.take_int("offset").value_or(0) > 0) return "[]";
  JsonFields whole(assistant_json(graph, agent));
  whole.take_string("updated_at");
  return json_array_of({whole.rest().text()});
}

Reply read_only(Service&, Request&) {
  return refuse(422, "read_only",
                "assistants are the agents of the workspace: define them in its agents folder");
}

constexpr const char* kSearchBody =
    R"({"type":"object","properties":{"metadata":{"type":"object"},"graph_id":{"type":"string"},)"
    R"("name":{"type":"string"},"limit":{"type":"integer","minimum":1,"maximum":1000},)"
    R"("offset":{"type":"integer","minimum":0},"sort_by":{"enum":["assistant_id","graph_id",)"
    R"("created_at","updated_at","name"]},"sort_order":{"enum":["asc","desc"]},)"
    R"("select":{"type":"array","items":{"type":"string"}}},"additionalProperties":false})";

constexpr const char* kVersionsBody =
    R"({"type":"object","properties":{"metadata":{"type":["object","null"]},)"
    R"("limit":{"type":["integer","null"],"minimum":1,"maximum":1000},)"
    R"("offset":{"type":["integer","null"],"minimum":0}},"additionalProperties":false})";

}  // namespace

void add_meta_routes(const Shared&, std::vector<Route>& routes) {
  routes.push_back(
      make_route("GET", "/ok", "lgOk", "server", "Whether the server answers", Access::kOpen,
                 [](Service&, Request&) -> Reply { return json_response(R"({"ok":true})"); }));
  routes.push_back(make_route(
      "GET", "/info", "lgInfo", "server", "What the server offers", Access::kOpen,
      [](Service&, Request&) -> Reply {
        return json_response(
            JsonObject()
                .add("version", kVersion)
                .add("context", "skein")
                .add_json("flags", R"({"assistants":true,"crons":true,"langsmith":false})")
                .str());
      }));
}

void add_assistant_routes(const Shared& shared, std::vector<Route>& routes) {
  const auto add = [&](std::string method, std::string path, std::string name, std::string summary,
                       Access access, Handler handler) -> Route& {
    routes.push_back(make_route(std::move(method), std::move(path), std::move(name), "assistants",
                                std::move(summary), access, std::move(handler)));
    routes.back().agent = AgentOf::kHandler;
    return routes.back();
  };
  add("POST", "/assistants/search", "lgSearchAssistants", "Agents, as assistants", Access::kRead,
      [shared](Service&, Request& request) { return search(*shared, request); })
      .body = BodySpec{kSearchBody};
  add("POST", "/assistants/count", "lgCountAssistants", "How many agents there are", Access::kRead,
      [shared](Service&, Request& request) -> Reply {
        return json_response(std::to_string(find_all(*shared, request).size()));
      })
      .body = BodySpec{kSearchBody};
  const std::string one = "/assistants/{assistant_id}";
  add("GET", one, "lgGetAssistant", "One agent", Access::kRead,
      with_assistant(shared, [](const LangGraph& graph, const AgentDefinition& agent,
                                const Request&) { return assistant_json(graph, agent); }));
  add("GET", one + "/graph", "lgGetGraph", "Its graph: one node", Access::kRead,
      with_assistant(shared, graph_json));
  add("GET", one + "/schemas", "lgGetSchemas", "The schemas of its state", Access::kRead,
      with_assistant(shared, schemas_json));
  const auto none = [](const LangGraph&, const AgentDefinition&, const Request&) {
    return std::string("{}");
  };
  add("GET", one + "/subgraphs", "lgGetSubgraphs", "None", Access::kRead,
      with_assistant(shared, none));
  add("GET", one + "/subgraphs/{namespace}", "lgGetSubgraph", "None", Access::kRead,
      with_assistant(shared, none));
  add("POST", one + "/versions", "lgGetVersions", "The one version", Access::kRead,
      with_assistant(shared, versions_json))
      .body = BodySpec{kVersionsBody, false};
  const auto refuse_writing = [&](std::string method, std::string path, std::string name) {
    Route& route = add(std::move(method), std::move(path), std::move(name),
                       "Refused: agents are defined in files", Access::kAdmin, read_only);
    route.body = BodySpec{.schema = "", .required = false};
  };
  refuse_writing("POST", "/assistants", "lgCreateAssistant");
  refuse_writing("PATCH", one, "lgUpdateAssistant");
  refuse_writing("DELETE", one, "lgDeleteAssistant");
  refuse_writing("POST", one + "/latest", "lgSetLatest");
}

}  // namespace skein::http
