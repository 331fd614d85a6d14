#include "runner/recovery.h"

#include <span>
#include <utility>

#include "core/try.h"
#include "runner/run_codec.h"
#include "runner/run_mark.h"
#include "runner/way_back.h"

namespace skein {
namespace {

// What the run got to write.
struct Traces {
  std::optional<RunResult> result;
  std::optional<Seq> response;  // behind the result
  Seq first = 0;
  Seq last = 0;
};

// From the end of the thread back to where the run began, however far that is: part of a run must
// not be taken for all of it.
Result<Traces> traces_of(Store& store, const Run& run) {
  const Seq first = run.first_seq > 0 ? run.first_seq : run.base_seq + 1;
  Traces traces;
  ReadRange range;
  range.direction = Direction::kBackward;
  SKEIN_TRY(store.read(run.thread, range, [&](Event& event) {
    if (event.seq < first) return false;
    if (run_of(event) != run.id) return true;
    if (traces.last == 0) traces.last = event.seq;
    traces.first = event.seq;
    const auto* message = std::get_if<Message>(&event.payload);
    if (message != nullptr && message->role == Role::kAssistant && !traces.response) {
      traces.response = event.seq;
    }
    if (const auto* result = std::get_if<RunResult>(&event.payload)) traces.result = *result;
    return true;
  }));
  return traces;
}

void close_by_traces(Run& run, const Traces& traces, Effects& effects) {
  run.first_seq = traces.first;
  run.last_seq = traces.last;
  run.question.reset();
  if (!traces.result) {
    run.status = RunStatus::kInterrupted;
    run.error = Error{ErrorCode::kIo, "the process that worked on this run ended"};
    return;
  }
  run.status = RunStatus::kSuccess;
  run.response_seq = traces.response;
  run.usage = {.input_tokens = traces.result->input_tokens,
               .output_tokens = traces.result->output_tokens,
               .cache_read_tokens = traces.result->cache_read_tokens,
               .cost_usd = traces.result->cost,
               .turns = traces.result->turns};
  run.duration_ms = traces.result->duration_ms;
  run.effects = effects.wanted(run, false, true);
}

// Those that were closed by somebody else in between are none of ours.
Result<bool> unless_moved_on(Result<void> closed) {
  if (closed) return true;
  if (closed.error().code == ErrorCode::kConflict) return false;
  return tl::unexpected(std::move(closed).error());
}

Result<bool> close_waiting(const RunnerParts& parts, const OpenRun& open) {
  SKEIN_ASSIGN(auto run, parts.book.find_to_close(open.run_id));
  if (!run) return false;
  run->status = RunStatus::kInterrupted;
  run->ended_at = parts.clock.now();
  run->error = Error{ErrorCode::kIo, "the process in which this run waited ended"};
  return unless_moved_on(parts.book.close_unheld(*run, open));
}

Result<bool> take_up_effects(const RunnerParts& parts, const OpenRun& open) {
  SKEIN_ASSIGN(const auto known, parts.book.find_known(open.run_id));
  if (!known || !known->counts) return false;
  SKEIN_ASSIGN(const bool ours, unless_moved_on(parts.book.claim_effects(open)));
  if (ours) parts.effects.dispatch(known->run, std::nullopt);
  return ours;
}

// The thread is gone, and its lease with it.
Result<bool> close_without_thread(const RunnerParts& parts, const OpenRun& open) {
  SKEIN_ASSIGN(auto run, parts.book.find_to_close(open.run_id));
  if (!run) return false;
  run->status = RunStatus::kInterrupted;
  run->ended_at = parts.clock.now();
  run->error = Error{ErrorCode::kNotFound, "the thread of this run was deleted"};
  return unless_moved_on(parts.book.close_unheld(*run, open));
}

// Whether it is left behind: others may have written since, and then it stays.
Result<bool> go_back(Writes& in, const Run& run, const WayBack& back, LeaseToken token) {
  if (back.gone) return true;
  const Append append = going_back(run.thread, back, token);
  const auto gone = in.append(std::span(&append, 1)).front();
  if (!gone && gone.error().code == ErrorCode::kConflict) return false;
  SKEIN_TRY(gone);
  return true;
}

// kConflict: a request to stop it came at that moment.
Result<void> close_once(const RunnerParts& parts, const OpenRun& open, LeaseToken token) {
  SKEIN_ASSIGN(auto known, parts.book.find_known(open.run_id));
  if (!known) return parts.book.forget_running(open, token);
  Run* const run = &known->run;
  SKEIN_ASSIGN(const Traces traces, traces_of(parts.store, *run));
  close_by_traces(*run, traces, parts.effects);
  if (!known->counts) run->effects.clear();
  run->ended_at = parts.clock.now();
  SKEIN_ASSIGN(const auto manifest, parts.store.get(run->thread));
  // Its process may have died before it did that, or said that it had.
  SKEIN_ASSIGN(const auto request, parts.book.stop_request(run->id));
  std::optional<WayBack> back;
  if (request && asks_to_roll_back(*request) && run->status == RunStatus::kInterrupted &&
      run->first_seq != 0) {
    SKEIN_ASSIGN(back, find_way_back(parts.store, run->thread, run->first_seq, {&run->id, 1}));
  }
  const auto put_end = [&](Writes& in) -> Result<void> {
    if (manifest) SKEIN_TRY(mark_end(in, *manifest, *run, token));
    if (back) {
      SKEIN_ASSIGN(run->rolled_back, go_back(in, *run, *back, token));
    }
    return parts.book.finish(in, *run, token, request.has_value());
  };
  Result<void> closed;
  SKEIN_TRY(parts.store.together([&](Writes& in) { closed = put_end(in); }));
  SKEIN_TRY(closed);
  if (!run->effects.empty()) parts.effects.dispatch(*run, std::nullopt);
  return {};
}

}  // namespace

Result<void> close_dead_run(const RunnerParts& parts, const OpenRun& open, LeaseToken token) {
  constexpr int kAttempts = 10;
  if (!open.counts) return {};
  for (int attempt = 1;; ++attempt) {
    auto closed = close_once(parts, open, token);
    const bool asked = !closed && closed.error().code == ErrorCode::kConflict;
    if (!asked || attempt == kAttempts) return closed;
  }
}

Result<void> drop_question(const RunnerParts& parts, const OpenRun& open, Error why) {
  SKEIN_ASSIGN(auto run, parts.book.find_to_close(open.run_id));
  if (!run) return {};
  run->question.reset();
  run->error = std::move(why);
  SKEIN_TRY(unless_moved_on(parts.book.close_unheld(*run, open)));
  return {};
}

Result<bool> recover_thread(const RunnerParts& parts, ThreadId thread) {
  SKEIN_ASSIGN(const auto token, parts.turns.take_lease(thread));
  if (!token) return false;
  auto open = parts.book.open_of(thread);
  Result<void> closed;
  for (const OpenRun& entry : open ? *open : std::vector<OpenRun>{}) {
    if (entry.state != OpenRun::State::kRunning || !closed) continue;
    closed = close_dead_run(parts, entry, *token);
  }
  parts.turns.give_back(thread, *token);
  SKEIN_TRY(open);
  SKEIN_TRY(closed);
  return true;
}

Result<Recovered> recover_all(const RunnerParts& parts) {
  Recovered recovered;
  SKEIN_ASSIGN(const auto open, parts.book.all_open());
  for (const OpenRun& entry : open) {
    if (parts.book.is_ours(entry)) continue;
    if (!entry.counts) {
      ++recovered.inert;
      continue;
    }
    Result<bool> closed = false;
    switch (entry.state) {
      case OpenRun::State::kPending:
        if (parts.book.is_left(entry)) closed = close_waiting(parts, entry);
        break;
      case OpenRun::State::kRunning:
        closed = recover_thread(parts, entry.thread);
        if (!closed && closed.error().code == ErrorCode::kNotFound) {
          closed = close_without_thread(parts, entry);
        }
        break;
      case OpenRun::State::kEffects:
        if (parts.book.is_left(entry)) {
          SKEIN_ASSIGN(const bool taken, take_up_effects(parts, entry));
          if (taken) ++recovered.effects;
        }
        continue;
      case OpenRun::State::kQuestion:
        continue;
    }
    SKEIN_TRY(closed);
    ++(*closed ? recovered.closed : recovered.alive);
  }
  return recovered;
}

}  // namespace skein
