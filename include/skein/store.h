// The store: threads, their events, leases on them, and the records of the other parts.
//
// One contract, several backends, chosen by one URL (open_store) and by nothing else in the code.
// What is promised here holds on each of them, and tests/contract runs the same cases over all.
//
// Durability. What a call acknowledged is on disk and survives power loss (`memory:` aside). A call
// that fails with kIo acknowledged nothing: what it wrote may or may not be there. After a failed
// flush the store refuses further writes with kIo until it is opened again; reads go on.
//
// Order. Writes to one thread happen one after the other and never interleave. Writes to different
// threads do not wait for each other, but share flushes (group commit).
//
// Damage stays where it is: a position that cannot be read comes back as an Unreadable event, a
// thread whose manifest cannot be read as kDamaged, and all others are as if nothing had happened.
//
// Threads and processes. Every method may be called from any thread at any time, and several
// processes may open the same file or folder. Callbacks run on the caller's thread, and may call
// the store. Every write is refused with kInvalid, before anything happens, when it breaks a rule
// or a limit of limits.h.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "skein/clock.h"
#include "skein/error.h"
#include "skein/event.h"
#include "skein/ids.h"
#include "skein/json.h"
#include "skein/thread.h"

namespace skein {

// Names one holding of a lease. Compared for equality only; never 0; fits a JSON number.
using LeaseToken = std::uint64_t;

struct Fence {
  ThreadId thread;
  LeaseToken token = 0;
};

struct NewThread {
  std::string agent_id;
  std::optional<ThreadId> id;        // given: that one, kConflict if taken. Absent: a random one.
  std::optional<std::string> alias;  // a UUID; kConflict if taken
  // Any field but "agentId", "threadId" and "alias". Importers set "createdAt" and "updatedAt"
  // here, and "parent" of what was a fork elsewhere; with `from`, "parent" is kInvalid.
  ManifestPatch fields;
  // Fork: starts with a copy of events 1 … seq of that thread, keys included; same agent.
  std::optional<Parent> from;
  std::vector<Event> events;  // appended after that
};

struct MetadataEquals {
  std::string key;  // a member of the thread's metadata
  Json value;       // a scalar; numbers compare by value, 1 is not "1"
};

enum class ListOrder { kUpdatedNewestFirst, kCreatedNewestFirst, kCreatedOldestFirst };

struct ListQuery {
  std::optional<std::string> agent_id;
  std::optional<ThreadStatus> status;
  std::vector<MetadataEquals> metadata;  // all must hold
  ListOrder order = ListOrder::kUpdatedNewestFirst;
  std::string after;  // ThreadPage::next of the page before; empty: the first page
  std::size_t limit = 50;
  bool with_total = false;
};

struct ThreadPage {
  std::vector<Manifest> threads;
  std::string next;                    // empty: this was the last page
  std::optional<std::uint64_t> total;  // all that match, on whatever page
};

struct UpdateOptions {
  std::optional<Version> expect_version;
  std::optional<LeaseToken> fence;
  // Of an update: the thread goes to that agent. kConflict unless it has no events, which holds at
  // the moment of the write.
  std::optional<std::string> agent_id{};
};

struct Append {
  ThreadId thread;
  Event event;
  std::optional<LeaseToken> fence;
  std::optional<Seq> expect_seq;  // the seq that the event must get
  // The version that the manifest must have: what the caller read in it, such as the status, holds
  // at the moment of the append.
  std::optional<Version> expect_version{};
};

struct Appended {
  Seq seq = 0;
  bool repeated = false;  // the key was there already, with the same event; nothing was written
};

enum class Direction { kForward, kBackward };

// kLog: every event. kPath: those that the thread's current state follows from, see
// ReadRange::head.
enum class View { kLog, kPath };

inline constexpr Seq kLastSeq = std::numeric_limits<Seq>::max();

struct ReadRange {
  // First event to deliver, inclusive. 0: the first (kForward) or the last (kBackward).
  Seq from = 0;
  std::uint64_t limit = std::numeric_limits<std::uint64_t>::max();
  Direction direction = Direction::kForward;
  View view = View::kLog;
  // With kPath: the path runs back from this event, to its `base` or else to the one before it, and
  // so on. With kLog: nothing after it is delivered.
  Seq head = kLastSeq;
};

// Gets each event in turn and may take its contents; false stops the read.
using EventSink = std::function<bool(Event&)>;

enum class ChangeKind { kCreated, kAppended, kUpdated, kRemoved, kRecordWritten, kRecordDeleted };

struct Change {
  ChangeKind kind = ChangeKind::kCreated;
  ThreadId thread{};         // all but records
  Seq seq = 0;               // kAppended
  std::string collection{};  // records
  std::string key{};         // records
  std::string cursor{};      // to go on right after this one; the same for every reader
};

struct ChangeBatch {
  std::vector<Change> changes;
  std::string cursor;  // hand it to the next call; at or after that of the last change
};

struct Lease {
  LeaseToken token = 0;
  std::chrono::milliseconds remaining{0};
};

struct RecordWrite {
  std::string collection;                 // [a-z][a-z0-9_]*
  std::string key;                        // UTF-8 without control characters, not empty
  std::optional<std::string> bytes;       // absent deletes
  std::optional<Version> expect_version;  // 0: there must be no such record
  std::optional<Fence> fence;
};

struct Record {
  std::string key;
  std::string bytes;
  Version version = 0;
};

struct ScanRange {
  std::string collection;
  std::string from;  // inclusive; keys compare by their bytes
  std::string to;    // exclusive; empty: no bound
  Direction direction = Direction::kForward;
  std::size_t limit = 100;
};

enum class Health { kHealthy, kUnverifiable, kBroken };

// One thing that is not plainly healthy.
struct Finding {
  Health health = Health::kBroken;
  std::optional<ThreadId> thread{};
  Seq seq = 0;           // 0: not about one event
  std::string what{};    // what is wrong, in words
  std::string repair{};  // what would help; empty: nothing needs to be done
  bool repaired = false;
};

struct CheckOptions {
  bool repair = false;  // do what the findings' `repair` says, where that loses nothing
  std::function<void(std::uint64_t done, std::uint64_t total)> progress;  // threads
};

struct CheckSummary {
  Health health = Health::kHealthy;  // the worst of all findings that were not repaired
  std::uint64_t threads = 0;
  std::uint64_t events = 0;
  std::uint64_t records = 0;
  std::uint64_t unverifiable = 0;  // events without a checksum, written by other programs
  std::uint64_t broken = 0;        // findings
};

// What can be written together; see Store::together.
class Writes {
 public:
  virtual ~Writes() = default;
  Writes() = default;
  Writes(const Writes&) = delete;
  Writes& operator=(const Writes&) = delete;

