// The page for people, at "/". It has no data: it asks /v1 for that, with the key of whoever looks
// at it, and so anybody may load it.
#pragma once

#include "http/route.h"

namespace skein::http {

RouteSet page_routes();

}  // namespace skein::http
