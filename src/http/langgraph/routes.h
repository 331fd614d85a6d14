// The API that the LangGraph SDK speaks, over Skein's own parts; docs/langgraph.md says what of it.
#pragma once

#include "http/route.h"

namespace skein::http {

RouteSet langgraph_routes(Service& service);

}  // namespace skein::http
