#include "http/langgraph/routes.h"

#include "core/json_array.h"
#include "core/json_object.h"
#include "http/langgraph/shared.h"

namespace skein::http {
namespace {

// As the reference server words them: plain text, except where a request makes no sense.
Response plain_problem(const Problem& problem, std::string_view) {
  Response response;
  if (problem.status == 400) {
    const std::string issue = JsonObject()
                                  .add("code", problem.code)
                                  .add("message", problem.message)
                                  .add_json("path", "[]")
                                  .str();
    const std::string error = JsonObject()
                                  .add_json("issues", json_array_of({issue}))
                                  .add("name", "ValidationError")
                                  .str();
    response =
        json_response(400, JsonObject().add("success", false).add_json("error", error).str());
  } else {
    response = text_response(problem.status, "text/plain; charset=utf-8", problem.message);
  }
  response.headers.insert(response.headers.end(), problem.headers.begin(), problem.headers.end());
  return response;
}

}  // namespace

RouteSet langgraph_routes(Service& service) {
  const auto shared = std::make_shared<LangGraph>(service);
  RouteSet set;
  set.name = "langgraph";
  set.problems = plain_problem;
  set.in_openapi = false;      // its clients know it; docs/langgraph.md says what of it there is
  set.strict_queries = false;  // they send what other servers understand
  set.stop = [shared] { shared->stop(); };
  add_meta_routes(shared, set.routes);
  add_assistant_routes(shared, set.routes);
  add_search_routes(shared, set.routes);
  add_thread_routes(shared, set.routes);
  add_state_routes(shared, set.routes);
  add_run_routes(shared, set.routes);
  add_store_routes(shared, set.routes);
  add_cron_routes(shared, set.routes);
  add_command_routes(shared, set.routes);
  add_saver_routes(shared, set.routes);
  return set;
}

}  // namespace skein::http
