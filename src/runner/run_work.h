// One run, from the moment it has the turn: the steps of skein/runner.h, and their ends.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runner/live_run.h"
#include "runner/opening.h"
#include "runner/parts.h"
#include "runner/thread_writer.h"
#include "runner/way_back.h"
#include "skein/runner.h"

namespace skein {

// Used once, on one thread.
class RunWork {
 public:
  RunWork(const RunnerParts& parts, LiveRun& live, const RunCallbacks& callbacks, Run run,
          Turn turn);

  // `roll_back`: runs that were stopped for this one, which is to go on from before them.
  // `opening`: what was written with the lease, if anything was.
  Result<RunOutcome> run(const RunRequest& request, const std::vector<std::string>& roll_back,
                         const std::optional<Opening>& opening);
  Result<RunOutcome> resume(const RunAnswer& answer);
  // For a run that was stopped before its turn came: takes back those that were stopped for it, and
  // does nothing else.
  Result<RunOutcome> only_roll_back(const std::vector<std::string>& roll_back);

 private:
  // What the engine came to.
  struct Response {
    EngineTurn turn;
    std::optional<RunQuestion> question{};
  };

  // What it says last, and what became of that.
  struct LastWords {
    std::vector<Append> appends{};
    bool responds = false;                    // the last of them is the response
    std::optional<ManifestPatch> manifest{};  // the engine's session
    std::optional<Append> back{};             // leaves behind all that it wrote
    std::vector<Result<Appended>> appended{};
    Result<void> updated{};
    Result<Appended> went_back{};
  };

  // Other runs, marked as taken back, and the way.
  struct TakenBack {
    std::vector<KnownRun> runs{};
    WayBack way{};
  };

  // --- Before the engine ---
  // It was begun with its lease.
  void take_over(const Opening& opening);
  // One thing after the other; `input` is what came of its messages.
  Result<void> prepare(const RunRequest& request, const std::vector<std::string>& roll_back,
                       Result<void>& input);
  Result<void> check_still_asks();
  Result<void> load_manifest();
  Result<void> settle_what_was_left();
  // `back`: it goes on from there, unless others wrote meanwhile.
  // `made_for`: as in RunRequest::Input.
  Result<void> begin(const std::vector<Event>& events, std::optional<Seq> made_for,
                     const std::optional<TakenBack>& back, Result<void>& input);
  // The record of a run at work, and what `put_input` writes with it.
  Result<void> put_begin(const std::function<void(Writes&)>& put_input);
  // Undoes that; fails with `why`.
  Result<void> not_begun(Error why, bool waited);
  Result<void> note_input(const std::vector<Event>& events,
                          const std::vector<Result<Appended>>& answers);
  Result<void> equip(std::optional<std::chrono::milliseconds> timeout);
  Result<void> answer_question(const RunAnswer& answer);

  // --- Going back; run_back.cc ---
  // Nothing: they stay.
  Result<std::optional<TakenBack>> way_back(const std::vector<std::string>& roll_back);
  // What leaves behind this run itself, when it has written its last. Nothing: it stays.
  std::optional<Append> own_way_back() const;
  // False: the run goes on from where it would without.
  bool put_input(Writes& in, const std::vector<Append>& appends,
                 const std::optional<TakenBack>& back,
                 std::vector<Result<Appended>>& answers) const;
  // An event that only goes back, so that this run can be taken back without the others coming
  // back; then the marks. False: others wrote meanwhile, and nothing is written.
  Result<bool> put_way_back(Writes& in, const TakenBack& back) const;
  // Where it goes on from, now that they are left behind.
  void go_on_after(const WayBack& way);

  // --- The engine and its tools; run_turns.cc ---
  Result<Response> converse();
  Result<EngineTurn> take_turn();
  // But for the messages.
  EngineRequest engine_request() const;
  // The engine's session from the turn before, if its id is one that the engine takes.
  std::optional<std::string> resumable_session() const;
  void account(const EngineTurn& turn);
  Result<void> check_limits() const;
  Result<std::optional<RunQuestion>> use_tools(const EngineTurn& turn);
  Result<void> call_and_store(const std::vector<ToolCall>& calls);
  Result<void> store_result(const ToolCall& call, ToolResult result);

  // --- Ends; run_close.cc from say() on ---
  Result<RunOutcome> end(Result<Response> response);
  Result<RunOutcome> succeed(EngineTurn turn);
  Result<RunOutcome> ask(RunQuestion question);
  Result<RunOutcome> stopped();
  Result<RunOutcome> failed(Error error, RunStatus status);
  Result<RunOutcome> lost();
  // Not even begun: nothing of it is in the thread.
  Result<RunOutcome> refused(Error error);
  void end_unbegun(std::optional<Error> why);
  void close_waiting();
  // What it says last could not be written.
  Result<RunOutcome> not_written(Error error);
  // An error: it was not written; kFenced: the lease was lost.
  Result<void> say(LastWords last);
  // The last words and the record, and the lease given back, together. Errors as of say().
  Result<void> close(RunStatus status, LastWords last);
  Result<void> close_as_asked(RunStatus status);
  // Without last words. False: the lease was lost before that.
  bool close_silently(RunStatus status);
  // False: refused.
  bool put(Writes& in, LastWords& last, Run& record) const;
  Result<void> settle(const LastWords& last);
  Result<void> settle_record(Result<void> finished);
  void let_go();
  LastWords last_words(const EngineTurn& turn);
  Event result_event() const;
  Event response_event(const EngineTurn& turn) const;

  const RunnerParts& parts_;
  LiveRun& live_;
  const RunCallbacks& callbacks_;
  Run run_;
  const LeaseToken token_;
  bool holds_lease_ = true;
  bool heard_ = false;  // its end answers the request to stop it that is in the store
  const std::vector<OpenRun> open_;
  ThreadWriter writer_;
  Manifest manifest_;
  PreparedAgent agent_;
  std::vector<ToolDefinition> definitions_;
  std::int64_t began_boot_ms_ = 0;
  double earlier_ms_ = 0;  // before it was resumed
};

}  // namespace skein
