// A server with a few routes of the tests' own.
#pragma once

#include <atomic>
#include <memory>

#include "core/json_object.h"
#include "core/try.h"
#include "http/thread_stream.h"
#include "support/http_server.h"

namespace skein::test {

inline http::Route route(std::string method, std::string path, std::string name,
                         http::Access access, http::Handler handler) {
  http::Route made;
  made.method = std::move(method);
  made.path = std::move(path);
  made.name = std::move(name);
  made.tag = "test";
  made.summary = "A route of the tests.";
  made.access = access;
  made.handler = std::move(handler);
  return made;
}

// POST /test/threads/{thread_id}/messages {"text":…} appends by the pump,
// GET  /test/threads/{thread_id}/events is the stream of its events,
// POST /test/echo answers its body, GET /test/large answers ?bytes=N of them,
// GET  /test/agents/{agent_id} is for who sees that agent.
inline http::RouteSet test_routes(
    const std::shared_ptr<std::unique_ptr<http::ThreadFrames>>& frames =
        std::make_shared<std::unique_ptr<http::ThreadFrames>>()) {
  using http::Access;
  http::RouteSet set;
  set.name = "test";
  set.prefix = "/test/";
  auto append = route("POST", "/test/threads/{thread_id}/messages", "append", Access::kWrite,
                      [](Service& service, http::Request& request) -> http::Reply {
                        SKEIN_ASSIGN(Event event, parse_event(request.body));
                        std::vector<Append> appends;
                        appends.push_back({*request.thread_id, std::move(event), {}, {}});
                        return http::answer_later([&service, appends](http::Answer answer) mutable {
                          const auto taken = service.pump().submit(
                              std::move(appends), [answer](std::vector<Result<Appended>> results) {
                                if (!results[0]) {
                                  return answer(tl::unexpected(http::Problem(results[0].error())));
                                }
                                JsonObject done;
                                done.add("seq", results[0]->seq);
                                answer(http::json_response(201, done.str()));
                              });
                          if (!taken) answer(tl::unexpected(http::Problem(taken.error())));
                        });
                      });
  append.agent = http::AgentOf::kThread;
  append.runs_on = http::RunsOn::kIoThread;
  append.body = http::BodySpec{.schema = R"({"type":"object","required":["text"]})"};
  set.routes.push_back(std::move(append));

  auto events = route("GET", "/test/threads/{thread_id}/events", "events", Access::kRead,
                      [frames](Service& service, http::Request& request) -> http::Reply {
                        static std::mutex mutex;
                        const std::lock_guard lock(mutex);
                        if (!*frames) {
                          *frames = std::make_unique<http::ThreadFrames>(service.store());
                        }
                        const auto after = request.header("last-event-id");
                        return http::stream_response(http::thread_stream(
                            **frames, *request.thread, after ? std::stoull(*after) : 0));
                      });
  events.agent = http::AgentOf::kThread;
  set.routes.push_back(std::move(events));

  auto echo = route("POST", "/test/echo", "echo", Access::kWrite,
                    [](Service&, http::Request& request) -> http::Reply {
                      return http::json_response(request.body);
                    });
  echo.body = http::BodySpec{.schema = "", .required = true};
  set.routes.push_back(std::move(echo));

  auto large =
      route("GET", "/test/large", "large", Access::kRead,
            [](Service&, http::Request& request) -> http::Reply {
              SKEIN_ASSIGN(const auto bytes, request.query_number("bytes", 0, 100 << 20));
              return http::text_response(200, "text/plain", std::string(bytes.value_or(0), 'x'));
            });
  large.parameters = {{.name = "bytes",
                       .in = http::ParameterIn::kQuery,
                       .description = "how many",
                       .schema = R"({"type":"integer","minimum":0})"}};
  set.routes.push_back(std::move(large));

  auto agent = route("GET", "/test/agents/{agent_id}", "agent", Access::kRead,
                     [](Service&, http::Request&) -> http::Reply { return http::no_content(); });
  agent.agent = http::AgentOf::kPath;
  set.routes.push_back(std::move(agent));
  set.routes.push_back(
      route("DELETE", "/test/everything", "everything", Access::kAdmin,
            [](Service&, http::Request&) -> http::Reply { return http::no_content(); }));
  return set;
}

inline TestServer::Setup with_test_routes(http::ServerOptions options = {}) {
  TestServer::Setup setup;
  setup.options = std::move(options);
  setup.more_routes.push_back(test_routes());
  return setup;
}

inline std::string new_thread(TestServer& server, const std::string& agent = "helper") {
  const auto made = server.service().threads().create({.agent_id = agent});
  EXPECT_TRUE(made.has_value()) << made.error().message;
  return made->id.str();
}

inline std::string message(const std::string& text) {
  return JsonObject().add("role", "user").add("text", text).str();
}

}  // namespace skein::test
