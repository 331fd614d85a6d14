#include "runner/run_work.h"

#include <algorithm>
#include <utility>

#include "core/quote.h"
#include "core/try.h"
#include "runner/accept.h"
#include "runner/recovery.h"
#include "runner/run_codec.h"
#include "runner/run_input.h"
#include "store/checks.h"

namespace skein {
namespace {

template <class Callback, class... Values>
void tell(const Callback& callback, Values&&... values) {
  if (callback) callback(std::forward<Values>(values)...);
}

}  // namespace

RunWork::RunWork(const RunnerParts& parts, LiveRun& live, const RunCallbacks& callbacks, Run run,
                 Turn turn)
    : parts_(parts),
      live_(live),
      callbacks_(callbacks),
      run_(std::move(run)),
      token_(turn.token),
      open_(std::move(turn.open)),
      writer_(parts.store, live, run_, token_),
      began_boot_ms_(parts.clock.boot_ms()),
      earlier_ms_(run_.duration_ms.value_or(0)) {
  live_.renew_at_boot_ms = began_boot_ms_ + parts.options.lease.count() / 3;
  live_.lease = token_;
}

Result<RunOutcome> RunWork::run(const RunRequest& request,
                                const std::vector<std::string>& roll_back,
                                const std::optional<Opening>& opening) {
  Result<void> input;
  if (opening && opening->begun()) {
    take_over(*opening);
    input = note_input(input_events(request.input, run_.id), {opening->message()});
  } else if (auto ready = prepare(request, roll_back, input); !ready) {
    return refused(std::move(ready).error());
  }
  tell(callbacks_.on_start, run_);

  const auto respond = [&]() -> Result<Response> {
    SKEIN_TRY(input);
    SKEIN_TRY(equip(request.timeout));
    return converse();
  };
  return end(respond());
}

Result<RunOutcome> RunWork::resume(const RunAnswer& answer) {
  Result<void> ready = check_still_asks();
  if (ready) ready = load_manifest();
  if (ready) ready = settle_what_was_left();
  if (ready) {
    ++run_.resumed;
    Result<void> nothing;
    ready = begin({}, std::nullopt, std::nullopt, nothing);
  }
  if (!ready) return refused(std::move(ready).error());
  tell(callbacks_.on_start, run_);

  const auto respond = [&]() -> Result<Response> {
    SKEIN_TRY(equip(std::nullopt));
    SKEIN_TRY(answer_question(answer));
    return converse();
  };
  return end(respond());
}

// --- Before the engine ---

void RunWork::take_over(const Opening& opening) {
  manifest_ = opening.manifest();
  run_ = opening.run();
  live_.tell_run(run_);
}

Result<void> RunWork::prepare(const RunRequest& request, const std::vector<std::string>& roll_back,
                              Result<void>& input) {
  SKEIN_TRY(load_manifest());
  SKEIN_TRY(settle_what_was_left());
  const std::optional<Seq> made_for = request.input.made_for;
  if (made_for && *made_for != manifest_.last_seq) {
    return tl::unexpected(wrong_seq(run_.thread, *made_for + 1, manifest_.last_seq + 1));
  }
  const std::vector<Event> events = input_events(request.input, run_.id);
  std::optional<Seq> base = request.base;
  if (!base && !events.empty()) base = events.front().base;
  run_.base_seq = base.value_or(manifest_.last_seq);
  writer_.continue_from(base);
  SKEIN_ASSIGN(const auto back, way_back(roll_back));
  return begin(events, made_for, back, input);
}

Result<void> RunWork::load_manifest() {
  SKEIN_ASSIGN(auto manifest, parts_.store.get(run_.thread));
  if (!manifest) return fail(ErrorCode::kNotFound, "there is no thread " + run_.thread.str());
  manifest_ = std::move(*manifest);
  // Without events, it may have gone to another agent since the run was accepted.
  return check_takes_runs(manifest_, run_.agent_id);
}

// Others may have answered while this one waited for its turn.
Result<void> RunWork::check_still_asks() {
  SKEIN_ASSIGN(const auto now, parts_.book.find(run_.id));
  if (now && now->question && now->resumed == run_.resumed) return {};
  return fail(ErrorCode::kConflict, "the question of run " + run_.id + " was answered meanwhile");
}

Result<void> RunWork::settle_what_was_left() {
  for (const OpenRun& open : open_) {
    if (open.run_id == run_.id) continue;
    if (open.state == OpenRun::State::kRunning) {
      SKEIN_TRY(close_dead_run(parts_, open, token_));
      SKEIN_TRY(load_manifest());  // its end may be in the thread, and is marked there
    } else if (open.state == OpenRun::State::kQuestion) {
      SKEIN_TRY(drop_question(
          parts_, open, {ErrorCode::kConflict, "the conversation went on with run " + run_.id}));
    }
  }
  return {};
}

// What is said to the run is written with its record; refused, it is the run that fails.
Result<void> RunWork::begin(const std::vector<Event>& events, std::optional<Seq> made_for,
                            const std::optional<TakenBack>& back, Result<void>& input) {
  run_.status = RunStatus::kRunning;
  if (!run_.started_at.is_set()) run_.started_at = parts_.clock.now();
  run_.ended_at = Timestamp{};
  // Only a thread without events can go to another agent.
  if (!events.empty() || manifest_.last_seq == 0) writer_.expect_version(manifest_.version);
  std::vector<Result<Appended>> answers;
  bool gone_back = false;
  std::optional<TakenBack> to_take_back = back;
  const auto put = [&](Writes& in) {
    std::vector<Append> appends = writer_.prepare(events);
    if (made_for && !appends.empty()) appends.front().expect_seq = *made_for + 1;
    answers.clear();
    gone_back = put_input(in, appends, to_take_back, answers);
  };
  const bool waited = live_.waiting_version != 0;
  SKEIN_TRY(put_begin(put));
  while (true) {
    const auto again = writer_.look_again(answers, false);
    if (!again) return not_begun(again.error(), waited);
    if (gone_back) go_on_after(std::exchange(to_take_back, std::nullopt)->way);
    if (!*again) break;
    SKEIN_TRY(parts_.store.together(put));
  }
  live_.tell_run(run_);
  input = note_input(events, answers);
  return {};
}

Result<void> RunWork::put_begin(const std::function<void(Writes&)>& put_input) {
  const auto write = [&](std::optional<Version> waiting) {
    Result<void> begun;
    const auto flushed = parts_.store.together([&](Writes& in) {
      begun = parts_.book.begin(in, run_, token_, waiting);
      if (begun) put_input(in);
    });
    return flushed ? begun : flushed;
  };
  std::optional<Version> waiting;
  if (live_.waiting_version != 0) waiting = live_.waiting_version;
  auto begun = write(waiting);
  // Its promise may have been renewed just now: then the entry is there, with another version.
  for (int i = 0; i < 3 && waiting && !begun && begun.error().code == ErrorCode::kConflict; ++i) {
    SKEIN_ASSIGN(const auto open, parts_.book.find_open(run_.id));
    if (!open) break;
    begun = write(open->version);
  }
  if (begun) live_.waiting_version = 0;
  return begun;
}

// Its record was written, but nothing in its thread. One that waited is known to others, who find
// there why it was refused.
Result<void> RunWork::not_begun(Error why, bool waited) {
  Run record = run_;
  record.status = RunStatus::kInterrupted;
  record.error = why;
  record.ended_at = parts_.clock.now();
  Result<void> undone;
  SKEIN_TRY(parts_.store.together([&](Writes& in) {
    undone = waited ? parts_.book.finish(in, record, token_, true)
                    : parts_.book.take_back(in, run_, token_);
  }));
  SKEIN_TRY(undone);
  return tl::unexpected(std::move(why));
}

Result<void> RunWork::note_input(const std::vector<Event>& events,
                                 const std::vector<Result<Appended>>& answers) {
  SKEIN_ASSIGN(const auto seqs, writer_.settle(answers));
  for (std::size_t i = 0; i < seqs.size(); ++i) {
    const auto* message = std::get_if<Message>(&events[i].payload);
    if (message != nullptr && message->role == Role::kUser) run_.user_seq = seqs[i];
  }
  return {};
}

Result<void> RunWork::equip(std::optional<std::chrono::milliseconds> timeout) {
  SKEIN_ASSIGN(agent_, parts_.agents.prepare({.run_id = run_.id,
                                              .agent_id = run_.agent_id,
                                              .thread = run_.thread,
                                              .task_id = manifest_.task_id,
                                              .chain = run_.chain}));
  if (!agent_.engine) return fail(ErrorCode::kInvalid, "agent " + run_.agent_id + " has no engine");
  if (agent_.limits.timeout && (!timeout || *agent_.limits.timeout < *timeout)) {
    timeout = agent_.limits.timeout;
  }
  if (timeout)
    live_.deadline_boot_ms = began_boot_ms_ + std::max<std::int64_t>(1, timeout->count());
  if (agent_.tools && !agent_.engine->is_agent()) {
    SKEIN_ASSIGN(definitions_, agent_.tools->definitions(live_.token()));
  }
  return {};
}

Result<void> RunWork::answer_question(const RunAnswer& answer) {
  const RunQuestion question = std::exchange(run_.question, std::nullopt).value_or(RunQuestion{});
  std::vector<ToolCall> approved;
  for (const ToolCall& call : question.calls) {
    const bool named = answer.calls.empty() || std::find(answer.calls.begin(), answer.calls.end(),
                                                         call.id) != answer.calls.end();
    if (answer.yes && named) {
      approved.push_back(call);
      continue;
    }
    std::string text = "a person was asked, and said no";
    if (!answer.note.empty()) text += ": " + answer.note;
    SKEIN_TRY(store_result(call, {.text = std::move(text), .is_error = true}));
  }
  return call_and_store(approved);
}

// --- Ends ---

Result<RunOutcome> RunWork::end(Result<Response> response) {
  live_.deadline_boot_ms = 0;
  const bool fenced = !response && response.error().code == ErrorCode::kFenced;
  if (fenced || live_.reason() == StopReason::kFenced) return lost();
  if (live_.reason() == StopReason::kUser) return stopped();
  if (live_.reason() == StopReason::kTimeout) {
    const auto ms = parts_.clock.boot_ms() - began_boot_ms_;
    return failed({ErrorCode::kIo,
                   "the run took longer than it may: stopped after " + std::to_string(ms) + " ms"},
                  RunStatus::kTimeout);
  }
  if (!response) return failed(std::move(response).error(), RunStatus::kError);
  if (response->question) return ask(std::move(*response->question));
  return succeed(std::move(response->turn));
}

Event RunWork::result_event() const {
  RunResult result;
  result.cost = run_.usage.cost_usd;
  result.duration_ms = earlier_ms_ + static_cast<double>(parts_.clock.boot_ms() - began_boot_ms_);
  result.turns = run_.usage.turns;
  result.input_tokens = run_.usage.input_tokens;
  result.output_tokens = run_.usage.output_tokens;
  result.cache_read_tokens = run_.usage.cache_read_tokens;
  return writer_.event(result);
}

Event RunWork::response_event(const EngineTurn& turn) const {
  JsonObject more;
  if (!run_.model.empty()) more.add("model", run_.model);
  if (turn.usage.input_tokens || turn.usage.output_tokens) {
    const auto count = [](const std::optional<std::int64_t>& tokens) {
      return static_cast<std::uint64_t>(std::max<std::int64_t>(0, tokens.value_or(0)));
    };
    more.add_json("tokens", JsonObject()
                                .add("input", count(turn.usage.input_tokens))
                                .add("output", count(turn.usage.output_tokens))
                                .str());
  }
  if (turn.end == TurnEnd::kLength) more.add("stopReason", "length");
  if (turn.end == TurnEnd::kRefused) more.add("stopReason", "refused");
  return writer_.event(Message{Role::kAssistant, turn.text}, more);
}

RunWork::LastWords RunWork::last_words(const EngineTurn& turn) {
  std::vector<Event> events;
  events.push_back(result_event());
  run_.duration_ms = std::get<RunResult>(events.front().payload).duration_ms;
  LastWords last;
  last.responds = !turn.text.empty();
  if (last.responds) events.push_back(response_event(turn));
  last.appends = writer_.prepare(std::move(events));
  return last;
}

Result<RunOutcome> RunWork::succeed(EngineTurn turn) {
  LastWords last = last_words(turn);
  if (turn.session_id && turn.session_id != manifest_.session_id) {
    last.manifest = ManifestPatch().session_id(*turn.session_id);
  }
  if (callbacks_.on_response) {
    // It is to hear of what is stored, before the run is over.
    if (auto said = say(std::exchange(last, {})); !said) {
      return not_written(std::move(said).error());
    }
    callbacks_.on_response(turn.text);
  }
  run_.effects =
      parts_.effects.wanted(run_, manifest_.title.has_value(), !agent_.fast_model.empty());
  if (auto closed = close(RunStatus::kSuccess, std::move(last)); !closed) {
    run_.effects.clear();
    return not_written(std::move(closed).error());
  }
  if (!run_.effects.empty()) parts_.effects.dispatch(run_, TitleMaker::of(agent_));
  let_go();
  if (run_.status != RunStatus::kSuccess) turn.text.clear();  // it was taken back
  return RunOutcome{.run = run_, .response = std::move(turn.text)};
}

Result<RunOutcome> RunWork::ask(RunQuestion question) {
  run_.question = std::move(question);
  tell(callbacks_.on_question, *run_.question);
  if (!close_silently(RunStatus::kInterrupted)) return lost();
  let_go();
  return RunOutcome{.run = run_, .response = ""};
}

Result<RunOutcome> RunWork::stopped() {
  std::vector<Event> events;
  events.push_back(writer_.event(Message{Role::kAssistant, "(stopped by user)"}));
  LastWords last{.appends = writer_.prepare(std::move(events))};
  if (live_.rolls_back) {
    heard_ = true;
    if (auto said = say(std::exchange(last, {})); !said) {
      return not_written(std::move(said).error());
    }
    last.back = own_way_back();
  }
  if (auto closed = close(RunStatus::kInterrupted, std::move(last)); !closed) {
    return not_written(std::move(closed).error());
  }
  let_go();
  return RunOutcome{.run = run_, .response = ""};
}

Result<RunOutcome> RunWork::not_written(Error error) {
  if (error.code == ErrorCode::kFenced) return lost();
  return failed(std::move(error), RunStatus::kError);
}

Result<RunOutcome> RunWork::failed(Error error, RunStatus status) {
  run_.error = error;
  constexpr std::size_t kMaxErrorBytes = 16'000;
  const std::string text =
      "(error: " + mended_utf8(std::string_view(error.message).substr(0, kMaxErrorBytes)) + ")";
  const auto appended = writer_.append(writer_.event(Message{Role::kAssistant, text}));
  if (!appended && appended.error().code == ErrorCode::kFenced) return lost();
  if (!appended) parts_.log("run " + run_.id + ": " + appended.error().message);
  tell(callbacks_.on_error, error);
  if (!close_silently(status)) return lost();
  let_go();
  return tl::unexpected(std::move(error));
}

Result<RunOutcome> RunWork::lost() {
  live_.stop(StopReason::kFenced);
  Error error{ErrorCode::kFenced, "another process took over thread " + run_.thread.str() +
                                      "; run " + run_.id + " writes nothing more"};
  tell(callbacks_.on_error, error);
  run_.status = RunStatus::kInterrupted;
  run_.error = error;
  close_waiting();  // whoever took over closes only what had begun
  holds_lease_ = false;
  let_go();
  return tl::unexpected(std::move(error));
}

Result<RunOutcome> RunWork::refused(Error error) {
  if (error.code == ErrorCode::kFenced) return lost();
  end_unbegun(error);
  return tl::unexpected(std::move(error));
}

void RunWork::end_unbegun(std::optional<Error> why) {
  run_.status = RunStatus::kInterrupted;
  run_.error = std::move(why);
  run_.ended_at = parts_.clock.now();
  close_waiting();
  let_go();
}

// One that waited has a record, which is to say what became of it; others leave nothing.
void RunWork::close_waiting() {
  if (run_.question || live_.waiting_version == 0) return;
  run_.ended_at = parts_.clock.now();
  if (auto closed = parts_.book.close_waiting(run_); !closed) {
    parts_.log("run " + run_.id + ": " + closed.error().message);
  }
}

}  // namespace skein
