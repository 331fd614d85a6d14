// Which function answers which method.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>

#include "rpc/json_rpc.h"

namespace skein {

// Filled once, then used from any thread; what it calls must bear that.
class RpcDispatcher {
 public:
  using Answer = tl::expected<Json, RpcError>;
  using Handler = std::function<Answer(const Json& params)>;
  using Listener = std::function<void(const Json& params)>;

  // The last one for a method counts.
  void on_request(std::string method, Handler handler);
  void on_notification(std::string method, Listener listener);

  // An unknown method is kRpcMethodNotFound, naming it.
  RpcResponse answer(const RpcRequest& request) const;
  // Nobody listens: nothing happens.
  void tell(const RpcNotification& notification) const;

 private:
  std::map<std::string, Handler, std::less<>> handlers_;
  std::map<std::string, Listener, std::less<>> listeners_;
};

}  // namespace skein
