#include "runner/cancel.h"

#include <string>

#include "core/quote.h"
#include "core/try.h"
#include "runner/recovery.h"

namespace skein {

Error no_such_run(std::string_view run_id) {
  return {ErrorCode::kNotFound, "there is no run " + quote(run_id)};
}

Result<bool> had_ended(const Run& run, const CancelOptions& options) {
  const bool wrote = run.first_seq != 0;
  if (!options.roll_back || run.rolled_back || !wrote) return false;
  return fail(ErrorCode::kConflict, "run " + run.id + " has ended (" + to_string(run.status) +
                                        ") and is not rolled back: what it wrote stays");
}

Result<bool> cancel_elsewhere(const RunnerParts& parts, std::string_view run_id,
                              const CancelOptions& options) {
  SKEIN_ASSIGN(auto run, parts.book.find(run_id));
  if (!run) return tl::unexpected(no_such_run(run_id));
  SKEIN_ASSIGN(const auto open, parts.book.find_open(run_id));
  if (!open || open->state == OpenRun::State::kEffects) {
    SKEIN_ASSIGN(run, parts.book.find(run_id));  // it may have ended since it was read
    if (!run) return tl::unexpected(no_such_run(run_id));
    return had_ended(*run, options);
  }
  if (!open->counts) {
    SKEIN_TRY(parts.book.discard(*run, *open));
    return true;
  }
  if (open->state == OpenRun::State::kQuestion) {
    SKEIN_TRY(drop_question(parts, *open, {ErrorCode::kConflict, "a person stopped the run"}));
    return true;
  }
  if (!options.roll_back) {
    SKEIN_TRY(parts.book.ask_to_stop(run_id, false));
  } else {
    SKEIN_ASSIGN(const bool asked, parts.book.ask_to_roll_back(run_id));
    if (!asked) return cancel_elsewhere(parts, run_id, options);
  }
  if (parts.book.is_gone(*open) && open->state == OpenRun::State::kRunning) {
    SKEIN_TRY(recover_thread(parts, run->thread));  // nobody is there to hear
  }
  return true;
}

}  // namespace skein
