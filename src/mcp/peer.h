// A client of a version that begins with "initialize", for as long as it is there.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <string_view>

#include "mcp/exchange.h"
#include "mcp/watch.h"
#include "rpc/json_rpc.h"

namespace skein::mcp {

// Thread-safe.
class Peer {
 public:
  // `send` takes messages that belong to no request, from any thread.
  explicit Peer(std::function<void(std::string message)> send) : send_(std::move(send)) {}
  ~Peer() { end(); }
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;

  // What "initialize" settled. Once; false: it was settled before.
  bool begin(std::string version, ClientCapabilities client);
  // Empty: not begun.
  std::string version() const;
  ClientCapabilities client() const;

  std::optional<LogLevel> log_level() const;
  void set_log_level(LogLevel level);

  // From now on it is told of changes.
  void listen(Watch& watch);
  // False: there are too many.
  bool subscribe(Watch& watch, const std::string& uri);
  void unsubscribe(const std::string& uri);

  // Sends a request by `send` and waits for what the client answers. kConflict: stopped, or the
  // client went. kBusy: no answer in time. kInvalid: it refused.
  Result<Json> ask(std::string_view method, const std::string& params,
                   const std::function<void(std::string message)>& send,
                   const std::stop_token& stop);
  // An answer of the client's. False: nobody waits for it.
  bool settle(const RpcResponse& response);

  // Nothing more will come from it.
  void end();

 private:
  void tell(const std::string& method, const std::string& uri);

  const std::function<void(std::string message)> send_;

  mutable std::mutex mutex_;
  std::condition_variable_any changed_;  // answers_
  std::string version_;                  // under mutex_, as all below
  ClientCapabilities client_;
  std::optional<LogLevel> log_level_;
  std::set<std::string> uris_;
  std::map<std::string, std::optional<RpcResponse>> answers_;  // by the text of the id
  std::uint64_t next_ask_ = 1;
  bool ended_ = false;
  std::unique_ptr<Watch::Listening> listening_;
};

}  // namespace skein::mcp
