// The engine's turns and the tools between them.
#include <algorithm>
#include <utility>

#include "core/quote.h"
#include "core/try.h"
#include "runner/conversation.h"
#include "runner/run_work.h"
#include "runner/tool_calls.h"
#include "runner/usage_record.h"

namespace skein {
namespace {

JsonObject call_metadata(const ToolCall& call) {
  JsonObject more;
  more.add("tool_call_id", call.id).add("tool_name", call.name);
  return more;
}

// Tells listeners, and stores what an agent with a loop of its own does.
class RunSink : public EngineSink {
 public:
  RunSink(LiveRun& live, ThreadWriter& writer, const RunCallbacks& callbacks)
      : live_(live), writer_(writer), callbacks_(callbacks) {}

  const std::optional<Error>& error() const { return error_; }
  // On attempts that failed.
  const EngineTurn& spent() const { return spent_; }

  bool on_text(std::string_view piece) override {
    live_.tell_text(piece);
    if (callbacks_.on_text) callbacks_.on_text(piece);
    return going_on();
  }
  bool on_thinking(std::string_view piece) override {
    live_.tell_thinking(piece);
    if (callbacks_.on_thinking) callbacks_.on_thinking(piece);
    return going_on();
  }
  bool on_narration(std::string_view text) override {
    if (text.empty()) return going_on();
    if (!store(writer_.event(AssistantText{std::string(text)}))) return false;
    if (callbacks_.on_narration) callbacks_.on_narration(text);
    return going_on();
  }
  bool on_tool_use(const ToolCall& call) override {
    ToolUse use{call.name, storable_input(call)};
    if (!store(writer_.event(std::move(use), call_metadata(call)))) return false;
    if (callbacks_.on_tool) callbacks_.on_tool(call);
    return going_on();
  }
  bool on_tool_result(const ToolCall& call, const ToolResult& result) override {
    ToolResult tidied = tidy(result);
    if (!store(tool_message(writer_, call, tidied))) return false;
    if (callbacks_.on_tool_result) callbacks_.on_tool_result(call, tidied);
    return going_on();
  }

  void on_spent(const EngineUsage& usage, std::string_view model) override {
    add_usage(spent_.usage, usage);
    spent_.model = model;
  }

  static Event tool_message(const ThreadWriter& writer, const ToolCall& call,
                            const ToolResult& result) {
    JsonObject more = call_metadata(call);
    if (result.is_error) more.add("is_error", true);
    Event event = writer.event(Message{Role::kTool, result.text}, more);
    event.memory_type = MemoryType::kToolResult;
    return event;
  }

 private:
  bool going_on() const { return live_.reason() == StopReason::kNone; }
  bool store(Event event) {
    auto appended = writer_.append(std::move(event));
    if (!appended) error_ = appended.error();
    return appended.has_value();
  }

