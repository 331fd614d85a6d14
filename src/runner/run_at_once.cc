// A run of an agent that answers at once. Nothing is stored before the answer is there, and then
// all of it; whatever stands in the way of that, it goes the usual way instead.
#include <algorithm>
#include <span>
#include <utility>

#include "core/try.h"
#include "runner/conversation.h"
#include "runner/run_mark.h"
#include "runner/run_work.h"
#include "skein/tokens.h"
#include "store/checks.h"

namespace skein {
namespace {

// Nobody hears of what may not be stored in the end.
class SilentSink : public EngineSink {
 public:
  bool on_text(std::string_view /*piece*/) override { return true; }
  bool on_thinking(std::string_view /*piece*/) override { return true; }
  bool on_narration(std::string_view /*text*/) override { return false; }
  bool on_tool_use(const ToolCall& /*call*/) override { return false; }
  bool on_tool_result(const ToolCall& /*call*/, const ToolResult& /*result*/) override {
    return false;
  }
};

bool are_storable(const std::vector<Append>& appends) {
  return std::all_of(appends.begin(), appends.end(),
                     [](const Append& append) { return check_append(append).has_value(); });
}

std::optional<std::string> said_by_user(const Event& event) {
  const auto* message = std::get_if<Message>(&event.payload);
  if (message == nullptr || message->role != Role::kUser) return std::nullopt;
  return message->text;
}

}  // namespace

std::optional<RunOutcome> RunWork::run_at_once(const RunRequest& request, const Opening& opening) {
  const Run before = std::exchange(run_, opening.run());
  manifest_ = opening.manifest();
  auto turn = answer_at_once(request, opening.input().event);
  bool written = false;
  if (turn) {
    account(*turn);
    LastWords last = last_words(*turn);
    for (Append& append : last.appends) append.fence.reset();  // the lease is yet to be had
    // Where they will stand: the input is refused anywhere else.
    run_.first_seq = opening.run().base_seq + 1;
    run_.last_seq = run_.first_seq + last.appends.size();
    auto said = said_by_user(opening.input().event);
    if (said) run_.user_seq = run_.first_seq;
    if (last.responds) run_.response_seq = run_.last_seq;
    run_.status = RunStatus::kSuccess;
    run_.ended_at = parts_.clock.now();
    run_.effects = parts_.effects.wanted(run_, manifest_.title.has_value(),
                                         !agent_.fast_model.empty(), std::move(said));
    if (are_storable(last.appends)) {
      const auto flushed = parts_.store.together(
          [&](Writes& in) { written = put_at_once(in, opening, last.appends); });
      written = written && flushed;
    }
  }
  live_.deadline_boot_ms = 0;
  if (!written) {
    run_ = before;
    return std::nullopt;
  }
  if (callbacks_.on_start) callbacks_.on_start(run_);
  if (!run_.effects.empty()) parts_.effects.dispatch(run_, TitleMaker::of(agent_));
  live_.tell_end(run_);
  return RunOutcome{.run = run_, .response = std::move(turn->text)};
}

std::optional<EngineTurn> RunWork::answer_at_once(const RunRequest& request, const Event& input) {
  if (!equip(request.timeout)) return std::nullopt;
  Engine& engine = *agent_.engine;
  if (agent_.tools || engine.is_agent() || !engine.answers_at_once(agent_.options)) {
    return std::nullopt;
  }
  auto messages = conversation_with(input);
  if (!messages) return std::nullopt;
  EngineRequest asked = engine_request();
  asked.messages = std::move(*messages);
  SilentSink sink;
  auto turn = engine.run(asked, sink, live_.token());
  const bool done = turn && turn->calls.empty() && turn->session_id == manifest_.session_id &&
                    live_.reason() == StopReason::kNone;
  if (!done) return std::nullopt;
  return std::move(*turn);
}

// As it will be when the input is in the thread. Without what was left out already, nothing more is
// left out for it.
Result<std::vector<EngineMessage>> RunWork::conversation_with(const Event& input) {
  if (manifest_.last_seq == 0) return engine_messages({input});
  const auto takes_another_look = [] { return fail(ErrorCode::kBusy, "it must be stored first"); };
  if (agent_.context.strategy != ContextStrategy::kRecent) return takes_another_look();
  SKEIN_ASSIGN(ContextWindow window, make_context(parts_.store, run_.thread, agent_.context));
  const auto* message = std::get_if<Message>(&input.payload);
  const std::uint64_t more =
      message == nullptr ? 0 : count_tokens(message->text) + kMessageOverhead;
  if (window.tokens + more > agent_.context.max_tokens) return takes_another_look();
  window.messages.push_back(input);
  return engine_messages(window.messages);
}

bool RunWork::put_at_once(Writes& in, const Opening& opening, std::vector<Append> appends) {
  const auto lease = parts_.turns.take(in, run_.thread);
  if (!lease) return false;
  const LeaseToken token = lease->token;
  Append input = opening.input();
  input.fence = token;
  for (Append& append : appends) append.fence = token;
  bool put = parts_.book.put_ended(in, run_, token).has_value();
  if (put && !in.append(std::span(&input, 1)).front()) {
    put = false;
    [[maybe_unused]] const auto undone = parts_.book.take_back_ended(in, run_, token);
  }
  if (put) {
    in.append(appends);  // storable, at the end, and with the lease: nothing refuses them
    const auto marked = mark_end(in, manifest_, run_, token);
    if (!marked) parts_.log("run " + run_.id + ": manifest: " + marked.error().message);
  }
  [[maybe_unused]] const auto given = Turns::give_back(in, run_.thread, token);
  return put;
}

}  // namespace skein
