// What is known of a run, and the stream of what it does.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "skein/clock.h"
#include "skein/engine.h"
#include "skein/error.h"
#include "skein/event.h"
#include "skein/ids.h"
#include "skein/json.h"
#include "skein/store.h"
#include "skein/tools.h"

namespace skein {

enum class RunStatus { kPending, kRunning, kSuccess, kError, kInterrupted, kTimeout };

// What becomes of a run on a thread that is busy.
enum class Multitask {
  kEnqueue,    // waits its turn: first come, first served, over all processes
  kReject,     // is refused
  kInterrupt,  // stops the run under way and those that wait, and keeps what they wrote
  kRollback,   // the same, and goes on from before the run under way, unless others wrote since
};

const char* to_string(RunStatus status);
const char* to_string(Multitask multitask);
Result<RunStatus> parse_run_status(std::string_view text);
Result<Multitask> parse_multitask(std::string_view text);

// Tools that wait for a person's yes.
struct RunQuestion {
  std::vector<ToolCall> calls;
};

struct Run {
  // A UUID (version 7) that grows with time and whose last 12 digits are the thread's id.
  std::string id;
  ThreadId thread;
  std::string agent_id;
  RunStatus status = RunStatus::kPending;
  Multitask multitask = Multitask::kEnqueue;
  Timestamp created_at;
  Timestamp started_at;  // unset: not yet
  Timestamp ended_at;    // unset: not yet
  std::optional<Error> error;
  EngineUsage usage;  // of all turns so far
  std::optional<double> duration_ms;
  std::string model;  // as the provider named it
  std::vector<std::string> chain;
  std::optional<std::string> parent_run;
  Json metadata;  // an object, or absent
  Json input;     // the messages, an array
  Json kwargs;    // the caller's, or absent
  // What its first event continues from, and its events: first_seq … last_seq, with events of
  // others between them where such came meanwhile. 0: none yet.
  Seq base_seq = 0;
  Seq first_seq = 0;
  Seq last_seq = 0;
  std::optional<Seq> user_seq;          // the newest message of role user in its input
  std::optional<Seq> response_seq;      // of the assistant's message
  std::optional<RunQuestion> question;  // kInterrupted: resume() takes the answer
  bool rolled_back = false;
  std::vector<std::string> effects;  // still to be done
  std::uint32_t resumed = 0;         // how often

  bool ended() const { return status != RunStatus::kPending && status != RunStatus::kRunning; }
};

// One JSON object on one line.
std::string to_json(const Run& run);

// The thread that a run id names. kInvalid names the rule and the value.
Result<ThreadId> thread_of_run(std::string_view run_id);

// --- The stream of a run ---

enum class RunEventKind {
  kStatus,    // the run's record: first of all while it goes on, whenever the status changes, and
              // once when it has ended, last of all
  kText,      // a piece of text that is no event yet
  kThinking,  // a piece of what the model thinks
  kEvent,     // an event of the run, as the thread has it; pieces of text before it are part of it
};

struct RunEvent {
  RunEventKind kind = RunEventKind::kStatus;
  std::string position;          // to join again right after this one, in any process
  std::optional<Run> run{};      // kStatus
  std::string text{};            // kText, kThinking
  std::optional<Event> event{};  // kEvent
};

// A listener's own view: slow ones delay nobody and lose nothing, since what was stored is read
// from the store, and of what was not only the text so far is kept, once for all listeners. Used by
// one thread at a time.
class RunStream {
 public:
  virtual ~RunStream() = default;
  // The next one, waiting for it up to `wait`. Nothing: it did not come in time, a stop was asked
  // for, or the stream has ended, which ended() tells.
  virtual Result<std::optional<RunEvent>> next(std::chrono::milliseconds wait,
                                               std::stop_token stop = {}) = 0;
  virtual bool ended() const = 0;
};

}  // namespace skein
