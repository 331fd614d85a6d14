#include "runner/thread_writer.h"

#include <utility>

#include "core/try.h"
#include "skein/tokens.h"

namespace skein {

Json ThreadWriter::metadata(const JsonObject& more) const {
  std::string text = JsonObject().add("runId", run_.id).str();
  const std::string rest = more.str();
  if (rest != "{}") {
    text.back() = ',';
    text.append(rest, 1);
  }
  return Json::trusted(std::move(text));
}

Result<std::vector<Seq>> ThreadWriter::append(std::vector<Event> events) {
  if (live_.reason() == StopReason::kFenced) {
    return fail(ErrorCode::kFenced, "the lease of thread " + run_.thread.str() + " was lost");
  }
  std::vector<Append> appends;
  for (Event& event : events) {
    Append& append = appends.emplace_back();
    append.thread = run_.thread;
    append.event = std::move(event);
    append.fence = token_;
  }
  if (base_ && !appends.empty()) appends.front().event.base = base_;
  std::vector<Seq> seqs;
  for (auto& appended : store_.append(appends)) {
    if (!appended) {
      if (appended.error().code == ErrorCode::kFenced) live_.stop(StopReason::kFenced);
      return tl::unexpected(std::move(appended).error());
    }
    base_.reset();
    if (run_.first_seq == 0) run_.first_seq = appended->seq;
    run_.last_seq = appended->seq;
    seqs.push_back(appended->seq);
  }
  if (!seqs.empty()) live_.tell_stored(seqs.back());
  return seqs;
}

Result<Seq> ThreadWriter::append(Event event) {
  std::vector<Event> events;
  events.push_back(std::move(event));
  SKEIN_ASSIGN(const auto seqs, append(std::move(events)));
  return seqs.front();
}

}  // namespace skein
