// Runs that were stopped for this one are taken back.
#include <algorithm>
#include <span>
#include <utility>

#include "core/try.h"
#include "runner/run_work.h"
#include "store/append_after_first.h"

namespace skein {
namespace {

bool is_left_behind(std::optional<Seq> seq, const WayBack& way) { return seq && *seq > way.to; }

}  // namespace

Result<RunOutcome> RunWork::only_roll_back(const std::vector<std::string>& roll_back) {
  const auto go_back = [&]() -> Result<void> {
    SKEIN_TRY(load_manifest());
    SKEIN_TRY(settle_what_was_left());
    SKEIN_ASSIGN(const auto back, way_back(roll_back));
    if (!back) return {};
    Result<bool> gone;
    SKEIN_TRY(parts_.store.together([&](Writes& in) { gone = put_way_back(in, *back); }));
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

Result<std::optional<RunWork::TakenBack>> RunWork::way_back(
    const std::vector<std::string>& roll_back) {
  TakenBack back;
  std::vector<std::string> ids;
  Seq first = kLastSeq;
  for (const std::string& run_id : roll_back) {
    SKEIN_ASSIGN(auto other, parts_.book.find_known(run_id));
    if (!other || other->run.status != RunStatus::kInterrupted) continue;
    if (other->run.first_seq == 0 || other->run.rolled_back) continue;
    first = std::min(first, other->run.first_seq);
    ids.push_back(run_id);
    other->run.rolled_back = true;
    back.runs.push_back(std::move(*other));
  }
  if (ids.empty()) return std::nullopt;
  SKEIN_ASSIGN(const auto way, find_way_back(parts_.store, run_.thread, first, ids));
  if (!way || way->gone) return std::nullopt;
  back.way = *way;
  return back;
}

std::optional<Append> RunWork::own_way_back() const {
  const auto back =
      find_way_back(parts_.store, run_.thread, run_.first_seq, std::span(&run_.id, 1));
  if (!back) parts_.log("run " + run_.id + ": is not taken back: " + back.error().message);
  if (!back || !*back || (*back)->gone) return std::nullopt;
  return going_back(run_.thread, **back, token_);
}

bool RunWork::put_input(Writes& in, const std::vector<Append>& appends,
                        const std::optional<TakenBack>& back,
                        std::vector<Result<Appended>>& answers) const {
  Result<bool> gone = false;
  if (back) gone = put_way_back(in, *back);
  if (!gone) {
    answers.emplace_back(tl::unexpected(std::move(gone).error()));
    return false;
  }
  if (appends.empty()) return *gone;
  if (!*gone || !is_left_behind(appends.front().event.base, back->way)) {
    answers = append_after_first(in, appends);
    return *gone;
  }
  std::vector<Append> after = appends;
  after.front().event.base.reset();
  answers = append_after_first(in, after);
  return true;
}

Result<bool> RunWork::put_way_back(Writes& in, const TakenBack& back) const {
  const Append append = going_back(run_.thread, back.way, token_);
  const auto gone = in.append(std::span(&append, 1)).front();
  if (!gone && gone.error().code == ErrorCode::kConflict) return false;
  SKEIN_TRY(gone);
  for (const KnownRun& other : back.runs) {
    const auto marked = parts_.book.put(in, other, token_);
    // One that was deleted meanwhile stays so.
    if (marked || marked.error().code == ErrorCode::kConflict) continue;
    parts_.log("run " + other.run.id + ", taken back: " + marked.error().message);
  }
  return true;
}

void RunWork::go_on_after(const WayBack& way) {
  const std::optional<Seq> asked = writer_.pending_base();
  if (asked && !is_left_behind(asked, way)) return;
  run_.base_seq = way.last + 1;
  writer_.continue_from(std::nullopt);
}

}  // namespace skein
