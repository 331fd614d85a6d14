// Runs that were stopped for this one are taken back.
#include <algorithm>
#include <iterator>
#include <span>
#include <utility>

#include "core/try.h"
#include "runner/run_codec.h"
#include "runner/run_work.h"
#include "thread/return_to.h"

namespace skein {

Result<RunOutcome> RunWork::only_roll_back(const std::vector<std::string>& roll_back) {
  const auto go_back = [&]() -> Result<void> {
    SKEIN_TRY(load_manifest());
    SKEIN_TRY(settle_what_was_left());
    SKEIN_ASSIGN(const auto back, way_back(roll_back));
    if (!back) return {};
    Result<bool> gone;
    SKEIN_TRY(parts_.store.together([&](Writes& in) {
      std::vector<Result<Appended>> nothing;
      gone = put_way_back(in, *back, {}, nothing);
    }));
    SKEIN_TRY(gone);
    return {};
  };
  // Whoever stopped it asked for nothing more.
  if (auto gone = go_back(); !gone) {
    if (gone.error().code == ErrorCode::kFenced) return lost();
    parts_.log("run " + run_.id + ": nothing is taken back: " + gone.error().message);
  }
  end_unbegun(std::nullopt);
  return RunOutcome{.run = run_, .response = ""};
}

Result<std::optional<RunWork::WayBack>> RunWork::way_back(
    const std::vector<std::string>& roll_back) {
  WayBack back;
  for (const std::string& run_id : roll_back) {
    SKEIN_ASSIGN(auto other, parts_.book.find_known(run_id));
    if (!other || other->run.status != RunStatus::kInterrupted) continue;
    if (other->run.first_seq == 0 || other->run.rolled_back) continue;
    back.runs.push_back(std::move(*other));
  }
  if (back.runs.empty()) return std::nullopt;
  const auto first = std::min_element(
      back.runs.begin(), back.runs.end(),
      [](const KnownRun& a, const KnownRun& b) { return a.run.first_seq < b.run.first_seq; });
  back.to = first->run.base_seq;
  back.first = first->run.first_seq;
  SKEIN_ASSIGN(const bool alone, nothing_else_since(back));
  if (!alone) return std::nullopt;
  for (KnownRun& other : back.runs) other.run.rolled_back = true;
  return back;
}

// What others wrote meanwhile is not taken back with the runs that were stopped.
Result<bool> RunWork::nothing_else_since(WayBack& back) {
  bool alone = true;
  ReadRange range;
  range.from = back.first;
  SKEIN_TRY(parts_.store.read(run_.thread, range, [&](Event& event) {
    // Others may have written after the run took down where it began.
    if (event.seq == back.first) back.to = event.base.value_or(back.first - 1);
    back.last = event.seq;
    const std::string run_id = run_of(event);
    alone = std::any_of(back.runs.begin(), back.runs.end(),
                        [&](const KnownRun& other) { return other.run.id == run_id; });
    return alone;
  }));
  return alone;
}

bool RunWork::put_input(Writes& in, const std::vector<Append>& appends,
                        const std::optional<WayBack>& back,
                        std::vector<Result<Appended>>& answers) const {
  Result<bool> gone = false;
  if (back) gone = put_way_back(in, *back, appends, answers);
  if (!gone) {
    answers.emplace_back(tl::unexpected(std::move(gone).error()));
    return false;
  }
  if (!*gone && !appends.empty()) answers = in.append(appends);
  return *gone;
}

Result<bool> RunWork::put_way_back(Writes& in, const WayBack& back,
                                   const std::vector<Append>& appends,
                                   std::vector<Result<Appended>>& answers) const {
  Append first;
  if (appends.empty()) {
    first.thread = run_.thread;
    first.event = return_to(back.to);
    first.fence = token_;
  } else {
    first = appends.front();
    first.event.base = back.to;
  }
  first.expect_seq = back.last + 1;
  auto gone = in.append(std::span(&first, 1));
  if (!gone.front() && gone.front().error().code == ErrorCode::kConflict) return false;
  SKEIN_TRY(gone.front());
  if (gone.front()->repeated) return false;
  if (!appends.empty()) answers = std::move(gone);
  if (appends.size() > 1) {
    auto rest = in.append(std::span(appends).subspan(1));
    std::move(rest.begin(), rest.end(), std::back_inserter(answers));
  }
  for (const KnownRun& other : back.runs) {
    const auto marked = parts_.book.put(in, other, token_);
    // One that was deleted meanwhile stays so.
    if (marked || marked.error().code == ErrorCode::kConflict) continue;
    parts_.log("run " + other.run.id + ", taken back: " + marked.error().message);
  }
  return true;
}

}  // namespace skein
