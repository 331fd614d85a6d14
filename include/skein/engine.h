// Engines: what turns a conversation into the next response.
//
// An engine is given everything with the call and keeps nothing between calls but connections; what
// happened is the thread's to remember. Two kinds exist:
//
//   a model  (openai, anthropic, echo): one call of run() is one turn of the model. It returns
//   text,
//            or calls of tools, which the caller executes before it calls run() again with the
//            results among the messages.
//   an agent (claude-code): has tools and a loop of its own. One call of run() is the whole
//            response; the tools used are told to the sink as they happen, and it keeps a session
//            that the next call resumes.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "skein/error.h"
#include "skein/event.h"
#include "skein/json.h"
#include "skein/tools.h"

namespace skein {

// One message of the conversation, as models know them.
struct EngineMessage {
  Role role = Role::kUser;
  std::string text;
  std::vector<ToolCall> calls{};  // kAssistant: the tools that it asked for after its text
  std::string tool_call_id{};     // kTool: the call that `text` answers
  bool is_error = false;          // kTool: the call failed
};

// A server of tools that the engine reaches by itself, in the form of MCP client configurations.
struct ToolServer {
  std::string name;
  std::vector<std::string> command{};  // program and arguments; empty: by url
  std::vector<std::pair<std::string, std::string>> environment{};
  std::string url{};
  std::vector<std::pair<std::string, std::string>> headers{};
};

struct EngineRequest {
  std::string model{};   // empty: the engine's default
  std::string system{};  // the system prompt
  // What the model gets to see, oldest first. An engine that resumes a session needs the newest
  // user message only, and takes the rest when it must start anew.
  std::vector<EngineMessage> messages{};
  // Of the engine's own session, from the turn before. An engine ignores one that it cannot take.
  std::optional<std::string> session_id{};
  std::vector<ToolDefinition> tools{};  // for models
  std::vector<ToolServer> servers{};    // for agents
  std::optional<std::int64_t> max_output_tokens{};
  std::optional<std::int64_t> max_turns{};  // for agents
  Json options{};                           // an object for the engine alone, or absent
  std::string folder{};                     // where an agent works; empty: where we are
};

// What a turn cost. Absent: the engine does not know.
struct EngineUsage {
  std::optional<std::int64_t> input_tokens{};
  std::optional<std::int64_t> output_tokens{};
  std::optional<std::int64_t> cache_read_tokens{};
  std::optional<double> cost_usd{};
  std::optional<std::int64_t> turns{};

  // Whether anything is known of it, and not 0.
  bool is_something() const {
    return input_tokens.value_or(0) != 0 || output_tokens.value_or(0) != 0 ||
           cache_read_tokens.value_or(0) != 0 || cost_usd.value_or(0) != 0;
  }
};

// What one call of an engine cost, all attempts together.
struct EngineCost {
  EngineUsage usage{};
  std::string model{};  // as the provider named it, else as it was asked for
  double duration_ms = 0;
};

enum class TurnEnd {
  kDone,       // the model finished
  kToolCalls,  // it waits for the results of `calls`
  kLength,     // it ran into a limit of tokens; the text is cut off
  kRefused,    // the provider or the model declined
};

struct EngineTurn {
  std::string text{};
  std::vector<ToolCall> calls{};
  TurnEnd end = TurnEnd::kDone;
  std::optional<std::string> session_id{};  // to resume with
  std::string model{};                      // as the provider named it
  EngineUsage usage{};
};

// Told of what happens, on the thread that called run(), in order. A callback that answers false
// ends the run: the engine stops what it does and run() fails.
class EngineSink {
 public:
  virtual ~EngineSink() = default;
  // A piece of the response, as it is written.
  virtual bool on_text(std::string_view piece) = 0;
  // A piece of what the model thinks; never part of the response.
  virtual bool on_thinking(std::string_view piece) = 0;
  // Agents only: text that turned out to be narration before a tool, a tool that is being used, and
  // what it gave back.
  virtual bool on_narration(std::string_view text) = 0;
  virtual bool on_tool_use(const ToolCall& call) = 0;
  virtual bool on_tool_result(const ToolCall& call, const ToolResult& result) = 0;
  // What was spent on an attempt that failed. A turn that run() returns has its own usage.
  virtual void on_spent(const EngineUsage& usage, std::string_view model) {
    (void)usage;
    (void)model;
  }
};

// Whether a text may be the id of an engine's session: [A-Za-z0-9][A-Za-z0-9._:+-]{0,127}. Such a
// text is no option of a command line, no path and no second header. An engine may demand more.
bool is_engine_session_id(std::string_view id);

// Thread-safe: any number of runs at once.
class Engine {
 public:
  virtual ~Engine() = default;
  Engine() = default;
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  virtual std::string_view name() const = 0;  // "echo", "openai", …
  // Whether it is an agent, with tools and sessions of its own.
  virtual bool is_agent() const = 0;

  // Whether it can resume a session with this id. Manifests may come from other programs: the
  // runner passes no other id on, and logs why it starts a new session.
  virtual bool takes_session_id(std::string_view id) const { return is_engine_session_id(id); }

  // One turn. Fails when the stop token asks for it (within some 10 ms; callers look at their token
  // to tell this from other failures), with kInvalid when the provider refuses the request as
  // malformed or unauthorised, kNotFound for an unknown model or a missing program, kBusy when the
  // provider is still overloaded after retries, and kIo when the response was cut off or is not
  // what the protocol allows. What was told to the sink before stays told; what is known of the
  // costs is told before it fails. No message of an error
  // ever contains a key.
  virtual Result<EngineTurn> run(const EngineRequest& request, EngineSink& sink,
                                 std::stop_token stop) = 0;
};

}  // namespace skein
