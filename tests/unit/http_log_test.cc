// What the server logs of requests that go wrong in it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json/parse.hpp>
#include <mutex>
#include <stdexcept>

#include "http_fixture.h"

namespace skein::test {
namespace {

using testing::ElementsAre;

TEST(HttpLog, HasTheRequestOfAnExceptionAsAField) {
  std::mutex mutex;
  std::vector<boost::json::object> lines;
  TestServer::Setup setup = with_test_routes();
  setup.log = [&](std::string_view line) {
    const std::lock_guard lock(mutex);
    lines.push_back(boost::json::parse(line).as_object());
  };
  setup.more_routes[0].routes.push_back(route("GET", "/test/throws", "throws", http::Access::kRead,
                                              [](Service&, http::Request&) -> http::Reply {
                                                throw std::runtime_error(
                                                    "it broke at \xff and \n there");
                                              }));
  TestServer server(std::move(setup));
  const Answered answered = server.ask("GET", "/test/throws");
  EXPECT_EQ(answered.status, 500);
  server.server().stop();
  std::vector<std::string> messages;
  for (const auto& line : lines) {
    const auto* request = line.if_contains("request");
    if (request == nullptr || !line.contains("message")) continue;
    EXPECT_EQ(request->as_string(), answered.header("x-request-id"));
    messages.emplace_back(line.at("message").as_string());
  }
  EXPECT_THAT(messages, ElementsAre("the request failed: it broke at \xEF\xBF\xBD and \n there"));
}

}  // namespace
}  // namespace skein::test
