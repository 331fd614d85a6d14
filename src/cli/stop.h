// A polite end: SIGINT and SIGTERM ask, and the command finishes what it has begun.
#pragma once

namespace skein {

// While it lives, the first SIGINT or SIGTERM no longer ends the process but is remembered; a
// second one ends it, so that nothing can make it hang. One object at a time.
class StopRequest {
 public:
  StopRequest();
  ~StopRequest();
  StopRequest(const StopRequest&) = delete;
  StopRequest& operator=(const StopRequest&) = delete;

  // The signal that came, or 0.
  int signal() const;
  // Readable once a signal came; for poll.
  int fd() const;
};

// While it lives, SIGINT ends nothing, also between two StopRequests: for programs that a person
// talks with. Programs that are started meanwhile take it as ever.
class InterruptsEndNothing {
 public:
  InterruptsEndNothing();
  ~InterruptsEndNothing();
  InterruptsEndNothing(const InterruptsEndNothing&) = delete;
  InterruptsEndNothing& operator=(const InterruptsEndNothing&) = delete;
};

// Ends the process by that signal, as if it had not been caught, so that the parent can tell.
[[noreturn]] void end_by_signal(int signal);

}  // namespace skein
