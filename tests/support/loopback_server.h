// A server on loopback that says to each connection what a test tells it to, byte by byte.
#pragma once

#include <atomic>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "core/file.h"

namespace skein::test {

class LoopbackServer {
 public:
  class Connection {
   public:
    explicit Connection(int fd) : fd_(fd) {}

    // The next HTTP request as it came, head and body; empty when the peer is gone.
    std::string read_request();
    // False: the peer is gone.
    bool send(std::string_view bytes);
    // A whole answer with its length, after which the connection stays open.
    bool answer(int status, std::string_view content_type, std::string_view body,
                std::string_view more_headers = {});
    // The head of an answer whose end is that of the connection.
    bool begin(int status, std::string_view content_type);
    // Returns once the peer has closed the connection, or the server goes.
    void wait_for_close();

   private:
    bool read_some();

    int fd_;
    std::string read_;
  };

  // Each connection gets a thread of its own, and is closed when `serve` returns. A server that
  // does not start ends the test program.
  explicit LoopbackServer(std::function<void(Connection&)> serve);
  ~LoopbackServer();

  std::string url() const;  // http://127.0.0.1:PORT
  int connections() const { return connections_; }

 private:
  void accept_all(const std::stop_token& stop);

  const std::function<void(Connection&)> serve_;
  Fd listener_;
  int port_ = 0;
  std::atomic<int> connections_ = 0;

  std::mutex mutex_;
  std::vector<int> open_;              // under mutex_
  std::vector<std::jthread> serving_;  // the accepting thread's, until it ended
  std::jthread accepting_;
};

}  // namespace skein::test
