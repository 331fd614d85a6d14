#include "mcp/server.h"

#include <algorithm>
#include <charconv>

#include "core/json_array.h"
#include "core/quote.h"
#include "mcp/limits.h"
#include "rpc/mcp_protocol.h"

namespace skein::mcp {
namespace {

constexpr std::string_view kVersionKey = "io.modelcontextprotocol/protocolVersion";
constexpr std::string_view kCapabilitiesKey = "io.modelcontextprotocol/clientCapabilities";
constexpr std::string_view kLogLevelKey = "io.modelcontextprotocol/logLevel";
constexpr std::string_view kServerInfoKey = "io.modelcontextprotocol/serverInfo";
constexpr std::string_view kSubscriptionKey = "io.modelcontextprotocol/subscriptionId";

constexpr std::string_view kInstructions =
    "Skein is this workspace's memory. Call session_start first and session_close last. Threads "
    "(t-…) are open work items: create_thread what stays unresolved, resolve_thread what is done. "
    "checkpoint at milestones. search_conversations finds what was said in earlier conversations.";

std::optional<Json> to_id(RawJson value) {
  const char first = value.front();
  if (first != '"' && first != '-' && (first < '0' || first > '9')) return std::nullopt;
  return Json::trusted(std::string(value));
}

RpcError invalid(std::string message, Json data = {}) {
  return {kRpcInvalidParams, std::move(message), std::move(data)};
}

RpcError unsupported(const std::string& requested) {
  JsonObject data;
  data.add("supported", Server::versions()).add("requested", requested);
  return {kMcpUnsupportedVersion, "this server does not speak protocol version " + quote(requested),
          Json::trusted(data.str())};
}

tl::expected<Exchange, RpcError> open_modern(const Params& params) {
  Exchange exchange;
  if (!params.version)
    return tl::unexpected(invalid("\"" + std::string(kVersionKey) + "\" must be a string"));
  const std::vector<std::string> known = Server::versions();
  if (std::find(known.begin(), known.end(), *params.version) == known.end()) {
    return tl::unexpected(unsupported(*params.version));
  }
  if (!params.capabilities) {
    return tl::unexpected(
        invalid("_meta must have \"" + std::string(kCapabilitiesKey) + "\", an object"));
  }
  exchange.version = *params.version;
  exchange.client = read_capabilities(*params.capabilities);
  if (params.log_level) {
    exchange.log_level = parse_log_level(*params.log_level);
    if (!exchange.log_level) {
      return tl::unexpected(invalid("there is no log level " + quote(*params.log_level)));
    }
  }
  return exchange;
}

}  // namespace

Params::Params(const Json& params) : fields(params.empty() ? "{}" : params.text()) {
  const auto object = fields.take_object("_meta");
  if (!object) return;
  has_meta = true;
  JsonFields meta(*object);
  names_version = std::any_of(meta.others().begin(), meta.others().end(),
                              [](const auto& field) { return field.name == kVersionKey; });
  version = meta.take_string(kVersionKey);
  if (const auto client = meta.take_object(kCapabilitiesKey)) capabilities = std::string(*client);
  log_level = meta.take_string(kLogLevelKey);
  progress_token = meta.take("progressToken", to_id).value_or(Json());
}

Server::Server(Workspace& workspace, Catalogue catalogue, ServerOptions options)
    : workspace_(workspace),
      catalogue_(std::move(catalogue)),
      options_(std::move(options)),
      seal_(workspace),
      watch_(workspace) {
  for (const Tool& tool : catalogue_.tools) {
    tool_entries_.push_back(tool_json(tool, true));
    plain_tool_entries_.push_back(tool_json(tool, false));
    tools_[tool.name] = &tool;
  }
}

std::vector<std::string> Server::versions() { return {std::string(kModernMcp)}; }

const std::map<std::string, Server::Entry, std::less<>>& Server::methods() {
  static const std::map<std::string, Entry, std::less<>> table = {
      {"server/discover", {&Server::discover, true, false, true}},
      {"initialize", {&Server::initialize, false, true, false}},
      {"ping", {&Server::ping, false, true, false}},
      {"logging/setLevel", {&Server::set_level, false, true, false}},
      {"tools/list", {&Server::list_tools, true, true, true}},
      {"tools/call", {&Server::call_tool, true, true, false}},
      {"resources/list", {&Server::list_resources, true, true, true}},
      {"resources/templates/list", {&Server::list_templates, true, true, true}},
      {"resources/read", {&Server::read_resource, true, true, true}},
      {"resources/subscribe", {&Server::subscribe, false, true, false}},
      {"resources/unsubscribe", {&Server::unsubscribe, false, true, false}},
      {"prompts/list", {&Server::list_prompts, true, true, true}},
      {"prompts/get", {&Server::get_prompt, true, true, false}},
      {"completion/complete", {&Server::complete, true, true, false}},
  };
  return table;
}

tl::expected<Exchange, RpcError> Server::open(const RpcRequest& request, Params& params,
                                              const Peer* peer) const {
  if (params.names_version) {
    auto exchange = open_modern(params);
    if (exchange) exchange->progress_token = params.progress_token;
    return exchange;
  }
  Exchange exchange;
  if (peer != nullptr) exchange.version = peer->version();
  const bool begins = request.method == "initialize" || request.method == "ping";
  if (exchange.version.empty() && (peer == nullptr || !begins)) {
    return tl::unexpected(invalid(
        "say which protocol version you speak: begin with \"initialize\", or put \"" +
        std::string(kVersionKey) + "\" and \"" + std::string(kCapabilitiesKey) + "\" into _meta"));
  }
  if (peer != nullptr) {
    exchange.client = peer->client();
    exchange.log_level = peer->log_level();
  }
  exchange.progress_token = params.progress_token;
  return exchange;
}

// Whatever a library throws, out of memory included, is the end of this request alone.
Server::Answer Server::call(Method method, JsonFields& fields, const Exchange& exchange,
                            Peer* peer) {
  try {
    return (this->*method)(fields, exchange, peer);
  } catch (const std::exception& error) {
    return tl::unexpected(
        RpcError{kRpcInternalError, std::string("internal error: ") + error.what()});
  }
}

RpcResponse Server::answer(const RpcRequest& request, Params& params, const Exchange& exchange,
                           Peer* peer) {
  const bool modern = exchange.modern();
  const auto found = methods().find(request.method);
  const bool known = found != methods().end() &&
                     (modern ? found->second.modern : found->second.legacy && peer != nullptr);
  if (!known) {
    return {request.id, tl::unexpected(RpcError{kRpcMethodNotFound,
                                                "there is no method " + quote(request.method)})};
  }
  Answer result = call(found->second.method, params.fields, exchange, peer);
  if (!result) return {request.id, tl::unexpected(std::move(result.error()))};
  JsonObject& members = result->members;
  if (modern) {
    members.add("resultType", result->type);
    if (found->second.cached) {
      // Lists of ours stay as long as the program runs; what is stored may change at any time.
      const bool fixed = request.method == "server/discover" || request.method == "tools/list" ||
                         request.method == "prompts/list" ||
                         request.method == "resources/templates/list";
      members.add("ttlMs", std::uint64_t{fixed && !options_.lists_change ? 300'000U : 0U});
      members.add("cacheScope", fixed ? "public" : "private");
    }
    members.add_json("_meta", JsonObject().add_json(kServerInfoKey, info()).str());
  }
  return {request.id, Json::trusted(members.str())};
}

void Server::tell(const RpcNotification& notification, Peer& peer) {
  if (notification.method == "notifications/initialized" && !peer.version().empty()) {
    peer.listen(watch_);
  }
}

tl::expected<std::unique_ptr<Watch::Listening>, RpcError> Server::listen(const RpcRequest& request,
                                                                         Params& params,
                                                                         const Exchange& exchange) {
  const auto wanted = params.fields.take_object("notifications");
  if (!wanted) return tl::unexpected(invalid("\"notifications\" must be an object"));
  JsonFields fields(*wanted);
  WatchFilter filter;
  filter.tools = options_.lists_change && fields.take_bool("toolsListChanged").value_or(false);
  filter.prompts = options_.lists_change && fields.take_bool("promptsListChanged").value_or(false);
  filter.resources = fields.take_bool("resourcesListChanged").value_or(false);
  const auto uris =
      fields.take_strings("resourceSubscriptions").value_or(std::vector<std::string>());
  if (uris.size() > limits::kMaxSubscribedUris) {
    return tl::unexpected(invalid("\"resourceSubscriptions\" must have at most " +
                                  std::to_string(limits::kMaxSubscribedUris) + " resources, got " +
                                  std::to_string(uris.size())));
  }
  filter.uris = {uris.begin(), uris.end()};
  JsonObject honoured;
  if (filter.tools) honoured.add("toolsListChanged", true);
  if (filter.prompts) honoured.add("promptsListChanged", true);
  if (filter.resources) honoured.add("resourcesListChanged", true);
  if (!uris.empty()) honoured.add("resourceSubscriptions", uris);
  const std::string meta = JsonObject().add_json(kSubscriptionKey, request.id.text()).str();
  // Nothing may be told before the acknowledgement.
  auto acknowledged = std::make_shared<std::atomic<bool>>(false);
  auto listening = watch_.listen(filter, [send = exchange.send, meta, acknowledged](
                                             const std::string& method, const std::string& uri) {
    if (!acknowledged->load()) return;
    JsonObject told;
    told.add_json("_meta", meta);
    if (!uri.empty()) told.add("uri", uri);
    send(rpc_line(RpcNotification{method, Json::trusted(told.str())}));
  });
  watch_.wait_until_looking();
  exchange.send(rpc_line(RpcNotification{
      "notifications/subscriptions/acknowledged",
      Json::trusted(
          JsonObject().add_json("_meta", meta).add_json("notifications", honoured.str()).str())}));
  acknowledged->store(true);
  return listening;
}

RpcResponse Server::end_of_listening(const Json& id) const {
  JsonObject meta;
  meta.add_json(kSubscriptionKey, id.text()).add_json(kServerInfoKey, info());
  return {id, Json::trusted(
                  JsonObject().add("resultType", "complete").add_json("_meta", meta.str()).str())};
}

std::string Server::info() const {
  return JsonObject()
      .add("name", "skein")
      .add("title", "Skein")
      .add("version", SKEIN_VERSION)
      .str();
}

std::string_view Server::instructions() const {
  return options_.instructions.empty() ? kInstructions : std::string_view(options_.instructions);
}

std::string Server::capabilities() const {
  const std::string changes =
      options_.lists_change ? JsonObject().add("listChanged", true).str() : "{}";
  JsonObject all;
  all.add_json("tools", changes).add_json("prompts", changes);
  all.add_json("resources", JsonObject().add("subscribe", true).add("listChanged", true).str());
  all.add_json("completions", "{}");
  all.add_json("logging", "{}");
  return all.str();
}

Server::Answer Server::discover(JsonFields&, const Exchange&, Peer*) {
  JsonObject result;
  result.add("supportedVersions", versions());
  result.add_json("capabilities", capabilities());
  result.add("instructions", instructions());
  return result;
}

Server::Answer Server::initialize(JsonFields& fields, const Exchange&, Peer* peer) {
  const auto asked = fields.take_string("protocolVersion");
  const auto client = fields.take_object("capabilities");
  if (!asked || !client) {
    return tl::unexpected(
        invalid("\"initialize\" must have \"protocolVersion\", a string, and \"capabilities\", an "
                "object"));
  }
  const auto known = legacy_mcp_versions();
  const bool speaks = std::find(known.begin(), known.end(), *asked) != known.end();
  const std::string agreed = speaks ? *asked : std::string(known.front());
  if (!peer->begin(agreed, read_capabilities(*client))) {
    return tl::unexpected(RpcError{kRpcInvalidRequest, "\"initialize\" comes once, and came"});
  }
  JsonObject result;
  result.add("protocolVersion", agreed);
  result.add_json("capabilities", capabilities()).add_json("serverInfo", info());
  result.add("instructions", instructions());
  return result;
}

Server::Answer Server::ping(JsonFields&, const Exchange&, Peer*) { return JsonObject(); }

Server::Answer Server::set_level(JsonFields& fields, const Exchange&, Peer* peer) {
  const auto name = fields.take_string("level");
  const auto level = name ? parse_log_level(*name) : std::nullopt;
  if (!level) {
    return tl::unexpected(
        invalid("\"level\" must be one of debug, info, notice, warning, error, critical, alert, "
                "emergency"));
  }
  peer->set_log_level(*level);
  return JsonObject();
}

Server::Answer Server::page_of(std::string_view name, const std::vector<std::string>& entries,
                               JsonFields& fields) const {
  std::size_t begin = 0;
  if (const auto cursor = fields.take_string("cursor")) {
    std::from_chars(cursor->data(), cursor->data() + cursor->size(), begin);
    const bool ours =
        begin > 0 && begin % limits::kPageSize == 0 && std::to_string(begin) == *cursor;
    if (!ours) return tl::unexpected(invalid("there is no cursor " + quote(*cursor)));
    begin = std::min(begin, entries.size());
  }
  const std::size_t end = std::min(begin + limits::kPageSize, entries.size());
  JsonObject result;
  result.add_json(name, json_array_of({entries.begin() + static_cast<std::ptrdiff_t>(begin),
                                       entries.begin() + static_cast<std::ptrdiff_t>(end)}));
  if (end < entries.size()) result.add("nextCursor", std::to_string(end));
  return result;
}

}  // namespace skein::mcp
