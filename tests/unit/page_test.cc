// The page as the server hands it out. What it does is tested in tests/browser.
#include "http/page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>

#include "http/page_files.h"
#include "support/http_server.h"

namespace skein::test {
namespace {

using testing::HasSubstr;
using testing::Not;

// The address of its script, which changes with its content.
std::string script_of(const std::string& page) {
  std::smatch found;
  return std::regex_search(page, found, std::regex("src=\"(/assets/[^\"]+\\.js)\""))
             ? found[1].str()
             : "";
}

TEST(Page, IsForEverybodyAlsoWhereDataNeedsAKey) {
  TestServer server;
  server.make_key(http::Access::kRead);
  const Answered page = server.ask("GET", "/");
  EXPECT_EQ(page.status, 200);
  EXPECT_THAT(page.header("Content-Type"), HasSubstr("text/html"));
  EXPECT_THAT(page.body, HasSubstr("<div id=\"page\">"));
  const Answered script = server.ask("GET", script_of(page.body));
  EXPECT_EQ(script.status, 200);
  EXPECT_THAT(script.header("Content-Type"), HasSubstr("text/javascript"));
}

TEST(Page, HasAPolicyThatLetsNothingInlineOrForeignIn) {
  TestServer server;
  const Answered page = server.ask("GET", "/?from=somewhere");
  const std::string policy = page.header("Content-Security-Policy");
  EXPECT_THAT(policy, HasSubstr("default-src 'none'"));
  EXPECT_THAT(policy, HasSubstr("script-src 'self'"));
  EXPECT_THAT(policy, HasSubstr("frame-ancestors 'none'"));
  EXPECT_THAT(policy, Not(HasSubstr("unsafe")));
  EXPECT_THAT(page.body, Not(HasSubstr("<style")));
  // Its scripts have addresses, and nothing between their tags.
  EXPECT_FALSE(std::regex_search(page.body, std::regex("<script[^>]*>[^<]")));
  EXPECT_EQ(page.header("Referrer-Policy"), "no-referrer");
}

TEST(Page, IsAskedForAgainWhileItsAssetsAreKeptForEver) {
  TestServer server;
  HttpConnection connection(server.port());
  const Answered page = connection.ask("GET", "/");
  EXPECT_EQ(page.header("Cache-Control"), "no-cache");
  const std::string etag = page.header("ETag");
  ASSERT_FALSE(etag.empty());
  const Answered again = connection.ask("GET", "/", {}, {{"If-None-Match", etag}});
  EXPECT_EQ(again.status, 304);
  EXPECT_EQ(again.body, "");
  EXPECT_EQ(connection.ask("GET", "/", {}, {{"If-None-Match", "\"another\""}}).status, 200);
  const Answered script = connection.ask("GET", script_of(page.body));
  EXPECT_THAT(script.header("Cache-Control"), HasSubstr("immutable"));
}

TEST(Page, IsCompressedForThoseWhoCanReadThat) {
  TestServer server;
  HttpConnection connection(server.port());
  const std::string script = script_of(connection.ask("GET", "/").body);
  const Answered plain = connection.ask("GET", script);
  EXPECT_EQ(plain.header("Content-Encoding"), "");
  const Answered small = connection.ask("GET", script, {}, {{"Accept-Encoding", "br, gzip"}});
  EXPECT_EQ(small.header("Content-Encoding"), "gzip");
  EXPECT_EQ(small.header("Vary"), "Accept-Encoding");
  EXPECT_LT(small.body.size(), plain.body.size() / 2);
  const Answered none = connection.ask("GET", script, {}, {{"Accept-Encoding", "gzip;q=0"}});
  EXPECT_EQ(none.header("Content-Encoding"), "");
}

TEST(Page, IsSmall) {
  std::size_t bytes = 0;
  for (const http::PageFile& file : http::page_files()) {
    if (file.path == "/licences.txt") continue;
    bytes += file.gzipped.empty() ? file.bytes.size() : file.gzipped.size();
  }
  EXPECT_GT(bytes, 10'000U);
  EXPECT_LT(bytes, 250'000U);
}

}  // namespace
}  // namespace skein::test
