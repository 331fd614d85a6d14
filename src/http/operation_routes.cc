#include "core/try.h"
#include "http/routes.h"

namespace skein::http {
namespace {

constexpr const char* kStatusSchema = R"({"type":"object","required":["status"],
    "properties":{"status":{"type":"string"}}})";

Route health() {
  Route route;
  route.method = "GET";
  route.path = "/healthz";
  route.name = "health";
  route.tag = "operations";
  route.summary = "Whether the process answers";
  route.access = Access::kOpen;
  route.responses = {{200, "It does.", kStatusSchema}};
  route.runs_on = RunsOn::kIoThread;
  route.unlimited = true;
  route.handler = [](Service&, Request&) -> Reply {
    return json_response(std::string(R"({"status":"ok"})"));
  };
  return route;
}

Route readiness(std::function<bool()> stopping) {
  Route route;
  route.method = "GET";
  route.path = "/readyz";
  route.name = "readiness";
  route.tag = "operations";
  route.summary = "Whether requests can be sent here: the store can be read, and nobody stops it";
  route.access = Access::kOpen;
  route.responses = {{200, "They can.", kStatusSchema}, {503, "They cannot.", {}}};
  route.unlimited = true;
  route.handler = [stopping = std::move(stopping)](Service& service, Request&) -> Reply {
    if (stopping()) return refuse(503, "stopping", "the server stops");
    ScanRange range;
    range.collection = "keys";
    range.limit = 1;
    // Whatever is wrong with the store is not for everybody to read.
    if (!service.store().scan(range)) {
      return refuse(503, "not_ready", "the store cannot be read");
    }
    return json_response(std::string(R"({"status":"ready"})"));
  };
  return route;
}

Route metrics(std::function<std::string()> text) {
  Route route;
  route.method = "GET";
  route.path = "/metrics";
  route.name = "metrics";
  route.tag = "operations";
  route.summary = "Figures, as Prometheus reads them";
  route.access = Access::kRead;
  route.responses = {
      {200, "Counters, gauges and histograms.", R"({"type":"string"})", "text/plain"}};
  route.handler = [text = std::move(text)](Service&, Request&) -> Reply {
    return text_response(200, "text/plain; version=0.0.4; charset=utf-8", text());
  };
  return route;
}

}  // namespace

RouteSet operation_routes(Operations operations) {
  RouteSet set;
  set.name = "operations";
  set.routes.push_back(health());
  set.routes.push_back(readiness(std::move(operations.stopping)));
  set.routes.push_back(metrics(std::move(operations.metrics)));
  set.strict_queries = false;
  return set;
}

}  // namespace skein::http
