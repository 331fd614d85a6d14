// The state of a thread as LangGraph's clients see it: values with messages, and checkpoints.
//
// `values.messages` is the current path; other values live in metadata.values of `result` events,
// where the last one written wins. Every event that shows in the values is a checkpoint, whose id
// encodes its seq, and every seq is a place to look from.
#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "api/langgraph/messages.h"
#include "skein/store.h"

namespace skein::langgraph {

namespace limits {
inline constexpr std::size_t kMaxStateBytes = std::size_t{64} << 20;   // of one thread's values
inline constexpr std::size_t kMaxCachedBytes = std::size_t{32} << 20;  // states of all threads
inline constexpr std::size_t kMaxHistory = 1000;                       // states in one answer
}  // namespace limits

// A UUID for each seq; they grow with it.
std::string checkpoint_id(Seq seq);
// Nothing: it is none of ours.
std::optional<Seq> parse_checkpoint_id(std::string_view id);

struct StateMessage {
  std::string id;
  Seq first = 0;  // of its events
  Seq last = 0;
  std::string json;
};

// Grows event by event along a path. A value; not thread-safe.
class ThreadState {
 public:
  explicit ThreadState(ThreadId thread) : thread_(thread) {}

  // The next event of the path. True: it is a checkpoint.
  bool add(const Event& event);

  const std::vector<StateMessage>& messages() const { return messages_; }
  // The other values, each as JSON.
  const std::map<std::string, std::string, std::less<>>& others() const { return others_; }
  // The index of the message with that id; nothing: there is none.
  std::optional<std::size_t> find(std::string_view id) const;
  // {"messages":[…],…}; "{}" of a thread in which nothing was said.
  std::string values() const;
  std::size_t bytes() const { return bytes_; }

  Seq head() const { return head_; }              // the last event, of whatever kind
  Seq checkpoint() const { return checkpoint_; }  // the last one; 0: there is none
  Seq parent() const { return parent_; }          // the one before
  std::int64_t step() const { return step_; }     // of the last one, from 0
  Timestamp at() const { return at_; }
  const std::string& run_id() const { return run_id_; }  // of the last one; empty: of no run
  bool had_runs() const { return had_runs_; }
  // Whether calls of tools, the last that was said, still wait for their results.
  bool calls_open() const { return open_calls_ > 0; }
  // The id that the next message of an agent will have in a run.
  std::string next_message_id(std::string_view run_id) const;

 private:
  struct OpenAssistant {
    AssistantMessage message;
    std::string kept;
  };

  void add_message(const Event& event, Role role);
  void begin_assistant(const Event& event, std::string text);
  void write_assistant();
  void push(std::string id, Seq seq, std::string json);
  void note_values(const Event& event);

  ThreadId thread_;
  std::vector<StateMessage> messages_;
  std::optional<OpenAssistant> open_;  // the last message; calls may still follow
  std::map<std::string, std::string, std::less<>> others_;
  std::size_t bytes_ = 0;
  Seq head_ = 0;
  Seq checkpoint_ = 0;
  Seq parent_ = 0;
  std::int64_t step_ = -1;
  Timestamp at_;
  std::string run_id_;
  bool had_runs_ = false;
  std::size_t open_calls_ = 0;
  std::string said_in_;   // the run that said the last message of an agent
  std::size_t said_ = 0;  // and how many it did
};

// Along the path that ends in `head`. kInvalid: it is larger than limits::kMaxStateBytes.
Result<ThreadState> read_state(Store& store, ThreadId thread, Seq head = kLastSeq);

// The checkpoints of the path that ends at `head`, or, without that, of all branches, the newest
// first: at most `limit` of those before `before`.
struct HistoryQuery {
  Seq head = kLastSeq;
  Seq before = kLastSeq;
  std::size_t limit = 10;
};
Result<std::vector<Seq>> list_checkpoints(Store& store, ThreadId thread, const HistoryQuery& query);

// What is shown of a thread's current state; shared by all who look.
struct StateView {
  std::shared_ptr<const std::string> values;  // JSON
  Seq checkpoint = 0;
  Seq parent = 0;
  std::int64_t step = -1;
  Timestamp at;
  std::string run_id;
  bool had_runs = false;
  bool calls_open = false;
};

StateView view_of(const ThreadState& state);

// The current states of threads that were asked for lately; read on from where they were. Bounded.
// Thread-safe. Borrows the store.
class StateCache {
 public:
  explicit StateCache(Store& store) : store_(store) {}

  Result<StateView> current(const Manifest& manifest);

 private:
  struct Entry {
    ThreadState state;
    StateView view;
    Version version = 0;  // of the manifest; with another it may be another thread of the same id
    std::size_t charged = 0;
    std::list<ThreadId>::iterator used;
  };
  struct Shard {
    std::mutex mutex;
    std::unordered_map<ThreadId, Entry> entries;
    std::list<ThreadId> used;  // the latest first
    std::size_t bytes = 0;
  };
  static constexpr std::size_t kShards = 16;

  // With the shard's mutex held.
  Result<bool> read_on(Entry& entry, ThreadId thread);
  void charge(Shard& shard, Entry& entry);
  void forget(Shard& shard, std::unordered_map<ThreadId, Entry>::iterator entry);

  Store& store_;
  Shard shards_[kShards];
};

}  // namespace skein::langgraph
