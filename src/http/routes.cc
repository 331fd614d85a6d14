#include "http/routes.h"

namespace skein::http {

std::vector<RouteSet> all_routes(Service& /*service*/, Operations operations) {
  std::vector<RouteSet> sets;
  sets.push_back(operation_routes(std::move(operations)));
  return sets;
}

}  // namespace skein::http
