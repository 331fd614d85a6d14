// One connection to an MCP server: what was agreed on, and requests over it.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "rpc/channel.h"
#include "rpc/dispatcher.h"
#include "rpc/mcp_protocol.h"
#include "skein/error.h"

namespace skein {

struct McpProgress {
  double progress = 0;
  std::optional<double> total{};
  std::string message{};
};
using McpProgressCallback = std::function<void(const McpProgress&)>;

// A request on its way.
struct McpRequest {
  std::string method;
  std::string fields{};  // of the params, without _meta: `"name":"x","arguments":{}`
  std::vector<HttpHeader> headers{};
  std::chrono::milliseconds idle{60'000};
  std::chrono::milliseconds total{60'000};
  std::stop_token stop{};
  const McpProgressCallback* on_progress = nullptr;
};

// Who we are to a server, and who it is to us.
struct McpIdentity {
  std::string server;                        // for errors
  std::string version = "1";                 // of this program
  std::vector<std::string> roots{};          // folders that the server may be told of
  std::function<void()> on_tools_changed{};  // from any thread
  std::function<void(std::string_view)> log{};
};

// Answers what the server asks: pings and roots. It lends no model, and declines to ask people.
//
// Thread-safe after discover() or initialize(). Errors name the server and the method.
class McpSession {
 public:
  using Open = std::function<Result<std::unique_ptr<RpcChannel>>(RpcInbox inbox)>;

  // Nothing is said to the server yet.
  static Result<std::unique_ptr<McpSession>> open(McpIdentity identity, const Open& open);
  McpSession(const McpSession&) = delete;
  McpSession& operator=(const McpSession&) = delete;

  // Asks for the newest version. False: the server speaks an older one. kIo: it is gone.
  Result<bool> discover(std::chrono::milliseconds time, const std::stop_token& stop);
  // Agrees on an older version.
  Result<void> initialize(std::chrono::milliseconds time, const std::stop_token& stop);

  // Codes as RpcChannel::call has them. After a stop or a timeout the server is told.
  Result<RpcResponse> send(const McpRequest& request);

  // What a request for input, within a result, is answered with.
  Result<Json> input_responses(const McpInputRequired& required) const;

  bool alive() { return channel_->alive().has_value(); }
  bool modern() const { return modern_; }
  const std::string& version() const { return version_; }
  const McpServerInfo& info() const { return info_; }

  Error named(std::string_view method, Error error) const;
  Error refused(std::string_view method, const RpcError& error) const;
  void log(std::string_view what) const;

 private:
  explicit McpSession(McpIdentity identity);
  Result<RpcResponse> send(const McpRequest& request, bool with_meta);
  Result<bool> judge_discovery(const RpcResponse& answer);
  void give_up_on(const RpcRequest& request, const Error& why);
  void on_progress(const Json& params);
  std::string roots_result() const;
  std::string client_info() const;
  std::string meta(std::int64_t id) const;

  const McpIdentity identity_;
  RpcDispatcher inbox_;  // filled by the constructor
  std::atomic<std::int64_t> next_id_{1};
  bool modern_ = false;
  std::string version_;
  McpServerInfo info_;

  std::mutex watching_;
  std::map<std::int64_t, const McpRequest*> watched_;  // under watching_; calls under way

  std::unique_ptr<RpcChannel> channel_;  // the first to go: it calls the inbox
};

}  // namespace skein
