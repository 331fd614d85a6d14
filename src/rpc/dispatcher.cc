#include "rpc/dispatcher.h"

#include "core/quote.h"

namespace skein {

void RpcDispatcher::on_request(std::string method, Handler handler) {
  handlers_.insert_or_assign(std::move(method), std::move(handler));
}

void RpcDispatcher::on_notification(std::string method, Listener listener) {
  listeners_.insert_or_assign(std::move(method), std::move(listener));
}

RpcResponse RpcDispatcher::answer(const RpcRequest& request) const {
  const auto found = handlers_.find(request.method);
  if (found != handlers_.end()) return {request.id, found->second(request.params)};
  return {request.id, tl::unexpected(RpcError{kRpcMethodNotFound,
                                              "there is no method " + quote(request.method)})};
}

void RpcDispatcher::tell(const RpcNotification& notification) const {
  const auto found = listeners_.find(notification.method);
  if (found != listeners_.end()) found->second(notification.params);
}

}  // namespace skein
