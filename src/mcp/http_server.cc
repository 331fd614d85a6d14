#include "mcp/http_server.h"

#include <algorithm>
#include <system_error>

#include "core/json_array.h"
#include "core/quote.h"
#include "mcp/http_headers.h"
#include "mcp/limits.h"
#include "rpc/mcp_protocol.h"

namespace skein::mcp {
namespace {

constexpr std::int64_t kServerError = -32000;
constexpr std::int64_t kSessionGone = -32001;

HttpReply refusal(int status, std::int64_t code, std::string message,
                  const Json& id = Json::trusted("null")) {
  return {.status = status, .body = rpc_line(RpcRefusal{id, {code, std::move(message)}})};
}

// Errors that the protocol gives a status of its own; all others are answers like any.
int status_of(const RpcResponse& response) {
  if (response.outcome) return 200;
  switch (response.outcome.error().code) {
    case kRpcMethodNotFound:
      return 404;
    case kMcpMissingCapability:
    case kMcpUnsupportedVersion:
    case kMcpHeaderMismatch:
      return 400;
    default:
      return 200;
  }
}

HttpReply stream_reply(std::shared_ptr<Outbox> outbox) {
  HttpReply reply;
  reply.headers = {{"Cache-Control", "no-cache, no-transform"}, {"X-Accel-Buffering", "no"}};
  reply.stream = std::move(outbox);
  return reply;
}

bool knows(std::string_view version) {
  const auto known = legacy_mcp_versions();
  return std::find(known.begin(), known.end(), version) != known.end();
}

}  // namespace

// A request on its way, until it is answered: as JSON, or, once something was said ahead of that,
// by a stream.
class HttpServer::Call {
 public:
  // `stopping`: the server stops, and the request with it.
  Call(Give give, Caller caller, std::shared_ptr<Session> session, std::stop_source of_request,
       std::stop_token stopping)
      : caller(std::move(caller)),
        session(std::move(session)),
        stop(std::move(of_request)),
        give_(std::move(give)),
        with_server_(std::move(stopping), [this] { stop.request_stop(); }) {}

  void send(const std::string& message) {
    const std::lock_guard lock(mutex_);
    open_stream_under_lock();
    if (kept_) {
      kept_->send(message);
    } else {
      outbox_->put(event_frame(message, ""));
    }
  }

  void cut() {
    const std::lock_guard lock(mutex_);
    open_stream_under_lock();
    if (kept_) kept_->cut();
  }

  void answer(const RpcResponse& response, int status) {
    const std::lock_guard lock(mutex_);
    const std::string line = rpc_line(response);
    if (kept_) {
      kept_->send(line);
      kept_->finish();
    } else if (outbox_) {
      outbox_->put(event_frame(line, ""));
      outbox_->end();
    } else {
      give_({.status = status, .headers = headers, .body = line});
    }
  }

  // Instead of an answer, for those that listen.
  void give_stream(const std::shared_ptr<Outbox>& outbox) { give_(stream_reply(outbox)); }

  const Caller caller;
  const std::shared_ptr<Session> session;  // of an older version; or null
  std::vector<HttpHeader> headers;         // of the answer
  std::stop_source stop;                   // of this request
  std::string version;                     // of an older version

 private:
  void open_stream_under_lock() {
    if (outbox_) return;
    outbox_ = std::make_shared<Outbox>();
    if (session) {
      kept_ = session->new_stream();
      kept_->attach(outbox_, 0);
      // Older clients take an event without data for a message.
      if (version >= "2025-11-25") kept_->prime();
    } else {
      // Whoever stops reading has cancelled the request.
      outbox_->on_abandoned([stop = stop]() mutable { stop.request_stop(); });
    }
    HttpReply reply = stream_reply(outbox_);
    reply.headers.insert(reply.headers.end(), headers.begin(), headers.end());
    give_(std::move(reply));
  }

  std::mutex mutex_;
  const Give give_;                   // under mutex_, as all below
  std::shared_ptr<Outbox> outbox_;    // once there is a stream
  std::shared_ptr<KeptStream> kept_;  // and a session

