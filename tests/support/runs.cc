#include "support/runs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>

#include "core/json_fields.h"
#include "core/pause.h"

namespace skein::test {

void Log::note(std::string line) {
  const std::lock_guard lock(mutex_);
  lines_.push_back(std::move(line));
  noted_.notify_all();
}

std::vector<std::string> Log::lines() const {
  const std::lock_guard lock(mutex_);
  return lines_;
}

void Log::clear() {
  const std::lock_guard lock(mutex_);
  lines_.clear();
}

void Log::wait_for(std::string_view line) const {
  std::unique_lock lock(mutex_);
  const bool came = noted_.wait_for(lock, std::chrono::minutes(1), [&] {
    return std::find(lines_.begin(), lines_.end(), line) != lines_.end();
  });
  EXPECT_TRUE(came) << "never noted: " << line;
}

EngineTurn says(std::string text) {
  EngineTurn turn;
  turn.text = std::move(text);
  turn.model = "scripted-1";
  turn.usage.input_tokens = 10;
  turn.usage.output_tokens = 5;
  return turn;
}

EngineTurn calls(std::string text, std::vector<ToolCall> calls) {
  EngineTurn turn = says(std::move(text));
  turn.calls = std::move(calls);
  turn.end = TurnEnd::kToolCalls;
  return turn;
}

Result<EngineTurn> answer_newest(const EngineRequest& request, EngineSink& sink,
                                 std::stop_token /*stop*/) {
  std::string newest;
  for (const EngineMessage& message : request.messages) {
    if (message.role == Role::kUser) newest = message.text;
  }
  if (!sink.on_text("re: ") || !sink.on_text(newest)) return fail(ErrorCode::kIo, "stopped");
  return says("re: " + newest);
}

Result<EngineTurn> wait_for_stop(const EngineRequest& /*request*/, EngineSink& sink,
                                 std::stop_token stop) {
  sink.on_text("half a sen");
  while (!stop.stop_requested()) pause_for(std::chrono::minutes(1), stop);
  return fail(ErrorCode::kIo, "stopped");
}

Result<std::vector<ToolDefinition>> ScriptedTools::definitions(std::stop_token /*stop*/) {
  std::vector<ToolDefinition> found;
  for (const Tool& tool : tools_) found.push_back(tool.definition);
  return found;
}

bool ScriptedTools::needs_yes(std::string_view tool) const {
  return std::any_of(tools_.begin(), tools_.end(), [&](const Tool& known) {
    return known.definition.name == tool && known.needs_yes;
  });
}

ToolResult ScriptedTools::call(const ToolCall& call, std::stop_token stop) {
  for (const Tool& tool : tools_) {
    if (tool.definition.name == call.name) return tool.call(call, stop);
  }
  return {.text = "no such tool", .is_error = true};
}

ScriptedTools::Tool make_tool(std::string name, ScriptedTools::Call call, bool needs_yes) {
  return {.definition = {.name = std::move(name),
                         .description = "a tool",
                         .input_schema = Json::trusted(
                             R"({"type":"object","properties":{"q":{"type":"string"}}})")},
          .call = std::move(call),
          .needs_yes = needs_yes};
}

ScriptedAgents::ScriptedAgents() { set("agent", Agent{}); }

void ScriptedAgents::set(const std::string& id, Agent agent) {
  const std::lock_guard lock(mutex_);
  agents_[id] = std::move(agent);
}

Result<void> ScriptedAgents::check(std::string_view agent_id) {
  const std::lock_guard lock(mutex_);
  if (agents_.contains(agent_id)) return {};
  return fail(ErrorCode::kNotFound, "there is no agent " + std::string(agent_id));
}

Result<PreparedAgent> ScriptedAgents::prepare(const RunScope& scope) {
  const std::lock_guard lock(mutex_);
  const auto found = agents_.find(scope.agent_id);
  if (found == agents_.end()) return fail(ErrorCode::kNotFound, "no agent " + scope.agent_id);
  PreparedAgent agent;
  agent.engine = std::make_shared<ScriptedEngine>(found->second.run, found->second.is_agent);
  agent.fast_model = found->second.fast_model;
  agent.limits = found->second.limits;
  if (!found->second.tools.empty()) {
    agent.tools = std::make_unique<ScriptedTools>(found->second.tools);
  }
  return agent;
}

std::string gist(const Event& event) {
  if (const auto* message = std::get_if<Message>(&event.payload)) {
    return std::string(to_string(message->role)) + ": " + message->text;
  }
  if (const auto* use = std::get_if<ToolUse>(&event.payload)) return "tool_use: " + use->name;
  if (const auto* text = std::get_if<AssistantText>(&event.payload)) {
    return "assistant_text: " + text->text;
  }
  return type_name(event);
}

std::vector<std::string> gists(const std::vector<Event>& events) {
  std::vector<std::string> found;
  for (const Event& event : events) found.push_back(gist(event));
  return found;
}

std::string metadata_of(const Event& event, std::string_view name) {
  if (event.metadata.empty()) return {};
  return JsonFields(event.metadata.text()).take_string(name).value_or("");
}

Result<Manifest> NotingStore::update(ThreadId id, const ManifestPatch& patch,
                                     const UpdateOptions& options) {
  std::string line = "update";
  for (const auto& entry : patch.entries()) line += " " + entry.field;
  if (options.fence) line += " (fenced)";
  log_.note(line);
  return inner_.update(id, patch, options);
}

std::vector<Result<Appended>> NotingStore::append(std::span<const Append> appends) {
  std::string line = "append";
  for (const Append& append : appends) {
    if (&append != &appends.front()) line += " +";
    line += " " + gist(append.event);
    if (!append.fence) line += " (unfenced)";
    if (metadata_of(append.event, "runId").empty()) line += " (no run)";
  }
  log_.note(line);
  return inner_.append(appends);
}

Result<Lease> NotingStore::lease(ThreadId id, std::string_view holder,
                                 std::chrono::milliseconds ttl, std::optional<LeaseToken> token) {
  log_.note(!token ? "lease" : ttl.count() == 0 ? "release" : "renew");
  return inner_.lease(id, holder, ttl, token);
}

Result<std::vector<Version>> NotingStore::write(std::span<const RecordWrite> writes) {
  std::string line = "write";
  for (const RecordWrite& write : writes) {
    if (write.collection == "runs") {
      line += " run " + (write.bytes ? JsonFields(*write.bytes).take_string("status").value_or("?")
                                     : std::string("deleted"));
    } else if (write.collection == "usage") {
      line += " + usage";
    }
  }
  if (line != "write") log_.note(line + (writes.front().fence ? "" : " (unfenced)"));
  return inner_.write(writes);
}

RunCallbacks noting_callbacks(Log& log) {
  const auto with = [&log](std::string name) {
    return [&log, name = std::move(name)](std::string_view text) {
      log.note(name + ": " + std::string(text));
    };
  };
  RunCallbacks callbacks;
  callbacks.on_start = [&log](const Run& run) {
    log.note(std::string("on_start: ") + to_string(run.status));
  };
  callbacks.on_thinking = with("on_thinking");
  callbacks.on_text = with("on_text");
  callbacks.on_narration = with("on_narration");
  callbacks.on_tool = [&log](const ToolCall& call) { log.note("on_tool: " + call.name); };
  callbacks.on_tool_result = [&log](const ToolCall& call, const ToolResult& result) {
    log.note("on_tool_result: " + call.name + ": " + result.text);
  };
  callbacks.on_question = [&log](const RunQuestion& question) {
    std::string line = "on_question:";
    for (const ToolCall& call : question.calls) line += " " + call.name;
    log.note(line);
  };
  callbacks.on_response = with("on_response");
  callbacks.on_error = [&log](const Error& error) { log.note("on_error: " + error.message); };
  return callbacks;
}

}  // namespace skein::test
