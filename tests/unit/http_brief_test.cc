// Requests that fibers of the I/O thread answer: that they are as any others, and hold up nobody.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <future>
#include <thread>

#include "core/fibers.h"
#include "core/file_lock.h"
#include "core/try.h"
#include "http/route.h"
#include "support/http_server.h"

namespace skein::test {
namespace {

using namespace std::chrono_literals;

constexpr const char* kHello =
    R"({"assistant_id":"echo","input":{"messages":[{"role":"user","content":"hello"}]}})";

constexpr const char* kEcho = R"({"metadata":{"graph_id":"echo"}})";

std::string thread_of(const Answered& made) {
  return std::string(made.json().at("thread_id").as_string());
}

class BriefRequests : public testing::TestWithParam<const char*> {
 protected:
  BriefRequests() : server_({.backend = GetParam()}) {}

  TestServer server_;
};

INSTANTIATE_TEST_SUITE_P(Backends, BriefRequests, testing::Values("sqlite", "memory", "jsonl"),
                         [](const auto& info) { return std::string(info.param); });

TEST_P(BriefRequests, OfManyConnectionsAreAllAnswered) {
  constexpr int kConnections = 24;
  constexpr int kRounds = 10;
  std::atomic<int> wrong{0};
  {
    std::vector<std::jthread> clients;
    for (int i = 0; i < kConnections; ++i) {
      clients.emplace_back([&] {
        HttpConnection connection(server_.port());
        for (int round = 0; round < kRounds; ++round) {
          const Answered made = connection.ask("POST", "/threads", kEcho);
          const std::string path = "/threads/" + thread_of(made);
          const Answered said =
              connection.ask("POST", path + "/state",
                             R"({"values":{"messages":[{"role":"user","content":"one"}]}})");
          const Answered ran = connection.ask("POST", path + "/runs/wait", kHello);
          const Answered found = connection.ask("POST", "/threads/search", R"({"limit":3})");
          const bool fine = made.status == 200 && said.status == 200 && found.status == 200 &&
                            ran.status == 200 && ran.json().at("messages").as_array().size() == 3;
          if (!fine) ++wrong;
        }
      });
    }
  }
  EXPECT_EQ(wrong, 0);
}

TEST_P(BriefRequests, OfOnePipeAreAnsweredInTheirOrder) {
  HttpConnection connection(server_.port());
  const std::string thread = thread_of(connection.ask("POST", "/threads", kEcho));
  constexpr int kRequests = 30;
  for (int i = 0; i < kRequests; ++i) {
    connection.send_request("POST", "/threads/" + thread + "/runs/wait", kHello);
  }
  for (std::size_t i = 1; i <= kRequests; ++i) {
    const Answered ran = connection.read_answer();
    ASSERT_EQ(ran.status, 200) << ran;
    EXPECT_EQ(ran.json().at("messages").as_array().size(), 2 * i);
  }
}

class BriefWrites : public testing::Test {
 protected:
  explicit BriefWrites(TestServer::Setup setup = {}) : server_(std::move(setup)) {}

  // As another process has it that writes, or was stopped while it did.
  FileLock others_lock() {
    const auto path = server_.folder() / ".skein" / "skein.db.lock";
    file_ = Fd(::open(path.c_str(), O_RDWR | O_CLOEXEC));
    return FileLock::acquire(file_.get(), 0, LockMode::kExclusive).value();
  }

  TestServer server_;
  Fd file_;
};

TEST_F(BriefWrites, ThatWaitForAnotherProcessHoldUpNobodyElse) {
  const std::string thread = thread_of(server_.ask("POST", "/threads", "{}"));
  FileLock lock = others_lock();
  std::vector<std::unique_ptr<HttpConnection>> waiting;
  for (int i = 0; i < 5; ++i) {
    waiting.push_back(std::make_unique<HttpConnection>(server_.port()));
    waiting.back()->send_request("POST", "/threads", "{}");
  }
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(server_.ask("GET", "/healthz").status, 200);
    EXPECT_EQ(server_.ask("GET", "/threads/" + thread).status, 200);
  }
  lock.release();
  for (const auto& connection : waiting) EXPECT_EQ(connection->read_answer().status, 200);
}

TEST_F(BriefWrites, ThatWaitWhenTheServerStopsAreDone) {
  FileLock lock = others_lock();
  HttpConnection connection(server_.port());
  connection.send_request("POST", "/threads", R"({"metadata":{"late":true}})");
  EXPECT_EQ(server_.ask("GET", "/healthz").status, 200);  // it has come that far
  std::jthread stopping([&] { server_.server().stop(); });
  std::this_thread::sleep_for(50ms);
  lock.release();
  EXPECT_EQ(connection.read_answer().status, 200);
  stopping.join();
  EXPECT_EQ(server_.store().list({}).value().threads.size(), 1U);
}

// One thread in the pool, and routes that keep it: by waiting for the test, and by writing.
class BriefWritesBesidesOthers : public BriefWrites {
 protected:
  // Of the handlers, which are there before this is.
  struct Seen {
    std::atomic<bool> go{false};
    std::atomic<bool> writes{false};
  };
  explicit BriefWritesBesidesOthers(std::shared_ptr<Seen> seen = std::make_shared<Seen>())
      : BriefWrites(setup(seen)), seen_(std::move(seen)) {}
  ~BriefWritesBesidesOthers() override { go(); }

