// /metrics has what docs/server.md says, and nothing else.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>
#include <set>
#include <thread>

#include "http_fixture.h"
#include "support/git_sandbox.h"

namespace skein::test {
namespace {

using namespace std::chrono_literals;

std::set<std::string> all_matches(const std::string& text, const std::string& pattern) {
  const std::regex regex(pattern);
  std::set<std::string> found;
  for (std::sregex_iterator it(text.begin(), text.end(), regex), end; it != end; ++it) {
    found.insert((*it)[1]);
  }
  return found;
}

// The names in the table of the page.
std::set<std::string> documented() {
  const std::string page = get_file(SKEIN_SOURCE_DIR "/docs/server.md");
  return all_matches(page, R"(\n\| `((?:skein|process)_[a-z_]+)`)");
}

// The figure at the end of the first line that begins so.
double figure(const std::string& metrics, const std::string& begin) {
  const std::size_t at = metrics.find("\n" + begin);
  if (at == std::string::npos) {
    ADD_FAILURE() << "no " << begin << " in\n" << metrics;
    return -1;
  }
  const std::string line = metrics.substr(at + 1, metrics.find('\n', at + 1) - at - 1);
  return std::stod(line.substr(line.rfind(' ')));
}

TEST(HttpMetrics, HaveTheSeriesThatAreDocumentedAndNoOthers) {
  TestServer::Setup setup = with_test_routes();
  setup.background = true;
  setup.config = R"({"embedder":"none"})";
  TestServer server(std::move(setup));
  const std::string thread = "/test/threads/" + new_thread(server);
  for (int i = 0; i < 3; ++i) {
    ASSERT_EQ(server.ask("POST", thread + "/messages", message("hello")).status, 201);
  }
  HttpConnection stream(server.port());
  stream.send_request("GET", thread + "/events");
  ASSERT_EQ(stream.read_head().status, 200);
  ASSERT_TRUE(stream.next_event());
  std::string metrics;
  // The index is opened beside all else.
  while (metrics.find("\nskein_index_lag ") == std::string::npos) {
    metrics = server.ask("GET", "/metrics").body;
    std::this_thread::sleep_for(1ms);
  }
  const std::set<std::string> names = documented();
  EXPECT_EQ(all_matches(metrics, R"(# TYPE (\S+) )"), names);

  const std::string appended = R"({set="test",route="append")";
  EXPECT_EQ(figure(metrics, "skein_http_requests_total" + appended + R"(,status="2xx")"), 3);
  EXPECT_EQ(figure(metrics, "skein_http_request_seconds_bucket" + appended + R"(,le="+Inf")"), 3);
  EXPECT_EQ(figure(metrics, "skein_http_request_seconds_count" + appended), 3);
  EXPECT_GT(figure(metrics, "skein_http_request_seconds_sum" + appended), 0);
  EXPECT_EQ(figure(metrics, "skein_append_batch_size_sum "), 3);
  EXPECT_EQ(figure(metrics, "skein_appends_total "), 3);
  EXPECT_GE(figure(metrics, "skein_commit_size_sum "), 4);  // and the thread
  EXPECT_EQ(figure(metrics, "skein_http_streams "), 1);
  EXPECT_EQ(figure(metrics, "skein_http_under_way "), 2);  // with the one that asks
  EXPECT_EQ(figure(metrics, "skein_pool_queue "), 0);
  EXPECT_EQ(figure(metrics, "skein_append_queue "), 0);
  EXPECT_GE(figure(metrics, "skein_index_lag "), 0);
}

}  // namespace
}  // namespace skein::test
