// A server in a process of its own, and clients that ask it as fast as it answers.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "core/file.h"
#include "core/subprocess.h"
#include "skein/error.h"

namespace skein::bench {

// `skein serve` of this very program, on a port of its own; ended when this goes.
class ServeProcess {
 public:
  // In a workspace with a store at `store_url`. Returns when it says that it listens.
  static Result<ServeProcess> start(const std::string& workspace, const std::string& store_url);

  std::uint16_t port() const { return port_; }
  pid_t pid() const { return process_->pid(); }
  // The resident set now, and at its peak.
  // Until it has done next to nothing for a second.
  Result<void> wait_until_idle() const;
  double resident_mb() const;
  double peak_mb() const;
  // Asks it to stop, and waits for that.
  Result<void> stop();

 private:
  ServeProcess() = default;
  std::unique_ptr<Subprocess> process_;
  std::uint16_t port_ = 0;
  std::jthread log_reader_;  // what it says must not fill its pipe
};

struct HttpWork {
  std::uint16_t port = 0;
  std::size_t connections = 1;
  std::size_t requests = 0;  // in all
  // The whole request, head and body.
  std::function<std::string(std::size_t connection, std::size_t number)> request;
  int expected_status = 200;
};

struct HttpTimes {
  double rate = 0;  // answers a second
  double p50 = 0;   // seconds
  double p99 = 0;
};

// By one thread, over connections that stay open: each asks again as soon as it was answered. kIo:
// another status, or the connection ended.
Result<HttpTimes> run_requests(const HttpWork& work);

std::string http_request(std::string_view method, std::string_view target, std::string_view body);

// One request on a connection of its own; the body of a 2xx.
Result<std::string> ask_once(std::uint16_t port, const std::string& request);

// Readers of one stream of events whose ids are 1, 2, 3 …
class StreamReaders {
 public:
  // All connected, and answered, when it returns.
  static Result<std::unique_ptr<StreamReaders>> open(std::uint16_t port, const std::string& target,
                                                     std::size_t count);
  ~StreamReaders();

  // What the slowest of them has seen.
  std::uint64_t least() const;
  // Out of order, or cut off.
  std::size_t wrong() const { return wrong_; }

 private:
  struct Reader {
    Fd fd;
    std::string text;  // the line that has not ended yet
    std::atomic<std::uint64_t> seen{0};
    bool open = true;
  };
  StreamReaders() = default;
  void read(const std::stop_token& stop);
  void take(Reader& reader, std::string_view bytes);

  Fd epoll_;
  std::vector<std::unique_ptr<Reader>> readers_;
  std::atomic<std::size_t> wrong_{0};
  std::jthread thread_;
};

}  // namespace skein::bench
