// A server of the Model Context Protocol: one request in, one answer out, whatever it came by.
//
// Two eras share it. From 2026-07-28 on every request says its version and its client's
// capabilities itself, in _meta, and nothing is kept between requests. The older versions begin
// with "initialize"; what that settled is a Peer, which the transport keeps.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/json_fields.h"
#include "core/json_object.h"
#include "mcp/catalogue.h"
#include "mcp/exchange.h"
#include "mcp/peer.h"
#include "mcp/seal.h"
#include "mcp/watch.h"
#include "rpc/json_rpc.h"

namespace skein::mcp {

struct ServerOptions {
  bool lists_change = false;   // tools and prompts come and go while it runs
  std::string instructions{};  // for the client's model; empty: those of a workspace
};

// The parameters of a request, taken apart once.
struct Params {
  explicit Params(const Json& params);

  JsonFields fields;  // without _meta
  // Of _meta, where it has it; nothing: it is not there, or not of that kind.
  bool has_meta = false;
  bool names_version = false;  // in whatever form
  std::optional<std::string> version;
  std::optional<std::string> capabilities;
  std::optional<std::string> log_level;
  Json progress_token;
};

// Thread-safe. Borrows the workspace.
class Server {
 public:
  Server(Workspace& workspace, Catalogue catalogue, ServerOptions options);
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // Which version a request is in, and what it says of its client. Without a version of its own it
  // is in that of the peer, if that has one.
  tl::expected<Exchange, RpcError> open(const RpcRequest& request, Params& params,
                                        const Peer* peer) const;

  // `peer` is that of an older version, or null. Not for "subscriptions/listen".
  RpcResponse answer(const RpcRequest& request, Params& params, const Exchange& exchange,
                     Peer* peer);

  // "subscriptions/listen": acknowledges, then tells what it asks for by exchange.send until the
  // answer goes.
  tl::expected<std::unique_ptr<Watch::Listening>, RpcError> listen(const RpcRequest& request,
                                                                   Params& params,
                                                                   const Exchange& exchange);
  // What ends such a subscription in good order.
  RpcResponse end_of_listening(const Json& id) const;

  // What a client tells without wanting an answer; what does not concern the server is passed over.
  void tell(const RpcNotification& notification, Peer& peer);

  Watch& watch() { return watch_; }
  // The versions that "server/discover" names.
  static std::vector<std::string> versions();

 private:
  // The members of a result, and its type where the version has types.
  struct Body {
    Body(JsonObject with) : members(std::move(with)) {}  // NOLINT(google-explicit-constructor)
    JsonObject members;
    const char* type = "complete";
  };
  using Answer = tl::expected<Body, RpcError>;
  using Method = Answer (Server::*)(JsonFields& fields, const Exchange& exchange, Peer* peer);
  struct Entry {
    Method method;
    bool modern;
    bool legacy;
    bool cached;  // its result says how long it is good
  };

  Answer discover(JsonFields& fields, const Exchange& exchange, Peer* peer);
  Answer initialize(JsonFields& fields, const Exchange& exchange, Peer* peer);
  Answer ping(JsonFields& fields, const Exchange& exchange, Peer* peer);
  Answer set_level(JsonFields& fields, const Exchange& exchange, Peer* peer);
  Answer list_tools(JsonFields& fields, const Exchange& exchange, Peer* peer);
  Answer call_tool(JsonFields& fields, const Exchange& exchange, Peer* peer);
  Answer list_resources(JsonFields& fields, const Exchange& exchange, Peer* peer);
  Answer list_templates(JsonFields& fields, const Exchange& exchange, Peer* peer);
  Answer read_resource(JsonFields& fields, const Exchange& exchange, Peer* peer);
  Answer subscribe(JsonFields& fields, const Exchange& exchange, Peer* peer);
  Answer unsubscribe(JsonFields& fields, const Exchange& exchange, Peer* peer);
  Answer list_prompts(JsonFields& fields, const Exchange& exchange, Peer* peer);
  Answer get_prompt(JsonFields& fields, const Exchange& exchange, Peer* peer);
  Answer complete(JsonFields& fields, const Exchange& exchange, Peer* peer);

  Answer call(Method method, JsonFields& fields, const Exchange& exchange, Peer* peer);
  static const std::map<std::string, Entry, std::less<>>& methods();
  Answer page_of(std::string_view name, const std::vector<std::string>& entries,
                 JsonFields& fields) const;
  // Takes what came back for required input out of the parameters.
  tl::expected<Exchange, RpcError> with_input(const Exchange& exchange, JsonFields& fields,
                                              const std::string& purpose);
  Answer required(const InputRequired& input, const std::string& purpose, const Exchange& exchange);
  Answer tool_result(const Tool& tool, ToolAnswer answer, const Exchange& exchange) const;
  Result<std::string> read_uri(const std::string& uri, const Exchange& exchange) const;
  std::string capabilities() const;
  std::string info() const;
  std::string_view instructions() const;

  Workspace& workspace_;
  const Catalogue catalogue_;
  const ServerOptions options_;
  std::vector<std::string> tool_entries_;        // as tools/list has them
  std::vector<std::string> plain_tool_entries_;  // without what came with 2025-06-18
  std::map<std::string, const Tool*, std::less<>> tools_;
  Seal seal_;
  Watch watch_;
};

}  // namespace skein::mcp
