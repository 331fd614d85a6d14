// Streams of the real program: restarts under them, and readers that do not read.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <boost/json/parse.hpp>
#include <random>
#include <thread>

#include "serving.h"

namespace skein::test {
namespace {

using namespace std::chrono_literals;

// A client that comes again from where it was, as browsers and SDKs do.
class Follower {
 public:
  Follower(std::uint16_t port, std::string target) : port_(port), target_(std::move(target)) {}

  std::uint64_t seen() const { return seen_; }
  int connections() const { return connections_; }

  // False: the connection ended. Gaps and repeats fail the test.
  bool read_one() {
    if (!connection_) {
      connection_ = std::make_unique<HttpConnection>(port_);
      connection_->send_request("GET", target_, {}, {{"Last-Event-ID", std::to_string(seen_)}});
      if (connection_->read_head().status != 200) {
        connection_ = nullptr;
        return false;
      }
      ++connections_;
    }
    const auto event = connection_->next_event();
    if (!event) {
      connection_ = nullptr;
      return false;
    }
    EXPECT_EQ(event->id, std::to_string(seen_ + 1));
    ++seen_;
    return true;
  }
  void begin() {
    while (seen_ == 0) read_one();
  }

 private:
  const std::uint16_t port_;
  const std::string target_;
  std::uint64_t seen_ = 0;
  int connections_ = 0;
  std::unique_ptr<HttpConnection> connection_;
};

// A port that the system gives to nobody else meanwhile, as it might do with one that it chose.
std::uint16_t port_to_come_back_to() {
  std::random_device random;
  for (;;) {
    const auto port = static_cast<std::uint16_t>(20'000 + random() % 10'000);
    const Fd probe(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (::bind(probe.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) {
      return port;
    }
  }
}

class ServeStreams : public OnEveryBackend {};

// What is written meanwhile comes from another process, and goes on while nobody serves.
TEST_P(ServeStreams, GoOnAfterRestartsWithoutGapsOrRepeats) {
  constexpr std::uint64_t kEvents = 300;
  constexpr int kReaders = 100;
  const std::string thread = workspace_.create();
  workspace_.append(thread, "the first");
  const std::uint16_t port = port_to_come_back_to();
  const auto start = [&] {
    return std::make_unique<Serving>(workspace_,
                                     std::vector<std::string>{"--port", std::to_string(port)});
  };
  auto server = start();
  std::vector<Follower> readers;
  for (int i = 0; i < kReaders; ++i) {
    readers.emplace_back(port, "/v1/threads/" + thread + "/stream").begin();
  }

  const auto append = [&](std::uint64_t count) {
    std::string lines;
    for (std::uint64_t i = 0; i < count; ++i) lines += "{\"role\":\"user\",\"text\":\"more\"}\n";
    const Ran ran = workspace_.run({"thread", "append", thread, "--jsonl"}, lines);
    ASSERT_EQ(ran.code, 0) << ran;
  };
  // Once it is asked to stop, and once it is killed, each time with half of the readers behind.
  for (const int signal : {SIGTERM, SIGKILL}) {
    std::thread writer([&] { append(100); });
    for (int i = 0; i < kReaders; i += 2) {
      for (int n = 0; n < 20; ++n) readers[static_cast<std::size_t>(i)].read_one();
    }
    server->process().signal(signal);
    server->process().finish();
    writer.join();
    server = start();
    ASSERT_EQ(server->port(), port);
  }
  append(kEvents - 201);
  for (Follower& reader : readers) {
    while (reader.seen() < kEvents) reader.read_one();
    EXPECT_GE(reader.connections(), 2);
  }
}

INSTANTIATE_ON_EVERY_BACKEND(ServeStreams);

// Half of them have a page of 8 MB, half a stream. What may wait for clients is two such pages, and
// the threads make four at once.
TEST(ServeReaders, ThatNeverReadCostLittleAndDelayNobody) {
  const Workspace workspace;
  const std::string thread = workspace.create();
  workspace.write("server.json",
                  R"({"server":{"threads":4,"writeTimeoutMs":1000,"maxBufferedBytes":16777216}})");
  Serving server(workspace, {"--config", (workspace.path() / "server.json").string()});
  const std::string events = "/v1/threads/" + thread + "/events";
  const std::string event = R"({"role":"user","text":")" + std::string(500'000, 'x') + "\"}";
  for (int i = 0; i < 20; ++i) ASSERT_EQ(server.ask("POST", events, event).status, 201);
  double most = server.resident_mb();
  std::vector<std::unique_ptr<HttpConnection>> stuck;
  for (int i = 0; i < 100; ++i) {
    stuck.push_back(std::make_unique<HttpConnection>(server.port()));
    const int small = 4096;
    ::setsockopt(stuck.back()->fd(), SOL_SOCKET, SO_RCVBUF, &small, sizeof small);
    stuck.back()->send_request(
        "GET", i % 2 == 0 ? "/v1/threads/" + thread + "/stream" : events + "?limit=20");
    ASSERT_EQ(server.ask("GET", "/healthz").status, 200);
    most = std::max(most, server.resident_mb());
  }
  // Somebody who reads gets what is large too, by asking again if there was no room.
  for (int status = 503; status != 200;) {
    status = server.ask("GET", events + "?limit=20").status;
    ASSERT_TRUE(status == 200 || status == 503) << status;
    most = std::max(most, server.resident_mb());
  }
  while (server.figure("skein_http_unsent_bytes") > 0 || server.figure("skein_http_streams") > 0) {
    ASSERT_EQ(server.ask("GET", "/healthz").status, 200);
    std::this_thread::sleep_for(20ms);
  }
  EXPECT_GE(server.figure("skein_http_dropped_total"), 50);  // the streams, at least
  // All of the process, with its index and the 32 MB of frames that streams share. A sanitizer
  // takes several times as much for itself.
  const int as_much = *SKEIN_SANITIZE == '\0' ? 1 : 4;
  EXPECT_LT(most, 300 * as_much);
  EXPECT_LT(server.resident_mb(), 200 * as_much);
}

}  // namespace
}  // namespace skein::test