  std::stop_callback<std::function<void()>> with_server_;
};

HttpServer::HttpServer(Server& server, IdSource& ids) : server_(server), sessions_(ids) {}

HttpServer::~HttpServer() { stop(); }

void HttpServer::stop() {
  std::vector<std::jthread> workers;
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
    workers.swap(workers_);
  }
  stopping_.request_stop();
  sessions_.end_all();
  {
    const std::lock_guard lock(listeners_->mutex);
    listeners_->stopped = true;
    for (auto& [number, listener] : listeners_->all) {
      listener.listening.reset();
      listener.outbox->end();
    }
    listeners_->all.clear();
  }
  for (std::jthread& worker : workers) worker.request_stop();
  workers.clear();
}

bool HttpServer::enqueue(std::function<void()> job) {
  const std::lock_guard lock(mutex_);
  if (stopped_ || jobs_.size() >= limits::kMaxOpenRequests) return false;
  try {
    while (workers_.size() < limits::kWorkers) {
      workers_.emplace_back([this](const std::stop_token& stop) { work(stop); });
    }
  } catch (const std::system_error&) {  // fewer will do
    if (workers_.empty()) return false;
  }
  jobs_.push_back(std::move(job));
  changed_.notify_one();
  return true;
}

void HttpServer::work(const std::stop_token& stop) {
  while (true) {
    std::function<void()> job;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, stop, [this] { return !jobs_.empty(); });
      if (jobs_.empty()) return;
      job = std::move(jobs_.front());
      jobs_.pop_front();
    }
    job();
  }
}

void HttpServer::handle(HttpAsked asked, Give give) {
  if (asked.method == "POST") return post(std::move(asked), give);
  const auto version = asked.header("MCP-Protocol-Version");
  const bool modern = version && is_modern(*version);
  if (!modern && asked.method == "GET") return get(asked, give);
  if (!modern && asked.method == "DELETE") return remove(asked, give);
  HttpReply reply = refusal(405, kServerError, asked.method + " is not for this");
  reply.headers.push_back({"Allow", modern ? "POST" : "GET, POST, DELETE"});
  give(std::move(reply));
}

void HttpServer::post(HttpAsked asked, const Give& give) {
  if (const auto wrong = check_post(asked)) {
    return give(refusal(wrong->status, kServerError, wrong->message));
  }
  if (trim_json(asked.body).starts_with('[')) return post_array(asked, give);
  auto message = parse_rpc(asked.body);
  if (!message) {
    return give({.status = 400, .body = rpc_line(message.error())});
  }
  if (auto* request = std::get_if<RpcRequest>(&*message)) {
    return post_request(asked, std::move(*request), give);
  }
  post_other(asked, *message, give);
}

void HttpServer::post_request(const HttpAsked& asked, RpcRequest request, const Give& give) {
  const Params params(request.params);
  const auto modern = is_modern_request(asked, request, params);
  if (!modern) {
    return give(
        {.status = 400, .body = rpc_line(RpcResponse{request.id, tl::unexpected(modern.error())})});
  }
  if (*modern) return post_modern(asked, std::move(request), give);
  post_legacy(asked, std::move(request), give);
}

void HttpServer::post_modern(const HttpAsked& asked, RpcRequest request, const Give& give) {
  Params params(request.params);
  const auto exchange = server_.open(request, params, nullptr);
  auto wrong = params.version ? check_modern_headers(asked, request, params) : std::nullopt;
  if (!wrong && !exchange) wrong = exchange.error();
  if (wrong) {
    return give({.status = 400, .body = rpc_line(RpcResponse{request.id, tl::unexpected(*wrong)})});
  }
  auto call = std::make_shared<Call>(give, asked.caller, nullptr, std::stop_source(),
                                     stopping_.get_token());
  const Json id = request.id;
  if (!enqueue([this, call, request = std::move(request)] { run_modern(call, request); })) {
    give(refusal(503, kServerError, "too many requests wait; try again", id));
  }
}

void HttpServer::run_modern(const std::shared_ptr<Call>& call, const RpcRequest& request) {
  Params params(request.params);
  auto exchange = server_.open(request, params, nullptr);
  if (!exchange) return call->answer({request.id, tl::unexpected(exchange.error())}, 400);
  exchange->caller = call->caller;
  exchange->stop = call->stop.get_token();
  exchange->send = [call](const std::string& message) { call->send(message); };
  if (request.method == "subscriptions/listen") return listen(call, request, params, *exchange);
  const RpcResponse response = server_.answer(request, params, *exchange, nullptr);
  call->answer(response, status_of(response));
}

