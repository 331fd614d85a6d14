// JSON-RPC 2.0: messages as text and back, for clients and servers, over any transport.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <variant>
#include <vector>

#include "skein/json.h"
#include "skein/limits.h"

namespace skein {

namespace limits {
inline constexpr std::size_t kMaxRpcBytes = std::size_t{16} << 20;  // one message
inline constexpr std::size_t kMaxRpcDepth = kMaxJsonDepth + 8;  // what it carries has the usual one
inline constexpr std::size_t kMaxRpcBatch = 1000;               // messages in an array
inline constexpr std::size_t kMaxRpcIdBytes = 256;
}  // namespace limits

enum RpcErrorCode : std::int64_t {
  kRpcParseError = -32700,
  kRpcInvalidRequest = -32600,
  kRpcMethodNotFound = -32601,
  kRpcInvalidParams = -32602,
  kRpcInternalError = -32603,
};

struct RpcError {
  std::int64_t code = kRpcInternalError;
  std::string message{};
  Json data{};  // absent, or anything
};

// An id is a string or a number, as it came; where there is none to answer to, null.
struct RpcRequest {
  Json id;
  std::string method;
  Json params{};  // an object or an array, or absent
};

struct RpcNotification {
  std::string method;
  Json params{};
};

struct RpcResponse {
  Json id;
  tl::expected<Json, RpcError> outcome;
};

using RpcMessage = std::variant<RpcRequest, RpcNotification, RpcResponse>;

// What a server answers to a message that is none.
struct RpcRefusal {
  Json id = Json::trusted("null");
  RpcError error;
};

// One message. A refusal has the id where it could be read.
tl::expected<RpcMessage, RpcRefusal> parse_rpc(std::string_view text);

// A message, or the messages of an array, in order; a refusal stands where a message should.
std::vector<tl::expected<RpcMessage, RpcRefusal>> parse_rpc_batch(std::string_view text);

// Each is one JSON object on one line, without a line feed.
std::string rpc_line(const RpcRequest& request);
std::string rpc_line(const RpcNotification& notification);
std::string rpc_line(const RpcResponse& response);
std::string rpc_line(const RpcRefusal& refusal);

// Whether they are the same id: 1 and 1.0 are, 1 and "1" are not.
bool same_rpc_id(const Json& a, const Json& b);

}  // namespace skein
