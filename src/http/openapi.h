// What the server tells about itself: an OpenAPI 3.1 document and a page for people, both written
// from the routes.
#pragma once

#include <string>
#include <vector>

#include "http/route.h"

namespace skein::http {

// One JSON object, of all sets that are to be in it.
std::string openapi_document(const std::vector<RouteSet>& sets);

// The same for people: HTML that needs nothing else, and runs nothing.
std::string docs_page(const std::vector<RouteSet>& sets);

// /openapi.json and /docs. They tell what everybody may read in the program's source, and need no
// key.
RouteSet openapi_routes(const std::vector<RouteSet>& sets);

}  // namespace skein::http
