#include "runner/thread_writer.h"

#include <utility>

#include "core/try.h"
#include "runner/accept.h"
#include "skein/tokens.h"

namespace skein {

Result<std::vector<Seq>> note_positions(const std::vector<Result<Appended>>& answers, Run& run) {
  std::vector<Seq> seqs;
  for (const Result<Appended>& appended : answers) {
    if (!appended) return tl::unexpected(appended.error());
    if (run.first_seq == 0) run.first_seq = appended->seq;
    run.last_seq = appended->seq;
    seqs.push_back(appended->seq);
  }
  return seqs;
}

Json ThreadWriter::metadata(const JsonObject& more) const {
  std::string text = JsonObject().add("runId", run_.id).str();
  const std::string rest = more.str();
  if (rest != "{}") {
    text.back() = ',';
    text.append(rest, 1);
  }
  return Json::trusted(std::move(text));
}

std::vector<Append> ThreadWriter::prepare(std::vector<Event> events) const {
  std::vector<Append> appends;
  for (Event& event : events) {
    Append& append = appends.emplace_back();
    append.thread = run_.thread;
    append.event = std::move(event);
    append.fence = token_;
    append.expect_version = version_;
  }
  if (base_ && !appends.empty()) appends.front().event.base = base_;
  return appends;
}

Result<std::vector<Seq>> ThreadWriter::settle(const std::vector<Result<Appended>>& answers) {
  auto seqs = note_positions(answers, run_);
  if (!seqs) {
    if (seqs.error().code == ErrorCode::kFenced) live_.stop(StopReason::kFenced);
    return seqs;
  }
  if (seqs->empty()) return seqs;
  base_.reset();
  version_.reset();
  live_.tell_stored(seqs->back());
  return seqs;
}

Result<std::vector<Seq>> ThreadWriter::append(std::vector<Event> events) {
  if (live_.reason() == StopReason::kFenced) {
    return fail(ErrorCode::kFenced, "the lease of thread " + run_.thread.str() + " was lost");
  }
  if (barred_) return tl::unexpected(*barred_);
  while (version_) {
    const auto answers = store_.append(prepare(events));
    SKEIN_ASSIGN(const bool again, look_again(answers, true));
    if (!again) return settle(answers);
  }
  return settle(store_.append(prepare(std::move(events))));
}

Result<bool> ThreadWriter::look_again(const std::vector<Result<Appended>>& answers, bool begun) {
  const bool refused =
      !answers.empty() && !answers.front() && answers.front().error().code == ErrorCode::kConflict;
  if (!refused || !version_) return false;
  SKEIN_ASSIGN(auto manifest, store_.get(run_.thread));
  if (!manifest || manifest->version == *version_) return false;
  if (begun) manifest->status = ThreadStatus::kActive;
  if (auto takes = check_takes_runs(*manifest, run_.agent_id); !takes) {
    barred_ = takes.error();
    return tl::unexpected(std::move(takes).error());
  }
  version_ = manifest->version;
  return true;
}

Result<Seq> ThreadWriter::append(Event event) {
  std::vector<Event> events;
  events.push_back(std::move(event));
  SKEIN_ASSIGN(const auto seqs, append(std::move(events)));
  return seqs.front();
}

}  // namespace skein
