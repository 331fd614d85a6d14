#include "mcp/exchange.h"

#include <algorithm>
#include <array>

#include "core/json_fields.h"
#include "core/json_object.h"
#include "rpc/json_rpc.h"
#include "rpc/mcp_protocol.h"

namespace skein::mcp {
namespace {

constexpr std::array<const char*, 8> kLevels = {"debug", "info",     "notice", "warning",
                                                "error", "critical", "alert",  "emergency"};

std::string number(double value) {
  std::string text;
  append_json_number(text, value);
  return text;
}

}  // namespace

ClientCapabilities read_capabilities(std::string_view object) {
  JsonFields fields(object);
  ClientCapabilities client;
  if (const auto elicitation = fields.take_object("elicitation")) {
    JsonFields modes(*elicitation);
    // Without a mode it means forms; a client that takes URLs only has no form to show.
    client.elicitation = modes.take_object("form") || !modes.take_object("url");
  }
  client.sampling = fields.take_object("sampling").has_value();
  client.roots = fields.take_object("roots").has_value();
  return client;
}

const char* to_string(LogLevel level) { return kLevels[static_cast<std::size_t>(level)]; }

std::optional<LogLevel> parse_log_level(std::string_view text) {
  const auto* const found = std::find(kLevels.begin(), kLevels.end(), text);
  if (found == kLevels.end()) return std::nullopt;
  return static_cast<LogLevel>(found - kLevels.begin());
}

bool Caller::sees(std::string_view agent_id) const {
  return all_agents || std::find(agents.begin(), agents.end(), agent_id) != agents.end();
}

bool Exchange::modern() const { return is_modern(version); }

void Exchange::progress(double done, std::optional<double> total, std::string_view message) const {
  if (!send || progress_token.empty()) return;
  JsonObject params;
  params.add_json("progressToken", progress_token.text()).add_json("progress", number(done));
  if (total) params.add_json("total", number(*total));
  if (!message.empty()) params.add("message", message);
  send(rpc_line(RpcNotification{"notifications/progress", Json::trusted(params.str())}));
}

void Exchange::log(LogLevel level, std::string_view data) const {
  if (!send || !log_level || level < *log_level) return;
  JsonObject params;
  params.add("level", to_string(level)).add("logger", "skein").add_json("data", data);
  send(rpc_line(RpcNotification{"notifications/message", Json::trusted(params.str())}));
}

}  // namespace skein::mcp
