#include "api/usage.h"

#include "http/v1/common.h"
#include "http/v1/describe.h"
#include "http/v1/resources.h"

namespace skein::http::v1 {
namespace {

Result<UsageBy> parse_by(std::string_view text) {
  for (const UsageBy by : {UsageBy::kAgent, UsageBy::kDay, UsageBy::kModel, UsageBy::kThread}) {
    if (text == to_string(by)) return by;
  }
  return UsageBy::kAgent;
}

Reply get_usage(Service& service, Request& request) {
  UsageQuery query;
  SKEIN_ASSIGN_OR_REFUSE(const auto by, parsed(request, "by", parse_by));
  query.by = by.value_or(UsageBy::kAgent);
  SKEIN_ASSIGN_OR_REFUSE(query.split, parsed(request, "split", parse_by));
  if (query.split == query.by) {
    return refuse(400, "invalid", std::string("by and split are both ") + to_string(query.by));
  }
  SKEIN_ASSIGN_OR_REFUSE(query.since, request.query_time("since"));
  SKEIN_ASSIGN_OR_REFUSE(query.until, request.query_time("until"));
  SKEIN_ASSIGN_OR_REFUSE(const AgentScope scope, scope_of(request));
  if (scope.all) {
    SKEIN_ASSIGN_OR_REFUSE(const UsageReport report, usage_report(service.store(), query));
    return json_response(usage_json(report, query.by, query.split));
  }
  std::vector<UsageReport> reports;
  for (const std::string& agent : scope.agents) {
    query.agent_id = agent;
    SKEIN_ASSIGN_OR_REFUSE(UsageReport report, usage_report(service.store(), query));
    reports.push_back(std::move(report));
  }
  return json_response(usage_json(merged(reports), query.by, query.split));
}

}  // namespace

std::vector<Route> usage_routes() {
  std::vector<Route> routes;
  routes.push_back(
      {.method = "GET",
       .path = "/v1/usage",
       .name = "getUsage",
       .tag = "usage",
       .summary = "What runs cost, added up",
       .description = "What a fork shares with its parent counts once, and what deleted threads "
                      "cost still counts.",
       .access = Access::kRead,
       .agent = AgentOf::kHandler,
       .parameters = {in_query(
                          "by",
                          with_default(choice({"agent", "day", "model", "thread"}), "\"agent\""),
                          "What rows are added up by; days are those of UTC."),
                      in_query("split", choice({"agent", "day", "model", "thread"}),
                               "Divide each row by this, too: the model of each day."),
                      agent_parameter(), in_query("since", time(), "Not before."),
                      in_query("until", time(), "Before.")},
       .responses = {gives(200, "The rows, and all together.", named("UsageReport"))},
       .handler = get_usage});
  return routes;
}

}  // namespace skein::http::v1