  // Makes a thread with its first events, all or nothing. kNotFound: `from` names no thread.
  virtual Result<Manifest> create(const NewThread& thread) = 0;

  // Merges the patch onto the manifest, atomically. "threadId", "agentId", "createdAt",
  // "updatedAt", "parent" and "alias" are kInvalid. A patch that changes something sets updated_at
  // and a new version; one that changes nothing leaves both. kNotFound, kConflict (expect_version),
  // kFenced.
  virtual Result<Manifest> update(ThreadId id, const ManifestPatch& patch,
                                  const UpdateOptions& options) = 0;

  // Removes manifest, events, alias and lease. False: there was no such thread. kConflict
  // (expect_version), kFenced.
  virtual Result<bool> remove(ThreadId id, const UpdateOptions& options) = 0;
  Result<bool> remove(ThreadId id) { return remove(id, {}); }

  // Appends in the order given, with a result for each; one refusal never fails its neighbours.
  // Every event that is acknowledged is durable. kNotFound: no such thread, and none is made.
  // kInvalid: a rule, or a `base` that does not lie before the event. kConflict: expect_seq,
  // expect_version, or a key that came with another event. kFenced: the token is not the current
  // one; this is looked at first. A key that is known with the same event answers the seq of then,
  // whatever was expected.
  // Sets updated_at to the event's timestamp if that is later.
  virtual std::vector<Result<Appended>> append(std::span<const Append> appends) = 0;

