// One request under way: what it says of its client, and the way back to it.
#pragma once

#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "skein/error.h"
#include "skein/json.h"

namespace skein::mcp {

// What a client is able to do for a server.
struct ClientCapabilities {
  bool elicitation = false;  // ask a person
  bool sampling = false;     // ask a model
  bool roots = false;        // say which folders it is about
};
// `object` is the client's own description, valid JSON.
ClientCapabilities read_capabilities(std::string_view object);

enum class LogLevel { kDebug, kInfo, kNotice, kWarning, kError, kCritical, kAlert, kEmergency };
const char* to_string(LogLevel level);
std::optional<LogLevel> parse_log_level(std::string_view text);

// What a caller is told that sees some agents only.
inline constexpr std::string_view kForAllAgents =
    "items, sessions and checkpoints belong to the workspace: a key for all agents is needed";

// Whoever asks, and what it may do. Over standard streams it is the person who started the server.
struct Caller {
  std::string key;          // that it came with; empty: none
  std::string read_only{};  // why it must not change anything; empty: it may
  bool all_agents = true;
  std::vector<std::string> agents{};  // if not all

  bool sees(std::string_view agent_id) const;
};

struct Exchange {
  std::string version;  // of the protocol, for this request
  ClientCapabilities client{};
  std::optional<LogLevel> log_level{};  // nothing: it wants no log
  Json progress_token{};                // absent: it wants no progress
  Json input_responses{};               // what came back for input that was required; or absent
  std::string state{};                  // what was sealed then; empty: nothing
  Caller caller{};
  std::stop_token stop{};

  // Sends one message, without a line feed, ahead of the answer. Absent: it is dropped.
  std::function<void(std::string message)> send{};
  // Asks the client and waits for its answer; absent where the version has no such thing.
  std::function<Result<Json>(std::string_view method, const std::string& params)> ask{};
  // Cuts the stream of the answer, so that the client must come for it again; absent where there is
  // no such stream.
  std::function<void()> cut{};

  bool modern() const;
  // Whether its version knows structured content, titles and schemas of output.
  bool structured() const { return version >= "2025-06-18"; }

  void progress(double done, std::optional<double> total, std::string_view message = {}) const;
  // `data` is JSON.
  void log(LogLevel level, std::string_view data) const;
};

}  // namespace skein::mcp
