// The server as a program: how it starts and stops, who may in, and who cannot hurt it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <boost/json/parse.hpp>
#include <thread>

#include "serving.h"
#include "support/postgres_server.h"

namespace skein::test {
namespace {

using testing::HasSubstr;
using testing::Not;
using namespace std::chrono_literals;

TEST(Serve, AnswersUntilItIsAskedToStop) {
  const Workspace workspace;
  Serving server(workspace);
  EXPECT_EQ(server.ask("GET", "/healthz").body, R"({"status":"ok"})");
  EXPECT_EQ(server.ask("GET", "/readyz").body, R"({"status":"ready"})");
  EXPECT_EQ(server.figure("skein_http_connections"), 1);
  HttpConnection idle(server.port());
  EXPECT_EQ(idle.ask("GET", "/healthz").status, 200);
  const Ran ran = server.stop();
  EXPECT_EQ(ran.code, 0) << ran;
  EXPECT_THAT(ran.err, HasSubstr(R"("message":"stopped")"));
  EXPECT_TRUE(idle.wait_for_close());
}

TEST(Serve, CountsTheCommitsOfItsStore) {
  const Workspace workspace;
  const Serving server(workspace);
  const auto before = server.figure("skein_commit_size_count");
  for (int i = 0; i < 3; ++i) ASSERT_EQ(server.ask("POST", "/threads", "{}").status, 200);
  EXPECT_GE(server.figure("skein_commit_size_count"), before + 3);
}

TEST(Serve, RefusesAnAddressOfOthersWithoutKeysAndSaysWhy) {
  const Workspace workspace;
  const Ran refused = workspace.run({"serve", "--address", "0.0.0.0", "--port", "0"});
  EXPECT_EQ(refused.code, 1) << refused;
  EXPECT_THAT(refused.err, HasSubstr("skein key create"));
  const std::string key =
      workspace.run({"key", "create", "--access", "admin", "--name", "laptop"}).out_line();
  Serving server(workspace, {"--address", "0.0.0.0"});
  EXPECT_EQ(server.ask("GET", "/metrics").status, 401);
  EXPECT_EQ(server.ask("GET", "/metrics", {}, key).status, 200);
}

TEST(Serve, KeysAreMadeListedAndRevokedWhileItServes) {
  const Workspace workspace;
  Serving server(workspace);
  EXPECT_EQ(server.ask("GET", "/metrics").status, 200);
  const Ran made = workspace.run(
      {"key", "create", "--access", "write", "--agent", "helper", "--name", "laptop", "--json"});
  ASSERT_EQ(made.code, 0) << made;
  const std::string key(made.json().at("key").as_string());
  const std::string id(made.json().at("id").as_string());
  while (server.ask("GET", "/metrics").status == 200) std::this_thread::sleep_for(10ms);
  EXPECT_EQ(server.ask("GET", "/metrics").status, 401);
  EXPECT_EQ(server.ask("GET", "/metrics", {}, key).status, 200);

  const Ran listed = workspace.run({"key", "list"});
  EXPECT_THAT(listed.out, HasSubstr("laptop"));
  EXPECT_THAT(listed.out, HasSubstr("helper"));
  EXPECT_THAT(listed.out, Not(HasSubstr(key.substr(19))));
  EXPECT_EQ(workspace.run({"key", "revoke", id}).code, 0);
  EXPECT_EQ(workspace.run({"key", "revoke", "000000000000"}).code, 3);
  const Ran unknown = workspace.run({"key", "revoke", "skein_000000000000_0123456789"});
  EXPECT_EQ(unknown.code, 3);
  EXPECT_THAT(unknown.err, AllOf(HasSubstr("\"000000000000\""), Not(HasSubstr("0123456789"))));
  while (server.ask("GET", "/metrics", {}, key).status == 200) std::this_thread::sleep_for(10ms);
  EXPECT_EQ(server.ask("GET", "/metrics").status, 401);
  const Ran ran = server.stop();
  EXPECT_THAT(ran.err, Not(HasSubstr(key.substr(19))));
}

TEST(Serve, SaysWhatIsWrongWithItsConfiguration) {
  const Workspace workspace;
  workspace.run({"thread", "create"});
  workspace.write("server.json", R"({"server":{"port":"many","ports":1}})");
  const Ran ran = workspace.run({"--config", "server.json", "serve"});
  EXPECT_EQ(ran.code, 2) << ran;
  EXPECT_THAT(ran.err, HasSubstr("server.port"));
  EXPECT_EQ(workspace.run({"serve", "--address", "nowhere"}).code, 1);
}

TEST(Serve, TakesItsConfigurationFromTheFileThatIsNamed) {
  const Workspace workspace;
  workspace.write(".skein/config.json", R"({"server":{"maxBodyBytes":1000000}})");
  workspace.write("other.json", R"({"server":{"maxBodyBytes":1024,"hosts":["skein.example"]}})");
  const Serving server(workspace, {"--config", (workspace.path() / "other.json").string()});
  EXPECT_EQ(server.ask("POST", "/v1/threads", std::string(1025, ' ')).status, 413);
  HttpConnection connection(server.port());
  connection.send("GET /healthz HTTP/1.1\r\nHost: skein.example\r\n\r\n");
  EXPECT_EQ(connection.read_answer().status, 200);
  const Ran refused = workspace.run({"serve", "--config", "absent.json"});
  EXPECT_NE(refused.code, 0);
  EXPECT_THAT(refused.err, HasSubstr("absent.json"));
}

TEST(Serve, NeverShowsThePasswordOfItsStore) {
  const Workspace workspace;
  const PostgresTables tables;
  const std::string url = tables.url() + "&password=secret";
  for (const bool json : {false, true}) {
    std::vector<std::string> arguments = {"serve", "--port", "0", "--store", url};
    if (json) arguments.push_back("--json");
    Running server = workspace.start(arguments);
    const std::string first = server.read_line().value_or("");
    server.signal(SIGTERM);
    const Ran ran = server.finish();
    EXPECT_EQ(ran.code, 0) << ran;
    EXPECT_THAT(first, HasSubstr("password=***"));
    EXPECT_THAT(first + ran.out + ran.err, Not(HasSubstr("secret")));
  }
}

TEST(Serve, APortThatIsTakenIsAnError) {
  const Workspace workspace;
  const Serving server(workspace);
  const Workspace other;
  const Ran ran = other.run({"serve", "--port", std::to_string(server.port())});
  EXPECT_EQ(ran.code, 1) << ran;
  EXPECT_THAT(ran.err, AllOf(HasSubstr("cannot listen"), HasSubstr("--port names another")));
}

// Lets this process have as many connections; the reason why not, if the system does not let it.
std::string make_room_for(std::size_t connections) {
  constexpr std::size_t kOthers = 1'000;
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  if (limit.rlim_max < connections + kOthers) {
    return "RLIMIT_NOFILE (ulimit -Hn) is " + std::to_string(limit.rlim_max) + "; " +
           std::to_string(connections) + " connections need " +
           std::to_string(connections + kOthers);
  }
  limit.rlim_cur = limit.rlim_max;
  return ::setrlimit(RLIMIT_NOFILE, &limit) == 0 ? "" : "RLIMIT_NOFILE cannot be raised";
}

TEST(Serve, TenThousandConnectionsDoNotKeepItFromAnswering) {
  constexpr std::size_t count = 10'000;
  const std::string refusal = make_room_for(count);
  ASSERT_EQ(refusal, "");
  const Workspace workspace;
  workspace.run({"thread", "create"});
  workspace.write(".skein/config.json",
                  R"({"server":{"headerTimeoutMs":600000,"idleTimeoutMs":600000}})");
  Serving server(workspace);
  const double before = server.resident_mb();
  std::vector<std::unique_ptr<HttpConnection>> all;
  for (std::size_t i = 0; i < count; ++i) {
    all.push_back(std::make_unique<HttpConnection>(server.port()));
    // A third of them has said nothing, a third half a request, a third a whole one.
    if (i % 3 == 1) all.back()->send("GET /healthz HTTP/1.1\r\nHost: ");
    if (i % 3 == 2) all.back()->send_request("GET", "/healthz");
  }
  for (std::size_t i = 2; i < count; i += 3) ASSERT_EQ(all[i]->read_answer().status, 200) << i;
  EXPECT_GE(server.figure("skein_http_connections"), static_cast<double>(count));
  EXPECT_LT(server.resident_mb() - before, 200);
  // Those that had said half of it are still understood.
  all[1]->send("localhost\r\n\r\n");
  EXPECT_EQ(all[1]->read_answer().status, 200);
}

TEST(Serve, ABodyOfAGigabyteIsNeitherReadNorKept) {
  const Workspace workspace;
  Serving server(workspace);
  const double before = server.resident_mb();
  const std::string piece(1 << 20, ' ');
  const auto pour = [&](const std::string& head, const std::string& chunk) {
    HttpConnection connection(server.port());
    connection.send("POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n" +
                    head + "\r\n");
    std::size_t taken = 0;
    while (taken < 1024 && connection.send(chunk)) ++taken;
    EXPECT_LT(taken, 1024U);
  };
  pour("Content-Length: 1073741824\r\n", piece);
  pour("Transfer-Encoding: chunked\r\n", "100000\r\n" + piece + "\r\n");
  EXPECT_LT(server.resident_mb() - before, 100);
  EXPECT_EQ(server.ask("GET", "/healthz").status, 200);
}

TEST(Serve, SlowClientsAreDroppedWhileOthersAreAnswered) {
  const Workspace workspace;
  workspace.run({"thread", "create"});
  // That of the workspace itself would be ignored.
  workspace.write("server.json", R"({"server":{"headerTimeoutMs":1000}})");
  Serving server(workspace, {"--config", (workspace.path() / "server.json").string()});
  std::vector<std::unique_ptr<HttpConnection>> slow;
  for (int i = 0; i < 200; ++i) {
    slow.push_back(std::make_unique<HttpConnection>(server.port()));
    slow.back()->send("GET / HTTP/1.1\r\n");
  }
  // A header every so often, for as long as anybody listens.
  std::size_t open = slow.size();
  while (open > 0) {
    open = 0;
    for (const auto& one : slow) open += one->send("X-More: 1\r\n") ? 1 : 0;
    ASSERT_EQ(server.ask("GET", "/healthz").status, 200);
    std::this_thread::sleep_for(50ms);
  }
  EXPECT_GE(server.figure("skein_http_dropped_total"), 200);
}

}  // namespace
}  // namespace skein::test
