#include "api/demo/player.h"

#include <algorithm>

#include "core/try.h"
#include "skein/tokens.h"

namespace skein {

void DemoClock::move_to(std::int64_t ms) {
  const std::lock_guard lock(mutex_);
  now_ms_ = std::clamp(ms, now_ms_.load(), std::max(now_ms_.load(), end_ms_));
}

void DemoClock::advance(std::int64_t ms) {
  const std::lock_guard lock(mutex_);
  now_ms_ = std::min(now_ms_ + ms, std::max(now_ms_.load(), end_ms_));
}

class DemoPlayer::Speaker final : public Engine {
 public:
  explicit Speaker(DemoPlayer& player) : player_(player) {}
  std::string_view name() const override { return "demo"; }
  bool is_agent() const override { return false; }

  Result<EngineTurn> run(const EngineRequest& request, EngineSink& sink, std::stop_token) override {
    DemoRun& played = player_.run_;
    EngineTurn turn;
    turn.model = played.model;
    const std::size_t index = player_.next_turn_++;
    if (index < played.turns.size()) {
      turn.text = played.turns[index].narration;
      turn.end = TurnEnd::kToolCalls;
      for (const DemoRun::Call& call : played.turns[index].calls) {
        turn.calls.push_back({"call_" + std::to_string(player_.chance_.next() % 100'000'000),
                              call.name, call.input});
      }
    } else if (played.end == DemoRun::End::kFailure) {
      player_.clock_.advance(player_.chance_.between(4'000, 30'000));
      return fail(ErrorCode::kBusy, played.last);
    } else {
      turn.text = played.last;
    }
    turn.usage = player_.usage_of(request, turn);
    player_.clock_.advance(700 + *turn.usage.output_tokens * player_.chance_.between(12, 22));
    if (!turn.text.empty()) sink.on_text(turn.text);
    if (turn.end == TurnEnd::kDone && played.end == DemoRun::End::kStop) {
      player_.stop_.request_stop();
    }
    player_.tool_ms_ = player_.chance_.between(80, 4'000);
    return turn;
  }

 private:
  DemoPlayer& player_;
};

class DemoPlayer::Box final : public ToolBox {
 public:
  explicit Box(DemoPlayer& player) : player_(player) {}

  Result<std::vector<ToolDefinition>> definitions(std::stop_token) override {
    std::map<std::string, ToolDefinition> all;
    for (const DemoRun::Turn& turn : player_.run_.turns) {
      for (const DemoRun::Call& call : turn.calls) {
        all[call.name] = {call.name, "as written", Json::trusted(R"({"type":"object"})")};
      }
    }
    std::vector<ToolDefinition> definitions;
    for (auto& [name, definition] : all) definitions.push_back(std::move(definition));
    return definitions;
  }

  bool needs_yes(std::string_view tool) const override {
    const DemoRun& run = player_.run_;
    return run.end == DemoRun::End::kQuestion && run.turns.back().calls.back().name == tool;
  }

  ToolResult call(const ToolCall& call, std::stop_token) override {
    player_.clock_.advance(player_.tool_ms_);
    for (const DemoRun::Call& each : player_.run_.turns[player_.next_turn_ - 1].calls) {
      if (each.name == call.name && each.input == call.input) return {each.result};
    }
    return {"there is no such tool", true};
  }

 private:
  DemoPlayer& player_;
};

DemoPlayer::DemoPlayer(DemoClock& clock, std::uint64_t seed)
    : clock_(clock), chance_(seed), speaker_(std::make_shared<Speaker>(*this)) {}

DemoPlayer::~DemoPlayer() = default;

Result<Run> DemoPlayer::play(Runner& runner, const RunRequest& request, DemoRun run) {
  run_ = std::move(run);
  next_turn_ = 0;
  stop_ = std::stop_source();
  clock_.advance(chance_.between(20'000, 150'000));  // somebody thinks and types
  std::string run_id;
  RunCallbacks callbacks;
  callbacks.on_start = [&](const Run& started) { run_id = started.id; };
  auto outcome = runner.execute(request, callbacks, stop_.get_token());
  runner.finish_effects();
  if (!outcome && (run_.end != DemoRun::End::kFailure || run_id.empty())) {
    return tl::unexpected(std::move(outcome).error());
  }
  return runner.get(run_id);
}

Result<void> DemoPlayer::check(std::string_view agent_id) {
  if (prompts_.find(agent_id) != prompts_.end()) return {};
  return fail(ErrorCode::kNotFound, "the demo has no agent " + std::string(agent_id));
}

Result<PreparedAgent> DemoPlayer::prepare(const RunScope& scope) {
  thread_ = scope.thread;
  PreparedAgent agent;
  agent.engine = speaker_;
  agent.model = run_.model;
  agent.system = prompts_.find(scope.agent_id)->second;
  agent.tools = std::make_unique<Box>(*this);
  agent.context.max_tokens = 32'000;
  return agent;
}

EngineUsage DemoPlayer::usage_of(const EngineRequest& request, const EngineTurn& turn) {
  // What every request has besides the conversation: the descriptions of tools, say.
  constexpr std::int64_t kAlways = 900;
  auto sent = static_cast<std::int64_t>(count_tokens(request.system)) + kAlways;
  for (const EngineMessage& message : request.messages) {
    sent += static_cast<std::int64_t>(count_tokens(message.text)) + 4;
    for (const ToolCall& call : message.calls) {
      sent += static_cast<std::int64_t>(count_tokens(call.input.text())) + 8;
    }
  }
  auto said = static_cast<std::int64_t>(count_tokens(turn.text));
  for (const ToolCall& call : turn.calls) {
    said += static_cast<std::int64_t>(count_tokens(call.input.text())) + 12;
  }
  const std::int64_t cached = std::min(std::exchange(cached_[thread_], sent), sent);
  const ModelPrice& price = prices_[turn.model];
  EngineUsage usage;
  usage.input_tokens = sent - cached;
  usage.cache_read_tokens = cached;
  usage.output_tokens = said;
  usage.turns = 1;
  usage.cost_usd =
      (static_cast<double>(sent - cached) * price.input +
       static_cast<double>(cached) * price.cached + static_cast<double>(said) * price.output) /
      1e6;
  return usage;
}

}  // namespace skein
