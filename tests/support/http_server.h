// Servers for tests, on ports of their own, and a client that says exactly what it is told to.
#pragma once

#include <gtest/gtest.h>

#include <boost/json/value.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/keys.h"
#include "core/file.h"
#include "core/sse_parser.h"
#include "http/server.h"
#include "support/temp_dir.h"

namespace skein::test {

// What a server answered.
struct Answered {
  int status = 0;  // 0: the connection ended first
  std::vector<HttpHeader> headers;
  std::string body;

  std::string header(std::string_view name) const;  // empty: none
  boost::json::value json() const;                  // of the body
};
std::ostream& operator<<(std::ostream& stream, const Answered& answered);

// One connection. Waits for up to a minute, and fails the test then.
class HttpConnection {
 public:
  explicit HttpConnection(std::uint16_t port);

  // False: the peer is gone.
  bool send(std::string_view bytes);
  // Nothing more is sent; answers are still read.
  void end_sending();
  // One request with Host and, where there is a body, Content-Length and a Content-Type of JSON.
  Answered ask(std::string_view method, std::string_view target, std::string_view body = {},
               const std::vector<HttpHeader>& headers = {});
  void send_request(std::string_view method, std::string_view target, std::string_view body = {},
                    const std::vector<HttpHeader>& headers = {});
  // The next whole answer.
  Answered read_answer();
  // The head of an answer whose body goes on: a stream.
  Answered read_head();
  // The next event of it, comments skipped; nothing: it ended, or the connection did.
  std::optional<SseEvent> next_event();
  // Whether the peer has closed it; waits for that.
  bool wait_for_close();
  int fd() const { return fd_.get(); }

 private:
  bool read_some();
  bool read_line(std::string& line);
  bool next_chunk();

  const std::uint16_t port_;
  Fd fd_;
  std::string read_;
  bool chunked_ = false;
  bool ended_ = false;
  SseParser events_{std::size_t{64} << 20};
  std::vector<SseEvent> ready_;
};

// A server in this process with a workspace of its own.
class TestServer {
 public:
  struct Setup {
    std::string backend = "sqlite";  // or "jsonl", "memory"
    http::ServerOptions options{};   // the port is any
    std::vector<http::RouteSet> more_routes{};
    std::string config = {};  // .skein/config.json of the workspace
    std::string named_config =
        {};                   // the same, as a file named with --config: agents in it are trusted
    bool background = false;  // indexing, triggers
    std::function<void(std::string_view line)> log{};
    WorkerThreads::Make make_thread{};
  };
  TestServer();
  explicit TestServer(Setup setup);
  ~TestServer();

  std::uint16_t port() const { return server_->port(); }
  std::string url() const { return server_->url(); }
  Service& service() { return server_->service(); }
  http::Server& server() { return *server_; }
  Store& store() { return *store_; }
  // Those of the store, as its user makes them.
  ApiKeys keys();
  std::shared_ptr<const RecordSigner> signer() const { return signer_; }
  const std::filesystem::path& folder() const { return folder_.path(); }

  // A new key, as `skein key create` prints it.
  std::string make_key(http::Access access, std::vector<std::string> agents = {});
  // On a new connection. `key` empty: none.
  Answered ask(std::string_view method, std::string_view target, std::string_view body = {},
               std::string_view key = {});

 private:
  TempDir folder_;
  std::unique_ptr<Store> store_;
  std::shared_ptr<const RecordSigner> signer_;
  std::unique_ptr<http::Server> server_;
};

}  // namespace skein::test
