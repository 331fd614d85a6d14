#include "http/routes.h"

#include "http/langgraph/routes.h"
#include "http/mcp_routes.h"
#include "http/openapi.h"
#include "http/page.h"
#include "http/v1/routes.h"

namespace skein::http {

std::vector<RouteSet> all_routes(Service& service, Operations operations) {
  std::vector<RouteSet> sets;
  const bool mcp_fixtures = operations.mcp_fixtures;
  sets.push_back(operation_routes(std::move(operations)));
  sets.push_back(v1_routes(service));
  sets.push_back(langgraph_routes(service));
  sets.push_back(mcp_routes(service, mcp_fixtures));
  sets.push_back(page_routes());
  sets.push_back(openapi_routes(sets));
  return sets;
}

}  // namespace skein::http
