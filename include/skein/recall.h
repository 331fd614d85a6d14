// Recall: finding again what was said.
//
// An index beside the store, fed from its change feed: derived data, which may be removed at any
// time and is made again. User and assistant messages on the current path of each thread are in it;
// what a fork shares with its parent is in it once. Search never indexes by itself: that is done by
// backfill(), by a RecallFollower as messages arrive, or by whoever calls index_new().
//
// How messages are ranked, and what the parts of a score mean, is in docs/recall.md.
//
// Threads and processes. Every method may be called from any thread at any time. Any number of
// processes may have the same index open: they take turns at writing, batch by batch, and nothing
// is indexed twice. A crash at any point leaves an index that is merely behind.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "skein/clock.h"
#include "skein/embedder.h"
#include "skein/error.h"
#include "skein/event.h"
#include "skein/store.h"

namespace skein {

namespace limits {
inline constexpr std::size_t kMaxQueryBytes = std::size_t{16} << 10;
inline constexpr std::size_t kMaxSearchResults = 1000;
inline constexpr std::size_t kMaxSearchContext = 100;  // messages on each side of a match
inline constexpr std::size_t kMaxNamedAgents = 100;    // in the scope of an answer
// Beyond it, messages of an agent are no longer compared together with the one before them.
inline constexpr std::size_t kMaxPairedMessages = 100'000;
// Messages of one agent that can be searched, and of all agents that are kept in memory.
inline constexpr std::size_t kMaxSearchedMessages = std::size_t{1} << 24;
inline constexpr std::size_t kMaxCachedMessages = 1'500'000;
}  // namespace limits

// Which parts of the ranking may be used.
enum class SearchBy {
  kAll,    // whatever there is
  kWords,  // no vectors
  kDense,  // vectors alone
};

struct SearchOptions {
  // The scope: threads of these agents. Absent: of all agents. Frontends set it to the agents that
  // the caller may see. An empty list is kInvalid.
  std::optional<std::vector<std::string>> agents{};

  std::size_t limit = 5;    // results
  std::size_t context = 3;  // messages before, and after, each match
  // Results of one thread; they count towards the limit.
  std::size_t per_thread = 1;

  // Filters; all must hold. A filter that cannot be applied is kInvalid, never ignored.
  std::optional<ThreadStatus> status{};
  std::vector<MetadataEquals> metadata{};  // of the thread
  std::optional<Timestamp> since{};        // of the message; inclusive
  std::optional<Timestamp> until{};        // exclusive
  std::vector<Role> roles{};               // user, assistant; empty: both

  // What "yesterday" in the question is relative to. Unset: the clock.
  Timestamp now{};
  SearchBy by = SearchBy::kAll;
};

struct SearchMessage {
  Seq seq = 0;
  Role role = Role::kUser;
  std::string text;
  Timestamp timestamp;
  std::string speaker;  // its metadata's "name"; empty: none
  bool match = false;
};

// What each part adds to a score; together they are the score. They compare messages for one
// question, and mean nothing across questions.
struct SearchReasons {
  double words = 0;         // words of the question, here and around
  double meaning = 0;       // the message means what the question does
  double surroundings = 0;  // the same, together with the message before
  double length = 0;        // says much, or little
  double speaker = 0;       // whoever the question is about said it
  double date = 0;          // when the question says
  double recency = 0;       // of equals, the later
};

struct SearchResult {
  ThreadId thread;
  std::string agent_id;
  std::string title;  // empty: none
  Seq seq = 0;        // of the match
  Timestamp timestamp;
  double score = 0;
  SearchReasons reasons;
  // The match and those around it on the thread's current path, in order; user and assistant only.
  std::vector<SearchMessage> messages;
};

struct SearchAnswer {
  std::vector<SearchResult> results;  // best first; of equal scores the newer first

  // The scope of the search. `agents` names, in order, those of SearchOptions::agents; if that was
  // absent, the agents with messages in the index, at most kMaxNamedAgents of `agent_count`.
  bool all_agents = false;
  std::vector<std::string> agents;
  std::uint64_t agent_count = 0;

