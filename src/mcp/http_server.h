// A server over Streamable HTTP, without the HTTP: requests come in as they were read, and answers
// go out as somebody is able to send them.
//
// Which version a request is in is settled by its body first (_meta), and headers must agree with
// it. From 2026-07-28 on there is nothing but POST. Before that, "initialize" makes a session, GET
// reads what belongs to no request, or goes on with an answer that was cut, and DELETE ends it.
//
// An answer is JSON, unless something is to be said ahead of it: then it is a stream of events.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "core/http_client.h"
#include "mcp/http_session.h"
#include "mcp/outbox.h"
#include "mcp/server.h"

namespace skein::mcp {

struct HttpAsked {
  std::string method;  // "POST"
  std::vector<HttpHeader> headers;
  std::string body;
  Caller caller;

  // Without the white space around it, whatever the case of its name; nothing: it is not there.
  std::optional<std::string> header(std::string_view name) const;
};

struct HttpReply {
  int status = 200;
  std::vector<HttpHeader> headers{};
  std::string body{};                // JSON; or empty
  std::shared_ptr<Outbox> stream{};  // then it is text/event-stream
};

// Thread-safe. Borrows the server, which must outlive it.
class HttpServer {
 public:
  // Called once, from any thread; must not wait.
  using Give = std::function<void(HttpReply reply)>;

  HttpServer(Server& server, IdSource& ids);
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  // Returns at once; what takes time is done by threads of its own.
  void handle(HttpAsked asked, Give give);

  // Ends sessions and streams, asks what runs to stop, and waits for that.
  void stop();

 private:
  class Call;
  struct Listener {
    std::unique_ptr<Watch::Listening> listening;
    std::shared_ptr<Outbox> outbox;
  };
  // Those that listen. Readers that go after this object went find nobody here.
  struct Listeners {
    std::mutex mutex;  // protects all below; held while somebody stops listening
    bool stopped = false;
    std::uint64_t next = 1;
    std::map<std::uint64_t, Listener> all;
  };

  void post(HttpAsked asked, const Give& give);
  void post_request(const HttpAsked& asked, RpcRequest request, const Give& give);
  void post_modern(const HttpAsked& asked, RpcRequest request, const Give& give);
  void post_legacy(const HttpAsked& asked, RpcRequest request, const Give& give);
  void begin_session(const HttpAsked& asked, const RpcRequest& request, const Give& give);
  void post_array(const HttpAsked& asked, const Give& give);
  void post_other(const HttpAsked& asked, const RpcMessage& message, const Give& give);
  void get(const HttpAsked& asked, const Give& give);
  void remove(const HttpAsked& asked, const Give& give);
  void run_modern(const std::shared_ptr<Call>& call, const RpcRequest& request);
  void run_legacy(const std::shared_ptr<Call>& call, const RpcRequest& request);
  void listen(const std::shared_ptr<Call>& call, const RpcRequest& request, Params& params,
              Exchange& exchange);
  // Nothing: `give` was told what is wrong.
  std::shared_ptr<Session> session_of(const HttpAsked& asked, const Give& give);
  bool enqueue(std::function<void()> job);
  void work(const std::stop_token& stop);

  Server& server_;
  Sessions sessions_;
  std::stop_source stopping_;

  std::mutex mutex_;
  std::condition_variable_any changed_;     // jobs_
  std::deque<std::function<void()>> jobs_;  // under mutex_, as all below
  bool stopped_ = false;
  std::vector<std::jthread> workers_;  // started with the first job

  const std::shared_ptr<Listeners> listeners_ = std::make_shared<Listeners>();
};

}  // namespace skein::mcp
