// Engines, agents and tools that do what a test says, and a store that notes what a run writes.
#pragma once

#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "skein/runner.h"
#include "support/passing_store.h"

namespace skein::test {

// What happened, in order; thread-safe.
class Log {
 public:
  void note(std::string line);
  std::vector<std::string> lines() const;
  void clear();
  // Until the line is there; fails the test after a minute.
  void wait_for(std::string_view line) const;

 private:
  mutable std::mutex mutex_;
  mutable std::condition_variable noted_;
  std::vector<std::string> lines_;
};

class ScriptedEngine final : public Engine {
 public:
  using Run = std::function<Result<EngineTurn>(const EngineRequest&, EngineSink&, std::stop_token)>;
  explicit ScriptedEngine(Run run, bool is_agent = false)
      : run_(std::move(run)), is_agent_(is_agent) {}

  std::string_view name() const override { return "scripted"; }
  bool is_agent() const override { return is_agent_; }
  Result<EngineTurn> run(const EngineRequest& request, EngineSink& sink,
                         std::stop_token stop) override {
    return run_(request, sink, stop);
  }

 private:
  const Run run_;
  const bool is_agent_;
};

// Answers "re: " and the newest message of the user, in pieces.
Result<EngineTurn> answer_newest(const EngineRequest& request, EngineSink& sink,
                                 std::stop_token stop);
// Tells a piece of text and then waits to be stopped.
Result<EngineTurn> wait_for_stop(const EngineRequest& request, EngineSink& sink,
                                 std::stop_token stop);

class ScriptedTools final : public ToolBox {
 public:
  using Call = std::function<ToolResult(const ToolCall&, std::stop_token)>;
  struct Tool {
    ToolDefinition definition;
    Call call;
    bool needs_yes = false;
  };
  explicit ScriptedTools(std::vector<Tool> tools) : tools_(std::move(tools)) {}

  Result<std::vector<ToolDefinition>> definitions(std::stop_token stop) override;
  bool needs_yes(std::string_view tool) const override;
  ToolResult call(const ToolCall& call, std::stop_token stop) override;

 private:
  const std::vector<Tool> tools_;
};
ScriptedTools::Tool make_tool(std::string name, ScriptedTools::Call call, bool needs_yes = false);

// Agents by id; "agent" answers. Each may be changed between runs.
class ScriptedAgents final : public AgentSource {
 public:
  ScriptedAgents();

  struct Agent {
    ScriptedEngine::Run run = answer_newest;
    bool is_agent = false;
    std::string fast_model{};
    std::vector<ScriptedTools::Tool> tools{};
    RunLimits limits{};
  };
  void set(const std::string& id, Agent agent);
  void set(const std::string& id, ScriptedEngine::Run run) {
    set(id, Agent{.run = std::move(run)});
  }

  Result<void> check(std::string_view agent_id) override;
  Result<PreparedAgent> prepare(const RunScope& scope) override;

 private:
  std::mutex mutex_;
  std::map<std::string, Agent, std::less<>> agents_;  // under mutex_
};

// Notes writes: "lease", "append user: hi", "update sessionId", "write run running", "release".
class NotingStore final : public PassingStore {
 public:
  NotingStore(Store& inner, Log& log) : PassingStore(inner), log_(log) {}

  Result<Manifest> update(ThreadId id, const ManifestPatch& patch,
                          const UpdateOptions& options) override;
  std::vector<Result<Appended>> append(std::span<const Append> appends) override;
  Result<Lease> lease(ThreadId id, std::string_view holder, std::chrono::milliseconds ttl,
                      std::optional<LeaseToken> token) override;
  Result<std::vector<Version>> write(std::span<const RecordWrite> writes) override;

 private:
  Log& log_;
};

// Notes what a run tells: "on_response: …".
RunCallbacks noting_callbacks(Log& log);

// "user: hi", "tool_use: search", "tool: found", "result", …
std::string gist(const Event& event);
std::vector<std::string> gists(const std::vector<Event>& events);

// The member of the event's metadata, as text; empty if there is none.
std::string metadata_of(const Event& event, std::string_view name);

EngineTurn says(std::string text);
EngineTurn calls(std::string text, std::vector<ToolCall> calls);

}  // namespace skein::test