void HttpServer::listen(const std::shared_ptr<Call>& call, const RpcRequest& request,
                        Params& params, Exchange& exchange) {
  auto outbox = std::make_shared<Outbox>();
  exchange.send = [outbox](const std::string& message) { outbox->put(event_frame(message, "")); };
  auto listening = server_.listen(request, params, exchange);
  if (!listening) return call->answer({request.id, tl::unexpected(listening.error())}, 200);
  std::uint64_t number = 0;
  {
    const std::lock_guard lock(listeners_->mutex);
    if (!listeners_->stopped && listeners_->all.size() < limits::kMaxListeners) {
      number = listeners_->next++;
      listeners_->all[number] = {std::move(*listening), outbox};
    }
  }
  if (number == 0) {
    const RpcError full{kServerError, "there are too many subscriptions; try again later"};
    return call->answer({request.id, tl::unexpected(full)}, 503);
  }
  outbox->on_abandoned([listeners = std::weak_ptr(listeners_), number] {
    const auto all = listeners.lock();
    if (!all) return;
    const std::lock_guard lock(all->mutex);
    all->all.erase(number);
  });
  call->give_stream(outbox);
}

std::shared_ptr<Session> HttpServer::session_of(const HttpAsked& asked, const Give& give) {
  const auto id = asked.header("Mcp-Session-Id");
  if (!id || id->empty()) {
    give(refusal(400, kServerError,
                 "begin with \"initialize\", and send the Mcp-Session-Id of its answer"));
    return nullptr;
  }
  auto session = sessions_.find(*id, asked.caller.key);
  if (!session) {
    give(refusal(404, kSessionGone, "there is no such session; begin with \"initialize\""));
    return nullptr;
  }
  const auto version = asked.header("MCP-Protocol-Version");
  if (version && !knows(*version)) {
    give(refusal(400, kServerError, "this server does not speak version " + quote(*version)));
    return nullptr;
  }
  return session;
}

// Quick, and the session must be there when the answer is.
void HttpServer::begin_session(const HttpAsked& asked, const RpcRequest& request,
                               const Give& give) {
  Params params(request.params);
  const auto session = sessions_.make(asked.caller.key);
  auto exchange = server_.open(request, params, &session->peer());
  const RpcResponse response = exchange
                                   ? server_.answer(request, params, *exchange, &session->peer())
                                   : RpcResponse{request.id, tl::unexpected(exchange.error())};
  HttpReply reply{.status = 200, .body = rpc_line(response)};
  if (response.outcome) {
    reply.headers.push_back({"Mcp-Session-Id", session->id()});
  } else {
    sessions_.end(session->id(), asked.caller.key);
  }
  give(std::move(reply));
}

void HttpServer::post_legacy(const HttpAsked& asked, RpcRequest request, const Give& give) {
  if (request.method == "initialize" && !asked.header("Mcp-Session-Id")) {
    return begin_session(asked, request, give);
  }
  const auto session = session_of(asked, give);
  if (!session) return;
  auto stop = session->open(request.id);
  if (!stop) {
    return give(
        refusal(400, kRpcInvalidRequest,
                "the id " + excerpt(request.id.text()) + " belongs to a request that is open still",
                request.id));
  }
  const Json id = request.id;
  auto call = std::make_shared<Call>(give, asked.caller, session, *stop, stopping_.get_token());
  call->version = session->peer().version();
  if (!enqueue([this, call, request = std::move(request)] { run_legacy(call, request); })) {
    session->close(id);
    give(refusal(503, kServerError, "too many requests wait; try again", id));
  }
}

