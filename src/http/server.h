// The server: one thread that does all I/O, a pool for what blocks, and the routes.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "api/service.h"
#include "core/worker_threads.h"
#include "http/options.h"
#include "http/route.h"

namespace skein::http {

// Everything of a server but the listening. Thread-safe.
class Server {
 public:
  struct Parts {
    Settings settings;
    ServerOptions options{};
    ServiceOptions service{};
    // A line of JSON each, from any thread; absent: nothing is logged.
    std::function<void(std::string_view line)> log{};
    // Besides those that every server has.
    std::vector<RouteSet> more_routes{};
    // Makes the threads of what lasts; absent: std::thread.
    WorkerThreads::Make make_thread{};
    // Index messages, run triggers, recover runs (api/background.h).
    bool background = false;
    // Also what the conformance suites of the Model Context Protocol call.
    bool mcp_fixtures = false;
  };

  // Listens when it returns, and answers from then on. kInvalid: an address that is not loopback
  // while there are no keys; the message says what to do. kIo: the port is taken, for example.
  // Borrows the store.
  static Result<std::unique_ptr<Server>> start(Store& store, Parts parts);
  // Stops, if nobody did.
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  std::uint16_t port() const;
  std::string url() const;  // http://127.0.0.1:7171
  Service& service();
  // Reads the keys again now, and not only soon.
  Result<void> refresh_keys();

  // Takes no more requests, tells the streams, gives runs their time and then interrupts them, and
  // returns when all is over. What was begun is answered.
  void stop();

 private:
  class Impl;
  explicit Server(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace skein::http
