// The Model Context Protocol at /mcp: Streamable HTTP on this server.
#pragma once

#include "http/route.h"

namespace skein::http {

// Borrows the service. `fixtures`: also what the protocol's conformance suites call.
RouteSet mcp_routes(Service& service, bool fixtures = false);

}  // namespace skein::http
