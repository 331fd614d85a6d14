#include "http/mcp_routes.h"

#include "core/try.h"
#include "mcp/catalogue.h"
#include "mcp/fixtures.h"
#include "mcp/http_server.h"
#include "mcp/server.h"

namespace skein::http {
namespace {

// An MCP server on what this one has.
struct McpFace {
  McpFace(Service& service, bool with_fixtures)
      : workspace({.settings = service.settings(),
                   .store = &service.store(),
                   .store_options = {},
                   .recall = [&service] { return service.recall(); },
                   .clock = &service.clock(),
                   .ids = &service.ids()}),
        server(workspace, catalogue(with_fixtures), {.lists_change = with_fixtures}),
        http(server, service.ids()) {
    hooks.tools_changed = [this] { server.watch().tools_changed(); };
    hooks.prompts_changed = [this] { server.watch().prompts_changed(); };
  }

  mcp::Catalogue catalogue(bool with_fixtures) {
    mcp::Catalogue all = mcp::workspace_catalogue(workspace);
    if (with_fixtures) mcp::add_fixtures(all, hooks);
    return all;
  }

  mcp::FixtureHooks hooks;
  mcp::Workspace workspace;
  mcp::Server server;
  mcp::HttpServer http;
};

// Frames as they are put into an outbox.
class OutboxStream final : public Stream {
 public:
  // A topic that nothing but this stream has wakes it.
  OutboxStream(std::shared_ptr<mcp::Outbox> outbox, Service& service)
      : outbox_(std::move(outbox)), topic_(ThreadId::from_bits(service.ids().next())) {
    outbox_->on_more([&wakes = service.wakes(), topic = topic_] { wakes.wake(topic); });
  }
  ~OutboxStream() override { outbox_->on_more({}); }

  std::vector<Topic> topics() const override { return {Topic::of(topic_)}; }

  Result<Pulled> pull(std::size_t max_bytes) override {
    auto taken = outbox_->take(max_bytes);
    Pulled pulled;
    for (std::string& frame : taken.frames) pulled.frames.push_back(share(std::move(frame)));
    pulled.more = taken.more;
    pulled.ended = taken.ended;
    return pulled;
  }

  void abandoned() override { outbox_->abandon(); }

 private:
  const std::shared_ptr<mcp::Outbox> outbox_;
  const ThreadId topic_;
};

mcp::Caller caller_of(const Request& request) {
  const Caller& caller = request.caller;
  std::string read_only = request.read_only;
  if (!caller.may(Access::kWrite)) read_only = "this key may only read";
  return {.key = caller.key_id,
          .read_only = std::move(read_only),
          .all_agents = caller.all_agents,
          .agents = caller.agents};
}

Response response_of(mcp::HttpReply reply, Service& service) {
  Response response;
  if (reply.stream) {
    response = stream_response(std::make_unique<OutboxStream>(std::move(reply.stream), service));
  } else if (!reply.body.empty()) {
    response = json_response(reply.status, std::move(reply.body));
  }
  response.status = reply.status;
  for (HttpHeader& header : reply.headers) response.headers.push_back(std::move(header));
  return response;
}

Route route_for(const std::shared_ptr<McpFace>& face, const char* method, const char* name,
                const char* summary) {
  Route route;
  route.method = method;
  route.path = "/mcp";
  route.name = name;
  route.tag = "mcp";
  route.summary = summary;
  route.access = Access::kRead;  // tools that write ask for more
  route.audited = route.method != "GET";
  route.agent = AgentOf::kHandler;
  if (route.method == "GET") route.goes_on = [](const Request&) { return true; };
  // What is wrong with a message is said in the protocol's own words.
  if (route.method == "POST") {
    route.body = BodySpec{.schema = "", .content_type = "application/octet-stream"};
  }
  route.handler = [face](Service& service, Request& request) -> Reply {
    mcp::HttpAsked asked{request.method, request.headers, std::move(request.body),
                         caller_of(request)};
    return answer_later([face, &service, asked = std::move(asked)](const Answer& answer) {
      face->http.handle(asked, [answer, &service](mcp::HttpReply reply) {
        answer(response_of(std::move(reply), service));
      });
    });
  };
  return route;
}

}  // namespace

RouteSet mcp_routes(Service& service, bool fixtures) {
  const auto face = std::make_shared<McpFace>(service, fixtures);
  RouteSet set;
  set.name = "mcp";
  set.prefix = "/mcp";
  set.in_openapi = false;
  set.stop = [face] { face->http.stop(); };
  set.routes = {route_for(face, "POST", "mcpMessage", "A message of the Model Context Protocol"),
                route_for(face, "GET", "mcpStream", "What belongs to no request (2025-11-25)"),
                route_for(face, "DELETE", "mcpEnd", "Ends a session (2025-11-25)")};
  return set;
}

}  // namespace skein::http
