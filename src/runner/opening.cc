#include "runner/opening.h"

#include <span>
#include <utility>

#include "runner/run_input.h"

namespace skein {

bool Opening::fits(const RunRequest& request, const Manifest& manifest,
                   const std::vector<OpenRun>& open) {
  return open.empty() && !stops_others(request.multitask) && !request.base &&
         request.input.messages.size() == 1 && request.input.events.empty() &&
         manifest.status == ThreadStatus::kActive;
}

Opening::Opening(const RunBook& book, Manifest manifest, Run run, const NewMessage& message,
                 Timestamp now)
    : book_(book), manifest_(std::move(manifest)), run_(std::move(run)) {
  run_.status = RunStatus::kRunning;
  run_.started_at = now;
  run_.base_seq = manifest_.last_seq;
  append_.thread = run_.thread;
  append_.event = input_event(message, run_.id);
  append_.expect_seq = manifest_.last_seq + 1;
  append_.expect_version = manifest_.version;
}

void Opening::write(Writes& in, LeaseToken token) {
  said_.reset();
  if (!book_.begin_first(in, run_, token)) return;
  append_.fence = token;
  const auto appended = in.append(std::span(&append_, 1));
  if (appended.front()) {
    said_ = *appended.front();
  } else {
    // Where this fails too, the run is refused, and the next one on the thread closes it.
    [[maybe_unused]] const auto undone = book_.take_back(in, run_, token);
  }
}

}  // namespace skein
