// Skein's own interface: /v1.
#pragma once

#include "api/service.h"
#include "http/route.h"

namespace skein::http {

// Borrows the service.
RouteSet v1_routes(Service& service);

}  // namespace skein::http
