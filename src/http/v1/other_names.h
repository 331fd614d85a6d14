// Names of the thread manager's API (agent_id, content, initialMessages, input.messages, order by
// "newest") that requests may use beside ours. docs/rest.md has the table.
#pragma once

#include "http/request.h"
#include "http/route.h"

namespace skein::http::v1 {

// Gives members and parameters of the request our names, before anything is checked. What has our
// names stays as it is, so that doing it twice changes nothing. kInvalid: one thing by two names.
Result<void> use_our_names(const Route& route, Request& request);

}  // namespace skein::http::v1
