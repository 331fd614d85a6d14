// What a run writes into its thread: each event with the run's id and the lease's token.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/json_object.h"
#include "runner/live_run.h"
#include "skein/store.h"

namespace skein {

// Puts the positions of appended events into the run, and answers them; or the first refusal.
Result<std::vector<Seq>> note_positions(const std::vector<Result<Appended>>& answers, Run& run);

// For one run, and used by its thread alone. Keeps the run's first_seq and last_seq.
class ThreadWriter {
 public:
  ThreadWriter(Store& store, LiveRun& live, Run& run, LeaseToken token)
      : store_(store), live_(live), run_(run), token_(token) {}

  // Until something is written, the thread must have that version: what was read in its manifest,
  // such as whose it is, holds at the moment of the first write.
  void expect_version(Version version) { version_ = version; }
  // Whether appends are to be prepared and written again: they were refused because the manifest
  // has another version by now, and the agent may still write. An error: it may not, and nothing
  // is written any more. `begun`: a change of status does not matter.
  Result<bool> look_again(const std::vector<Result<Appended>>& answers, bool begun);
  bool expects_version() const { return version_.has_value(); }
  // Lets appends that are prepared expect what is expected by now.
  void renew_expectation(std::vector<Append>& appends) const {
    for (Append& append : appends) append.expect_version = version_;
  }
  // Whether look_again() said that nothing is to be written any more.
  bool is_barred() const { return barred_.has_value(); }

  // The next event continues from there; nothing: from the end.
  void continue_from(std::optional<Seq> base) { base_ = base; }
  std::optional<Seq> pending_base() const { return base_; }

  // All in one write; answers their positions. A lost lease stops the run.
  Result<std::vector<Seq>> append(std::vector<Event> events);
  Result<Seq> append(Event event);

  // The same in two steps, for a write together with others: what is to be appended, and then what
  // came of it.
  std::vector<Append> prepare(std::vector<Event> events) const;
  Result<std::vector<Seq>> settle(const std::vector<Result<Appended>>& answers);

  // An event of this run. `more` are further members of its metadata, after runId.
  template <class Payload>
  Event event(Payload payload, const JsonObject& more = {}) const {
    Event event;
    event.payload = std::move(payload);
    event.metadata = metadata(more);
    return event;
  }

 private:
  Json metadata(const JsonObject& more) const;

  Store& store_;
  LiveRun& live_;
  Run& run_;
  const LeaseToken token_;
  std::optional<Seq> base_;
  std::optional<Version> version_;  // until something is written
  std::optional<Error> barred_;
};

}  // namespace skein
