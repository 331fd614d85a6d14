// All routes that every server has.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "http/metrics.h"
#include "http/route.h"

namespace skein::http {

// What the routes of operations need to know of the server.
struct Operations {
  std::function<std::string()> metrics;  // as Prometheus reads them
  std::function<bool()> stopping;
  bool mcp_fixtures = false;  // as in Server::Parts
};

// /healthz, /readyz, /metrics.
RouteSet operation_routes(Operations operations);

// These, and those of every face. Borrows the service.
std::vector<RouteSet> all_routes(Service& service, Operations operations);

}  // namespace skein::http