  // What it rests on:
  bool used_words = false;
  bool used_vectors = false;
  // Why there are no vectors in it, or not of every message; for people. Empty: there is no reason.
  std::string note;
  std::uint64_t searched = 0;        // messages that were candidates
  std::uint64_t without_vector = 0;  // of these
  // Messages that the index does not have yet. Where they are many, they are not all looked at:
  // then it is a number of events, some of which may be no messages.
  std::uint64_t not_indexed = 0;
  bool not_indexed_is_exact = true;
  // The words of the question that were looked for, folded; for highlighting.
  std::vector<std::string> words;
};

struct BackfillProgress {
  std::uint64_t done = 0;
  std::uint64_t total = 0;  // events to look at, or messages to embed
  bool embedding = false;   // the second phase
};

struct BackfillOptions {
  std::optional<std::string> agent_id{};  // none: all agents
  // Throws the index away first.
  bool rebuild = false;
  // From the calling thread, now and then.
  std::function<void(const BackfillProgress&)> progress{};
  // Asked between batches. What was done until then stays done.
  std::stop_token stop{};
};

struct BackfillResult {
  // Messages that are indexed now and were not before: with a model, those that got their vectors;
  // without one, those whose words can be found.
  std::uint64_t embedded = 0;
  // Index entries that were removed: their thread is gone, or no longer has them on its path; and
  // lines of other programs in the files of vectors whose thread is gone.
  std::uint64_t cleaned = 0;
  bool stopped = false;  // there is more to do
};

struct FollowOptions {
  std::chrono::milliseconds wait{0};  // at most, for something to happen
  bool vectors = true;                // make some; they take a hundred times as long as words
  std::stop_token stop{};             // return early
};

struct FollowResult {
  std::uint64_t changes = 0;                 // that the feed told
  std::uint64_t events = 0;                  // of threads, that were looked at
  std::uint64_t embedded = 0;                // messages that got vectors
  bool more = false;                         // vectors may be missing
  std::chrono::nanoseconds vectors_took{0};  // of the processor, to make them
};

struct RecallStatus {
  std::uint64_t messages = 0;      // in the index
  std::uint64_t with_vectors = 0;  // of these, by the current model
  std::uint64_t threads = 0;       // that have events
  std::uint64_t bytes = 0;         // of the index file
  std::string model;               // empty: none
};

struct RecallOptions {
  // The index file; made when it is not there, with a second file NAME.lock. Empty: in memory.
  std::string index_path{};
  // Borrowed; none: words only.
  Embedder* embedder = nullptr;
  // For `jsonl:` stores: the store's folder. Vectors are written to DIR/<agent>/embeddings.jsonl as
  // well. Empty: they are not.
  std::string vectors_folder{};
  Clock* clock = nullptr;  // borrowed; none: system_clock()
};

class Recall {
 public:
  // Borrows the store. An index of another version is emptied, one that is damaged is made anew;
  // a file that belongs to another application is kInvalid and left alone.
  static Result<std::unique_ptr<Recall>> open(Store& store, RecallOptions options);
  ~Recall();
  Recall(const Recall&) = delete;
  Recall& operator=(const Recall&) = delete;

  // Empty results, if nothing matches or nothing is indexed. Threads that are gone are never in it,
  // whatever the index has. Every character of the query is text. kInvalid: a limit, text that is
  // not UTF-8, a query without any word. A model that fails is not an error: the note says it, and
  // words are used.
  Result<SearchAnswer> search(std::string_view query, const SearchOptions& options);

  // Looks through all threads (of an agent): indexes what is missing, removes what is orphaned.
  // Idempotent; interrupted at any point, by a signal too, the next one goes on. Words first, so
  // that search works after seconds; vectors after that.
  Result<BackfillResult> backfill(const BackfillOptions& options = {});

  // One round of following the change feed: the words of all that it tells since last time, then at
  // most one batch of the vectors that are missing. It looks at nothing else.
  Result<FollowResult> index_new(const FollowOptions& options = {});

  // Indexes what is new in one thread, as after a run: its words, and the vectors of its newest
  // messages. What else is behind stays behind.
  Result<BackfillResult> index_thread(ThreadId thread, std::stop_token stop = {});

  // Removes threads that the store no longer has from the index and from the files of vectors.
  // Reads these files once, however many threads there are. Threads that the store has stay.
  Result<void> forget_threads(const std::vector<ThreadId>& threads);

  Result<RecallStatus> status(const std::optional<std::string>& agent_id = {});
  // Messages that the index does not have yet, as SearchAnswer::not_indexed; quick.
  Result<std::uint64_t> lag();

  // The model's name; empty: none.
  const std::string& model() const;

 private:
  class Impl;
  explicit Recall(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// Indexes messages as they arrive, on a thread of its own, until it is destroyed. Errors go to
// `notice`, from that thread; it then waits a little and goes on.
class RecallFollower {
 public:
  RecallFollower(Recall& recall, std::function<void(const Error&)> notice);
  ~RecallFollower();
  RecallFollower(const RecallFollower&) = delete;
  RecallFollower& operator=(const RecallFollower&) = delete;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace skein