  static TestServer::Setup setup(const std::shared_ptr<Seen>& seen) {
    http::RouteSet set;
    set.name = "more";
    set.prefix = "/more/";
    const auto add = [&](const char* name, http::Handler handler) {
      http::Route& route = set.routes.emplace_back();
      route.method = "POST";
      route.path = std::string("/more/") + name;
      route.name = name;
      route.access = http::Access::kWrite;
      route.handler = std::move(handler);
    };
    add("wait", [seen](Service&, http::Request&) -> http::Reply {
      seen->go.wait(false);
      return http::no_content();
    });
    add("write", [seen](Service& service, http::Request&) -> http::Reply {
      seen->writes = true;
      seen->writes.notify_all();
      SKEIN_TRY(service.threads().create({.agent_id = "helper"}));
      return http::no_content();
    });
    http::ServerOptions options;
    options.threads = 1;
    return {.options = options, .more_routes = {set}};
  }
  void go() {
    seen_->go = true;
    seen_->go.notify_all();
  }

  const std::shared_ptr<Seen> seen_;
};

TEST_F(BriefWritesBesidesOthers, AreDoneAlsoWhenAllThreadsWaitForThem) {
  FileLock lock = others_lock();
  std::vector<std::unique_ptr<HttpConnection>> asked;
  for (const char* path : {"/more/wait", "/more/write", "/threads"}) {
    asked.push_back(std::make_unique<HttpConnection>(server_.port()));
    asked.back()->send_request("POST", path, path[1] == 't' ? "{}" : "");
    EXPECT_EQ(server_.ask("GET", "/healthz").status, 200);  // it has come that far
  }
  go();
  seen_->writes.wait(false);
  lock.release();
  for (const auto& connection : asked) EXPECT_EQ(connection->read_answer().status / 100, 2);
}

TEST(BriefRoutes, AreCalledAgainOnAnotherThreadWhereTheyAskForIt) {
  struct Seen {
    bool brief;
    bool fiber;
  };
  std::vector<Seen> seen;
  http::RouteSet set;
  set.name = "more";
  set.prefix = "/more/";
  for (const bool lasting : {false, true}) {
    http::Route route;
    route.method = "POST";
    route.path = lasting ? "/more/lasting" : "/more/pooled";
    route.name = lasting ? "lasting" : "pooled";
    route.access = http::Access::kWrite;
    route.body = http::BodySpec{};
    route.brief = true;
    route.lasting = lasting;
    route.handler = [&seen](Service&, http::Request& request) -> http::Reply {
      seen.push_back({request.brief, Fibers::current() != nullptr});
      if (request.brief && request.body == "\"long\"") return http::done_elsewhere();
      return http::json_response(request.body);
    };
    set.routes.push_back(std::move(route));
  }
  TestServer server({.more_routes = {set}});
  for (const char* path : {"/more/pooled", "/more/lasting"}) {
    seen.clear();
    EXPECT_EQ(server.ask("POST", path, "\"short\"").body, "\"short\"");
    ASSERT_EQ(seen.size(), 1U);
    EXPECT_TRUE(seen[0].brief && seen[0].fiber);
    EXPECT_EQ(server.ask("POST", path, "\"long\"").body, "\"long\"");
    ASSERT_EQ(seen.size(), 3U);
    EXPECT_TRUE(seen[1].brief && seen[1].fiber);
    EXPECT_FALSE(seen[2].brief || seen[2].fiber);
    // A large one is none.
    const std::string large = "\"" + std::string(100'000, 'x') + "\"";
    EXPECT_EQ(server.ask("POST", path, large).body, large);
    EXPECT_FALSE(seen.back().brief || seen.back().fiber);
  }
}

TEST(BriefRoutes, AreAnsweredByThreadsWhereTheStoreIsNot) {
  bool brief = true;
  http::RouteSet set;
  set.name = "more";
  set.prefix = "/more/";
  http::Route& route = set.routes.emplace_back();
  route.method = "GET";
  route.path = "/more/one";
  route.name = "one";
  route.access = http::Access::kRead;
  route.brief = true;
  route.handler = [&brief](Service&, http::Request& request) -> http::Reply {
    brief = request.brief;
    return http::no_content();
  };
  TestServer server({.backend = "jsonl", .more_routes = {set}});
  EXPECT_EQ(server.ask("GET", "/more/one").status, 204);
  EXPECT_FALSE(brief);
}

}  // namespace
}  // namespace skein::test
