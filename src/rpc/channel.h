// The way to one server of JSON-RPC: what is sent there, and what comes back.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "core/http_client.h"
#include "rpc/json_rpc.h"
#include "skein/error.h"

namespace skein {

using RpcTime = std::chrono::steady_clock::time_point;

// A request under way. Lives until its call returned.
struct RpcCall {
  RpcRequest request;
  std::vector<HttpHeader> headers{};       // where there is HTTP
  std::chrono::milliseconds idle{60'000};  // without an answer or a sign of life
  RpcTime end{};                           // in any case
  std::stop_token stop{};
};

// What a server says on its own. Called from any thread, several at once.
struct RpcInbox {
  std::function<RpcResponse(const RpcRequest&)> on_request;
  std::function<void(const RpcNotification&)> on_notification;
};

// Thread-safe: any number of calls at once, each on its caller's thread.
class RpcChannel {
 public:
  virtual ~RpcChannel() = default;
  RpcChannel() = default;
  RpcChannel(const RpcChannel&) = delete;
  RpcChannel& operator=(const RpcChannel&) = delete;

  // The server's answer, be it a result or an error. Otherwise
  //   kBusy      neither an answer nor a sign of life in time
  //   kConflict  stopped
  //   kNotFound  the server no longer knows us (its session ended); it did nothing
  //   kIo        the way is cut: it may have done what was asked, or not
  //   kInvalid   it refused the request, or its answer breaks a rule or a limit
  virtual Result<RpcResponse> call(const RpcCall& call) = 0;

  // Something happened on behalf of a call: its idle time begins anew.
  virtual void touch(const Json& id) = 0;

  // Whether the server can be told that a call is given up on (otherwise it has noticed).
  virtual bool takes_cancellation() const = 0;
  virtual Result<void> notify(const RpcNotification& notification) = 0;

  // The version of the protocol that was agreed on, for transports that must say it.
  virtual void set_version(const std::string& version) = 0;

  // False: there is nobody there any more, and why.
  virtual Result<void> alive() = 0;
};

}  // namespace skein
