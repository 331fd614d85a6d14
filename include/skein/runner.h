// Runs: an agent works on a thread, from an input to a response, under the thread's lease.
//
// A run takes these steps, in this order:
//
//    1 takes the thread's lease           7 appends the assistant's message
//    2 loads the manifest                 8 updates the manifest (sessionId, updatedAt)
//    3 appends the input                  9 calls on_response
//    4 builds the system prompt          10 hands over to the effects, which nobody waits for
//    5 resolves tools and servers        11 gives the lease back
//    6 runs the engine; what happens is in the thread as it happens
//
// What ends differently:
//   refused      an unknown agent, another agent's thread, a thread that is not active: before
//                step 1, and nothing is written.
//   stopped      `(stopped by user)` is appended, no on_error; sessionId stays. kInterrupted.
//   failed       `(error: …)` is appended, on_error is called, and the call fails with the engine's
//                error; sessionId stays. kError, or kTimeout when its time was up.
//   a question   a tool needs a person's yes: kInterrupted with the question in the run's record.
//                resume() goes on from there, in any process.
//   lease lost   another process took over: the engine is stopped, nothing more is written, and the
//                call fails with kFenced. Whoever took over closed the record.
// An empty input skips step 3. An empty response appends no message. After a stop or a failure only
// the usage is recorded.
//
// Every event of a run carries metadata.runId, and every write of it the lease's token. Runs are
// records in the collection `runs` (docs/formats.md), so that every process sees all of them.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "skein/clock.h"
#include "skein/context.h"
#include "skein/engine.h"
#include "skein/record_signer.h"
#include "skein/run.h"
#include "skein/store.h"
#include "skein/thread_manager.h"
#include "skein/tools.h"