void HttpServer::run_legacy(const std::shared_ptr<Call>& call, const RpcRequest& request) {
  Params params(request.params);
  Peer& peer = call->session->peer();
  auto exchange = server_.open(request, params, &peer);
  RpcResponse response{request.id, Json()};
  if (exchange) {
    exchange->caller = call->caller;
    exchange->stop = call->stop.get_token();
    exchange->send = [call](const std::string& message) { call->send(message); };
    exchange->cut = [call] { call->cut(); };
    exchange->ask = [&peer, &exchange](std::string_view method, const std::string& asked) {
      return peer.ask(method, asked, exchange->send, exchange->stop);
    };
    response = server_.answer(request, params, *exchange, &peer);
  } else {
    response.outcome = tl::unexpected(exchange.error());
  }
  call->session->close(request.id);
  call->answer(response, 200);
}

void HttpServer::post_array(const HttpAsked& asked, const Give& give) {
  const auto session = asked.header("Mcp-Session-Id") ? session_of(asked, give) : nullptr;
  if (asked.header("Mcp-Session-Id") && !session) return;
  if (!session || session->peer().version() != "2025-03-26") {
    return give(refusal(400, kRpcInvalidRequest,
                        "send each message by itself: this protocol version has no arrays"));
  }
  const auto job = [this, session, give, caller = asked.caller, body = asked.body] {
    std::vector<std::string> answers;
    for (const auto& message : parse_rpc_batch(body)) {
      if (!message) {
        answers.push_back(rpc_line(message.error()));
      } else if (const auto* request = std::get_if<RpcRequest>(&*message)) {
        Params params(request->params);
        auto exchange = server_.open(*request, params, &session->peer());
        if (exchange) {
          exchange->caller = caller;
          exchange->stop = stopping_.get_token();
        }
        answers.push_back(
            rpc_line(exchange ? server_.answer(*request, params, *exchange, &session->peer())
                              : RpcResponse{request->id, tl::unexpected(exchange.error())}));
      } else if (const auto* notification = std::get_if<RpcNotification>(&*message)) {
        server_.tell(*notification, session->peer());
      } else {
        session->peer().settle(std::get<RpcResponse>(*message));
      }
    }
    if (answers.empty()) return give({.status = 202});
    give({.status = 200, .body = json_array_of(answers)});
  };
  if (!enqueue(job)) give(refusal(503, kServerError, "too many requests wait; try again"));
}

void HttpServer::post_other(const HttpAsked& asked, const RpcMessage& message, const Give& give) {
  const auto version = asked.header("MCP-Protocol-Version");
  const auto* notification = std::get_if<RpcNotification>(&message);
  if (version && is_modern(*version)) {
    // Nothing is kept there that a notification could be about, and nothing was asked.
    if (notification != nullptr) return give({.status = 202});
    return give(refusal(400, kRpcInvalidRequest, "nothing was asked that this could answer"));
  }
  const auto session = session_of(asked, give);
  if (!session) return;
  if (notification == nullptr) {
    session->peer().settle(std::get<RpcResponse>(message));
  } else if (notification->method == "notifications/cancelled") {
    const JsonFields fields(notification->params.empty() ? "{}" : notification->params.text());
    for (const JsonFields::Field& field : fields.others()) {
      if (field.name == "requestId") session->cancel(Json::trusted(std::string(field.value)));
    }
  } else {
    server_.tell(*notification, session->peer());
  }
  give({.status = 202});
}

void HttpServer::get(const HttpAsked& asked, const Give& give) {
  const auto accept = asked.header("Accept");
  if (accept && accept->find("text/event-stream") == std::string::npos &&
      accept->find("*/*") == std::string::npos) {
    return give(refusal(406, kServerError, "Accept must name text/event-stream"));
  }
  const auto session = session_of(asked, give);
  if (!session) return;
  auto outbox = std::make_shared<Outbox>();
  if (const auto last = asked.header("Last-Event-ID")) {
    const auto place = session->find(*last);
    if (!place) {
      return give(
          refusal(400, kServerError, "there is no event " + quote(*last) + " to go on from"));
    }
    place->first->attach(outbox, place->second);
  } else {
    session->general().attach(outbox, UINT64_MAX);
  }
  give(stream_reply(std::move(outbox)));
}

void HttpServer::remove(const HttpAsked& asked, const Give& give) {
  const auto session = session_of(asked, give);
  if (!session) return;
  sessions_.end(session->id(), asked.caller.key);
  give({.status = 204});
}

}  // namespace skein::mcp