  LiveRun& live_;
  ThreadWriter& writer_;
  const RunCallbacks& callbacks_;
  std::optional<Error> error_;
  EngineTurn spent_;
};

}  // namespace

Result<RunWork::Response> RunWork::converse() {
  while (true) {
    SKEIN_ASSIGN(EngineTurn turn, take_turn());
    account(turn);
    if (live_.reason() != StopReason::kNone) return fail(ErrorCode::kIo, "stopped");
    if (turn.calls.empty() || agent_.engine->is_agent()) return Response{.turn = std::move(turn)};
    SKEIN_TRY(check_limits());
    SKEIN_ASSIGN(auto question, use_tools(turn));
    if (question) return Response{.turn = {}, .question = std::move(question)};
    if (live_.reason() != StopReason::kNone) return fail(ErrorCode::kIo, "stopped");
  }
}

EngineRequest RunWork::engine_request() const {
  EngineRequest request;
  request.model = agent_.model;
  request.system = agent_.system;
  request.options = agent_.options;
  request.folder = agent_.folder;
  request.max_output_tokens = agent_.limits.max_output_tokens;
  return request;
}

// A manifest may have been written by another program, or by hand.
std::optional<std::string> RunWork::resumable_session() const {
  const auto& id = manifest_.session_id;
  if (!id || agent_.engine->takes_session_id(*id)) return id;
  parts_.log("run " + run_.id + ": starts a new session, because sessionId " + quote(*id) +
             " of thread " + run_.thread.str() + " is no session id of the engine " +
             std::string(agent_.engine->name()));
  return std::nullopt;
}

Result<EngineTurn> RunWork::take_turn() {
  EngineRequest request = engine_request();
  SKEIN_ASSIGN(request.messages,
               conversation_of(parts_.store, run_.thread, agent_.context, writer_.pending_base()));
  if (agent_.engine->is_agent()) {
    request.session_id = resumable_session();
    request.servers = agent_.servers;
    request.max_turns = agent_.limits.max_turns;
  } else {
    request.tools = definitions_;
  }
  RunSink sink(live_, writer_, callbacks_);
  auto turn = agent_.engine->run(request, sink, live_.token());
  if (sink.spent().usage.is_something()) account(sink.spent());
  if (sink.error()) return tl::unexpected(*sink.error());
  return turn;
}

void RunWork::account(const EngineTurn& turn) {
  add_usage(run_.usage, turn.usage);
  if (!turn.model.empty()) run_.model = turn.model;
}

// Before going on: a response that is there already is not thrown away.
Result<void> RunWork::check_limits() const {
  const RunLimits& limits = agent_.limits;
  const EngineUsage& used = run_.usage;
  const auto reached = [](std::string_view what, const std::string& limit) {
    return fail(ErrorCode::kInvalid,
                "the run reached its limit of " + limit + " " + std::string(what));
  };
  if (used.turns.value_or(0) >= limits.max_turns) {
    return reached("turns", std::to_string(limits.max_turns));
  }
  const std::int64_t tokens = used.input_tokens.value_or(0) + used.output_tokens.value_or(0);
  if (limits.max_tokens && tokens >= *limits.max_tokens) {
    return reached("tokens", std::to_string(*limits.max_tokens));
  }
  if (limits.max_cost_usd && used.cost_usd.value_or(0) >= *limits.max_cost_usd) {
    std::string amount;
    append_json_number(amount, *limits.max_cost_usd);
    return reached("USD", amount);
  }
  return {};
}

Result<std::optional<RunQuestion>> RunWork::use_tools(const EngineTurn& turn) {
  const CheckedCalls checked = check_calls(turn.calls, definitions_);
  std::vector<Event> events;
  if (!turn.text.empty()) events.push_back(writer_.event(AssistantText{turn.text}));
  for (const ToolCall& call : checked.calls) {
    events.push_back(writer_.event(ToolUse{call.name, call.input}, call_metadata(call)));
  }
  SKEIN_TRY(writer_.append(std::move(events)));
  if (!turn.text.empty() && callbacks_.on_narration) callbacks_.on_narration(turn.text);

  RunQuestion question;
  std::vector<ToolCall> fine;
  for (std::size_t i = 0; i < checked.calls.size(); ++i) {
    const ToolCall& call = checked.calls[i];
    if (callbacks_.on_tool) callbacks_.on_tool(call);
    if (!checked.wrong[i].empty()) {
      SKEIN_TRY(store_result(call, {.text = checked.wrong[i], .is_error = true}));
    } else if (agent_.tools->needs_yes(call.name)) {
      question.calls.push_back(call);
    } else {
      fine.push_back(call);
    }
  }
  SKEIN_TRY(call_and_store(fine));
  if (question.calls.empty()) return std::nullopt;
  return question;
}

Result<void> RunWork::call_and_store(const std::vector<ToolCall>& calls) {
  if (calls.empty()) return {};
  if (!agent_.tools) return fail(ErrorCode::kInvalid, "agent " + run_.agent_id + " has no tools");
  Result<void> stored;
  call_tools(*agent_.tools, calls, live_.token(), [&](const ToolCall& call, ToolResult result) {
    if (live_.reason() != StopReason::kNone) return false;
    stored = store_result(call, std::move(result));
    return stored.has_value();
  });
  return stored;
}

Result<void> RunWork::store_result(const ToolCall& call, ToolResult result) {
  const ToolResult tidied = tidy(std::move(result));
  SKEIN_TRY(writer_.append(RunSink::tool_message(writer_, call, tidied)));
  if (callbacks_.on_tool_result) callbacks_.on_tool_result(call, tidied);
  return {};
}

}  // namespace skein
