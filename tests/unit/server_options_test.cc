// The "server" object of the configuration.
#include <gtest/gtest.h>

#include "http/options.h"
#include "support/builders.h"
#include "support/expect.h"

namespace skein::test {
namespace {

TEST(ServerOptions, NamesThatWouldNeverMatchAreRefused) {
  for (const char* origin : {"*", "https://a.example/", "https://a.example/path", "a.example", "",
                             "https://*.example", "https://me@a.example"}) {
    EXPECT_TRUE(
        fails(http::read_server_options(json(R"({"origins":[")" + std::string(origin) + R"("]})")),
              ErrorCode::kInvalid, {"origins", origin}))
        << origin;
  }
  for (const char* host : {"*", "http://a.example", "a.example/", ""}) {
    EXPECT_TRUE(
        fails(http::read_server_options(json(R"({"hosts":[")" + std::string(host) + R"("]})")),
              ErrorCode::kInvalid, {"hosts", host}))
        << host;
  }
  const auto options = must(http::read_server_options(
      json(R"({"origins":["https://a.example","http://localhost:3000","vscode-webview://x1"],)"
           R"("hosts":["a.example","a.example:8080","[::1]:7171"]})")));
  EXPECT_EQ(options.origins.size(), 3U);
  EXPECT_EQ(options.hosts.size(), 3U);
}

}  // namespace
}  // namespace skein::test