namespace skein {

namespace limits {
inline constexpr std::size_t kMaxLiveRuns = 4096;     // of one runner, those that wait included
inline constexpr std::size_t kMaxRunMessages = 1000;  // in the input of one run
inline constexpr std::size_t kMaxRunInputBytes = std::size_t{8} << 20;
inline constexpr std::size_t kMaxRunKwargsBytes = std::size_t{1} << 20;
inline constexpr std::size_t kMaxToolCallsPerTurn = 128;
inline constexpr std::size_t kMaxParallelTools = 8;                       // of one run
inline constexpr std::size_t kMaxToolResultBytes = std::size_t{1} << 20;  // the rest is cut off
inline constexpr std::size_t kMaxAgentChain = 8;                          // agents that ask agents
inline constexpr std::size_t kMaxPendingEffects = 10'000;
}  // namespace limits

// --- What a run needs to know of its agent; handed in by whoever wires the parts together ---

// What a run is about, for those who equip it.
struct RunScope {
  std::string run_id;
  std::string agent_id;
  ThreadId thread;
  std::optional<std::string> task_id;  // of the thread
  std::vector<std::string> chain;      // agents that asked, the first first; without this one
};

// When a run is too much; reaching one is an error of the run.
struct RunLimits {
  std::int64_t max_turns = 50;                      // calls of the model
  std::optional<std::int64_t> max_tokens{};         // input and output of all turns
  std::optional<std::int64_t> max_output_tokens{};  // of one turn
  std::optional<double> max_cost_usd{};
  std::optional<std::chrono::milliseconds> timeout{};
};

// An agent made ready for one run.
struct PreparedAgent {
  std::shared_ptr<Engine> engine;
  std::string model{};
  std::string fast_model{};           // for titles; empty: they are made from the text itself
  std::string system{};               // the whole system prompt, the task's context included
  std::unique_ptr<ToolBox> tools{};   // for models; none: no tools
  std::vector<ToolServer> servers{};  // for agents with a loop of their own
  RunLimits limits{};
  ContextRequest context{};  // what of the thread a model without sessions gets to see
  Json options{};            // for the engine
  std::string folder{};      // where an agent works
};

// Thread-safe.
class AgentSource {
 public:
  virtual ~AgentSource() = default;
  // Whether runs of that agent can be made. kNotFound: there is none; kInvalid: its definition is
  // wrong, and how.
  virtual Result<void> check(std::string_view agent_id) = 0;
  // Steps 4 and 5. A failure here is the run's error.
  virtual Result<PreparedAgent> prepare(const RunScope& scope) = 0;
};

// --- What happens after a response ---

struct FinishedRun {
  Run run;
  std::optional<Seq> user_seq;      // the newest message of role user in its input
  std::optional<Seq> response_seq;  // of the assistant's message
};

// Work after a run that ended well, beside the response: index entries, for example. Its name is in
// the run's record until it is done, so that the next start makes up for a process that died; it
// may therefore be applied twice. A failure is logged and changes nothing else.
class RunEffect {
 public:
  virtual ~RunEffect() = default;
  virtual std::string_view name() const = 0;  // [a-z_]+
  // Whether runs of this process are to have it. Without, it is applied only to those that a
  // process which died has left.
  virtual bool is_wanted() const = 0;
  virtual Result<void> apply(const FinishedRun& run, std::stop_token stop) = 0;
};

// --- What is told while a run goes on ---

// On the thread that works on the run, in order. What is not set is not told. They must not block
// for long, and may call anything of the runner but wait for the same run.
struct RunCallbacks {
  std::function<void(const Run& run)> on_start{};  // the record is durable
  std::function<void(std::string_view piece)> on_thinking{};
  std::function<void(std::string_view piece)> on_text{};
  std::function<void(std::string_view text)> on_narration{};  // what on_text told was not the end
  std::function<void(const ToolCall& call)> on_tool{};
  std::function<void(const ToolCall& call, const ToolResult& result)> on_tool_result{};
  std::function<void(const RunQuestion& question)> on_question{};
  std::function<void(std::string_view text)> on_response{};
  std::function<void(const Error& error)> on_error{};
};

// --- Asking for runs ---

struct RunRequest {
  std::string agent_id;
  // An id, its UUID form, or an alias; empty: a new thread of the agent.
  std::string thread_id{};
  struct Input {
    std::vector<NewMessage> messages{};  // empty: goes on with what the thread has
    // What no message can hold, written before them when the run begins. The first may have a base.
    std::vector<Event> events{};
    // The last seq of the thread that the events were made for: kConflict refuses them, and so the
    // run, if there is another event by then.
    std::optional<Seq> made_for{};
  } input{};
  Multitask multitask = Multitask::kEnqueue;
  Json metadata{};         // of the run; an object, or absent
  Json kwargs{};           // kept in the record for the caller, unread; an object, or absent
  Json thread_metadata{};  // of a new thread
  std::optional<std::string> task_id{};     // of a new thread
  std::vector<std::string> chain{};         // agents that asked, for ask_agent; refused when the
                                            // agent is among them or it is longer than
                                            // limits::kMaxAgentChain
  std::optional<std::string> parent_run{};  // the run that asked
  std::optional<std::chrono::milliseconds> timeout{};  // shorter than the agent's own
  // Where the run continues from instead of the thread's last event.
  std::optional<Seq> base{};
};

// One message of role user.
RunRequest run_request(std::string_view agent_id, std::string_view thread_id,
                       std::string_view text);

// How a run ended that did not fail.
struct RunOutcome {
  Run run;               // kSuccess or kInterrupted
  std::string response;  // empty after a stop
};

// The answer to a question: yes or no to each tool that waits.
struct RunAnswer {
  bool yes = false;
  std::string note{};                // said to the model with a no
  std::vector<std::string> calls{};  // only these, of RunQuestion::calls; the others are a no.
                                     // Empty: all of them
  // Only the question that the run asked when it had been resumed so often (Run::resumed).
  std::optional<std::uint32_t> resumed{};
};

struct CancelOptions {
  // Whoever ends the run also leaves behind what it wrote, unless others wrote since.
  bool roll_back = false;
};

struct RunQuery {
  std::optional<ThreadId> thread{};
  std::optional<std::string> agent_id{};
  std::optional<RunStatus> status{};
  std::size_t limit = 50;
  std::string before{};  // run id: only older ones; empty: from the newest
};

struct Recovered {
  std::size_t closed = 0;   // runs whose process died, closed as interrupted (or success, where
                            // only the record was missing)
  std::size_t effects = 0;  // runs whose effects are made up for, now under way
  std::size_t alive = 0;    // open runs of processes that live, or may
  std::size_t inert = 0;    // open runs whose records are not signed: left as they are
};

struct RunnerOptions {
  Clock* clock = nullptr;   // borrowed; none: system_clock()
  IdSource* ids = nullptr;  // borrowed; none: random_ids()
  // How long others wait before they take over from a process that fell silent. Renewed at a third
  // of it, by one thread for all runs.
  std::chrono::milliseconds lease{10'000};
  // How often that thread looks for what other processes ask for, while there are runs here.
  std::chrono::milliseconds look_up{20};
  std::vector<RunEffect*> effects{};  // borrowed; besides usage and title
  std::size_t effect_threads = 2;
  // At the end of the runner: how long effects may still take. What is left is for the next start.
  std::chrono::milliseconds drain{10'000};
  bool titles = true;
  // Signs the records of open runs. Those that it does not verify are not recovered, resumed, or
  // waited for. None: all of them count.
  std::shared_ptr<const RecordSigner> signer{};
  // Told whenever a run of this process on that thread has something new for listeners (join()),
  // its end included. From any thread; must not block, nor call the runner.
  std::function<void(ThreadId thread)> on_change{};
  std::function<void(std::string_view)> log{};  // from any thread
};

// Thread-safe. Borrows the store and the agents.
class Runner {
 public:
  Runner(Store& store, AgentSource& agents, RunnerOptions options = {});
  // Stops the runs under way, as cancel() does, waits for them, and finishes the effects.
  ~Runner();
  Runner(const Runner&) = delete;
  Runner& operator=(const Runner&) = delete;

  // A whole run on the caller's thread, waiting for its turn included. A stop asked for by `stop`
  // is the user's.
  // kNotFound: agent or thread. kInvalid: a rule. kConflict: the thread's agent or status, or an
  // open run on it whose record is not signed.
  // kBusy: kReject on a busy thread, or limits::kMaxLiveRuns. kFenced: the lease was lost. Any
  // other error is the engine's, and the run's record has it.
  Result<RunOutcome> execute(const RunRequest& request, const RunCallbacks& callbacks = {},
                             std::stop_token stop = {});

  // The same on a thread of the runner's: returns when the record is durable. The callbacks live as
  // long as the run.
  Result<Run> start(const RunRequest& request, RunCallbacks callbacks = {});

  // Answers a question and goes on, as execute() does. kConflict: there is no open question, the
  // conversation went on without it, or the run's record is not signed.
  Result<RunOutcome> resume(std::string_view run_id, const RunAnswer& answer,
                            const RunCallbacks& callbacks = {}, std::stop_token stop = {});
  Result<Run> start_resume(std::string_view run_id, const RunAnswer& answer,
                           RunCallbacks callbacks = {});

  // Stops a run in whatever process it is, waiting or under way, or drops its question. False: it
  // had ended. Returns without waiting for the end; wait() does. An open run whose record is not
  // signed is closed at once, and nothing else is done for it. A request to roll back that comes
  // before the end is stored is honoured; after that it is kConflict, unless the run was rolled
  // back.
  Result<bool> cancel(std::string_view run_id, const CancelOptions& options = {});

  // Until the run has ended in whatever process it is, or `stop`; the record as it is then.
  Result<Run> wait(std::string_view run_id, std::stop_token stop = {});

  // kNotFound: there is none.
  Result<Run> get(std::string_view run_id);
  // The same, but a run under way in this process as it told last, without asking the store: for
  // whoever is told of each change.
  Result<Run> latest(std::string_view run_id);
  // Newest first.
  Result<std::vector<Run>> list(const RunQuery& query);

  // What a run does and did, from a position on, for any number of listeners; see skein/run.h.
  // Also of runs that ended, and of those in other processes, without the pieces of text.
  Result<std::unique_ptr<RunStream>> join(std::string_view run_id, std::string_view position = {});

  // Closes runs whose process died and takes up effects that were left. Safe against holders that
  // live: those on this machine are known by their process, others have until their lease lapses.
  // For every start of a program that makes runs, and now and then while it serves.
  Result<Recovered> recover();

  // Takes no more runs (kBusy), gives those under way so long to end, then stops them as cancel()
  // does, and returns when they have ended.
  void close(std::chrono::milliseconds grace);

  // Waits until the effects that are under way are done.
  void finish_effects();

 private:
  class Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace skein
