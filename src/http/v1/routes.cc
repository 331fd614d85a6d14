#include "http/v1/routes.h"

#include "http/v1/describe.h"
#include "http/v1/named_shapes.h"
#include "http/v1/other_names.h"
#include "http/v1/resources.h"

namespace skein::http {

RouteSet v1_routes(Service& service) {
  const auto frames = std::make_shared<ThreadFrames>(service.store());
  RouteSet set;
  set.name = "v1";
  set.prefix = "/v1/";
  set.schemas = v1::named_shapes();
  set.translate = v1::use_our_names;
  for (std::vector<Route>& part : std::vector<std::vector<Route>>{
           v1::thread_routes(), v1::event_routes(frames), v1::context_routes(), v1::feed_routes(),
           v1::run_routes(), v1::run_stream_routes(), v1::recall_routes(), v1::item_routes(),
           v1::session_routes(), v1::checkpoint_routes(), v1::usage_routes(), v1::task_routes(),
           v1::trigger_routes(), v1::agent_routes()}) {
    for (Route& route : part) set.routes.push_back(v1::finished(std::move(route)));
  }
  return set;
}

}  // namespace skein::http