  // Without a token: takes the thread's lease for `ttl` with a new token; kBusy while another holds
  // it. With a token: renews it, or with a `ttl` of 0 gives it back; kFenced when it is not the
  // current one. A lease that ran out may be taken by anyone, but until somebody does, its token
  // still writes and renews. `holder` is a name for people, told to those who find the lease taken.
  virtual Result<Lease> lease(ThreadId id, std::string_view holder, std::chrono::milliseconds ttl,
                              std::optional<LeaseToken> token) = 0;

  // All or nothing; answers the new versions (0 for what was deleted). kConflict (expect_version)
  // and kFenced refuse the whole. Deleting what is not there is no error.
  virtual Result<std::vector<Version>> write(std::span<const RecordWrite> writes) = 0;
};

// Commits since the store was opened, by how many calls that write shared them: one, up to 2, 4 …
// 1,024, and more.
struct CommitSizes {
  static constexpr std::size_t kBounds = 11;
  std::array<std::uint64_t, kBounds + 1> commits{};
  std::uint64_t calls = 0;
};

class Store : public Writes {
 public:
  // Nothing, when there is no such thread.
  virtual Result<std::optional<Manifest>> get(const ThreadRef& ref) = 0;

  // Ties are ordered by id. Following `next` shows no thread twice, whatever happens in between;
  // one that was updated in between may have moved ahead of the cursor. A damaged thread is left
  // out, and reported to StoreOptions::notice. A filter that cannot be applied is kInvalid, never
  // ignored.
  virtual Result<ThreadPage> list(const ListQuery& query) = 0;

  // Calls `work`, and flushes what it writes by its argument once, where the backend can. All else
  // is as if it were written by this store, call by call: a refusal leaves what came before. An
  // error is that of storage, and then none of the answers that `work` got holds. `work` may be
  // called on another thread, and more than once; it must not call the store.
  virtual Result<void> together(const std::function<void(Writes&)>& work) = 0;

  // Delivers events in order of seq, or backwards. What is appended meanwhile may or may not be
  // seen. An unknown thread delivers nothing.
  virtual Result<void> read(ThreadId id, const ReadRange& range, const EventSink& sink) = 0;

  // What happened after `cursor`, over everything, in an order that respects that of each thread
  // and each record; waits up to `wait` when there is nothing. Cursors outlive the process; "" is
  // the beginning, kNow the present. Everything that happened is in the feed, with what was
  // overtaken left out: of several updates of a manifest or record the last, and of a removed
  // thread its removal only. `jsonl:` may repeat after a crash or after another program wrote; the
  // others never do.
  virtual Result<ChangeBatch> changes(std::string_view cursor, std::size_t limit,
                                      std::chrono::milliseconds wait) = 0;
  static constexpr std::string_view kNow = "now";

  virtual Result<std::vector<Record>> scan(const ScanRange& range) = 0;

  // Reads everything and compares it with its checksums. Findings go to `sink` as they are made.
  virtual Result<CheckSummary> check(const CheckOptions& options,
                                     const std::function<void(const Finding&)>& sink) = 0;

  // What this store has made durable, call by call or several at once; not what other processes
  // have. A call that fails or changes nothing may or may not be counted. `jsonl:` commits each
  // thread for itself: there a call that appends to several counts once for each. `memory:` makes
  // nothing durable, and has no commits.
  virtual CommitSizes commit_sizes() const = 0;
};

struct StoreOptions {
  Clock* clock = nullptr;   // borrowed; none: system_clock()
  IdSource* ids = nullptr;  // borrowed; none: random_ids()
  // Told of what was found and mended in passing, such as a torn last line. From any thread, also
  // in the middle of a write: unlike other callbacks it must not call the store.
  std::function<void(const Finding&)> notice;
  // For tests that must see data get lost: never flushes. Nothing survives a power cut.
  bool unsafe_no_flush = false;
};

// memory:  jsonl:DIR  sqlite:FILE. Makes the file or folder when it is not there.
Result<std::unique_ptr<Store>> open_store(std::string_view url, StoreOptions options = {});

}  // namespace skein
