#include "api/agents.h"

#include "core/json_array.h"
#include "core/json_object.h"
#include "http/v1/common.h"
#include "http/v1/describe.h"
#include "http/v1/resources.h"

namespace skein::http::v1 {
namespace {

Reply list_agents(Service& service, Request& request) {
  const Agents& agents = service.agents().agents();
  std::vector<std::string> shown;
  for (const auto& [id, agent] : agents.all()) {
    if (request.caller.sees(id)) shown.push_back(agent_json(agent));
  }
  std::vector<std::string> problems;
  for (const AgentProblem& problem : agents.problems()) {
    if (request.caller.all_agents) problems.push_back(agent_problem_json(problem));
  }
  return json_response(JsonObject()
                           .add_json("agents", json_array_of(shown))
                           .add_json("problems", json_array_of(problems))
                           .str());
}

Reply get_agent(Service& service, Request& request) {
  const std::string& id = request.parameter("agent_id");
  SKEIN_TRY_OR_REFUSE(check_agent_id(id));
  SKEIN_ASSIGN_OR_REFUSE(const AgentDefinition agent, service.agents().agents().get(id));
  return json_response(agent_json(agent));
}

}  // namespace

std::vector<Route> agent_routes() {
  std::vector<Route> routes;
  routes.push_back({.method = "GET",
                    .path = "/v1/agents",
                    .name = "listAgents",
                    .tag = "agents",
                    .summary = "The agents of the workspace that the key sees",
                    .access = Access::kRead,
                    .agent = AgentOf::kHandler,
                    .responses = {gives(200, "The agents.", named("AgentList"))},
                    .handler = list_agents});
  routes.push_back({.method = "GET",
                    .path = "/v1/agents/{agent_id}",
                    .name = "getAgent",
                    .tag = "agents",
                    .summary = "An agent's definition, as it is understood",
                    .access = Access::kRead,
                    .agent = AgentOf::kPath,
                    .responses = {gives(200, "The agent.", named("Agent"))},
                    .handler = get_agent});
  return routes;
}

}  // namespace skein::http::v1
