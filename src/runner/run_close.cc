// How a run is closed: its last words, its record, and the lease given back, in one write.
#include <span>
#include <utility>

#include "core/try.h"
#include "runner/run_mark.h"
#include "runner/run_work.h"

namespace skein {

Result<void> RunWork::say(LastWords last) {
  while (true) {
    SKEIN_TRY(parts_.store.together([&](Writes& in) {
      Run record = run_;
      put(in, last, record);
    }));
    SKEIN_ASSIGN(const bool again, writer_.look_again(last.appended, true));
    if (!again) return settle(last);
    writer_.renew_expectation(last.appends);
  }
}

Result<void> RunWork::close(RunStatus status, LastWords last) {
  // Where these may be refused because of the manifest, they go first.
  if (writer_.expects_version() && !last.appends.empty()) {
    SKEIN_TRY(say(std::exchange(last, {})));
  }
  run_.status = status;
  run_.ended_at = parts_.clock.now();
  if (!run_.duration_ms || status != RunStatus::kSuccess) {
    run_.duration_ms = earlier_ms_ + static_cast<double>(parts_.clock.boot_ms() - began_boot_ms_);
  }
  Result<void> marked;
  Result<void> finished;
  bool given_back = false;
  SKEIN_TRY(parts_.store.together([&](Writes& in) {
    given_back = false;
    Run record = run_;
    if (!put(in, last, record)) return;
    if (!writer_.is_barred()) marked = mark_end(in, manifest_, record, token_);
    finished = parts_.book.finish(in, record, token_, heard_);
    given_back = finished && Turns::give_back(in, run_.thread, token_);
  }));
  SKEIN_TRY(settle(last));
  if (given_back) holds_lease_ = false;
  if (!marked) parts_.log("run " + run_.id + ": manifest: " + marked.error().message);
  if (!finished && finished.error().code == ErrorCode::kConflict && !heard_) {
    return close_as_asked(status);
  }
  return settle_record(std::move(finished));
}

// A request to stop it came after it had decided how it ends. One to roll it back is honoured, and
// any other comes too late.
Result<void> RunWork::close_as_asked(RunStatus status) {
  heard_ = true;
  SKEIN_ASSIGN(const auto request, parts_.book.stop_request(run_.id));
  SKEIN_ASSIGN(auto manifest, parts_.store.get(run_.thread));
  const std::optional<std::string> session = manifest_.session_id;
  if (manifest) manifest_ = std::move(*manifest);  // it was marked as the run would have ended
  LastWords last;
  if (request && asks_to_roll_back(*request) && run_.first_seq != 0) {
    if (status == RunStatus::kSuccess) status = RunStatus::kInterrupted;
    run_.effects.clear();
    run_.question.reset();
    run_.response_seq.reset();
    last.back = own_way_back();
    if (last.back && manifest_.session_id != session) {
      last.manifest =
          session ? ManifestPatch().session_id(*session) : ManifestPatch().clear("sessionId");
    }
  }
  return close(status, std::move(last));
}

bool RunWork::close_silently(RunStatus status) {
  const auto closed = close(status, {});
  if (closed) return true;
  if (closed.error().code == ErrorCode::kFenced) return false;
  parts_.log("run " + run_.id + ": record: " + closed.error().message);
  return true;
}

bool RunWork::put(Writes& in, LastWords& last, Run& record) const {
  last.appended.clear();
  if (!last.appends.empty()) last.appended = in.append(last.appends);
  if (!note_positions(last.appended, record)) return false;
  if (last.responds) record.response_seq = record.last_seq;
  if (last.back) {
    last.went_back = in.append(std::span(&*last.back, 1)).front();
    record.rolled_back = last.went_back.has_value();
  }
  if (!last.manifest) return true;
  UpdateOptions options;
  options.fence = token_;
  const auto updated = in.update(run_.thread, *last.manifest, options);
  last.updated = updated ? Result<void>() : tl::unexpected(updated.error());
  return true;
}

Result<void> RunWork::settle(const LastWords& last) {
  SKEIN_TRY(writer_.settle(last.appended));
  if (last.responds) run_.response_seq = run_.last_seq;
  if (last.back) run_.rolled_back = last.went_back.has_value();
  if (!last.went_back && last.went_back.error().code != ErrorCode::kConflict) {
    parts_.log("run " + run_.id + ": is not taken back: " + last.went_back.error().message);
  }
  if (!last.updated && last.updated.error().code == ErrorCode::kFenced) return last.updated;
  if (!last.updated) parts_.log("run " + run_.id + ": session: " + last.updated.error().message);
  return {};
}

// kFenced: the lease was lost before it was written.
Result<void> RunWork::settle_record(Result<void> finished) {
  const auto refused = [&](ErrorCode code) { return !finished && finished.error().code == code; };
  if (refused(ErrorCode::kFenced) || refused(ErrorCode::kNotFound)) {
    const auto thread = parts_.store.get(run_.thread);
    if (!thread || *thread) return fail(ErrorCode::kFenced, finished.error().message);
    finished = parts_.book.finish_unfenced(run_);
  }
  // Left open, it is closed by the next run on the thread, or at the next start.
  if (!finished) parts_.log("run " + run_.id + ": record: " + finished.error().message);
  return {};
}

void RunWork::let_go() {
  live_.lease = 0;
  parts_.turns.leave(live_, holds_lease_ ? std::optional(token_) : std::nullopt);
  live_.tell_end(run_);
}

}  // namespace skein
