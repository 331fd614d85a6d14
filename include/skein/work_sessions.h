// Working sessions: a stretch of work in one place, which begins with what is open and ends with
// what is open still.
//
// Sessions are documents of the store. Closing one stores the project's whole list of items with
// it, resolved ones included; starting one merges the lists of the last five closed sessions of the
// same project, at most 14 days old, into the workspace. Merging is commutative and idempotent and
// only ever adds: an item that is resolved stays so, whoever merges what with what and when.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "skein/checkpoints.h"
#include "skein/work_items.h"

namespace skein {

struct WorkSession {
  std::string id;  // a UUID, or what the caller gave: [A-Za-z0-9][A-Za-z0-9._-]{0,63}
  std::string agent;
  std::string project;
  std::string workspace;
  std::string host;
  bool open = true;
  Timestamp started_at;
  Timestamp closed_at;  // unset: never was; a session may be started again after it was closed
  std::string branch;   // of the repository, at the start; empty: none
  std::string head;     // the commit that was checked out, at the start or since it was closed
  std::string initial_commit;  // at the start; empty: none, or stored by an older version
  std::string summary;
  std::vector<Json> decisions;  // texts or whatever the caller keeps there
  std::vector<Json> learnings;
  std::vector<WorkItem> items;  // as of closing
  Json extra;                   // further fields of the start and of the closing payload; or absent
};

// A line such as "PROJECT STATE: Skein: OD-523done OD-524~waits for review OD-525->write tests".
struct ProjectState {
  struct Entry {
    std::string key;
    std::string text;
  };
  std::string project;
  std::vector<std::string> done;
  std::vector<Entry> notes;
  std::vector<Entry> next;
  std::string text;  // as it was written
};

// Nothing, unless the text begins with "PROJECT STATE:".
std::optional<ProjectState> parse_project_state(std::string_view text);

// Where the repository stands, and what happened in it since a session ended.
struct RepositoryNews {
  struct Change {
    std::string commit;  // seven digits, or as many as tell it from others
    std::string subject;
  };
  std::string branch;  // "HEAD" when detached
  std::string head;    // in full; empty: there are no commits yet
  std::size_t changed_files = 0;
  std::vector<Change> commits;  // the newest first, at most 20
  bool more_commits = false;
};

struct StartSession {
  std::string agent;
  std::optional<std::string> project;
  std::optional<std::string> session_id;  // none: a new UUID. A known one is gone on with.
  std::size_t max_items = 50;             // of those that are shown; the totals count all
  // A closed session of the project whose items are carried over however old it is.
  std::optional<std::string> carry_from;
  bool all_unclosed = false;  // also those that were started more than 24 hours ago
  Json extra;                 // an object that is stored with the session; or absent
};

// What the last session of a project left that is too old to be carried over.
struct LeftBehind {
  std::string session_id;
  Timestamp closed_at;
  std::size_t open = 0;  // items that are not in the workspace
};

struct StartedSession {
  WorkSession session;
  std::vector<ListedItem> open_items;  // of the project, the liveliest first, with details
  std::size_t total_open = 0;          // of the project
  std::size_t total_resolved = 0;
  std::optional<ProjectState> project_state;  // the newest
  std::optional<RepositoryNews> repository;   // nothing: the workspace is in none
  std::optional<WorkSession> last;            // the project's last closed one, without its items
  std::vector<CheckpointEntry> checkpoints;   // the last three of the workspace
  std::vector<WorkSession>
      unclosed;                    // others of this place, the newest first, of the last 24 hours
  std::size_t older_unclosed = 0;  // how many others there are
  std::optional<LeftBehind> left_behind;
  std::vector<std::string> warnings;
};

// The records of sessions (Store::changes): what is listed as open depends on the newest open one.
inline constexpr const char* kSessionsCollection = "work_sessions";

inline constexpr std::size_t kMaxClosingItems = 1000;
inline constexpr std::size_t kMaxUnclosedSessions = 1000;
inline constexpr std::int64_t kStaleSessionUs = 24LL * 3600 * 1'000'000;

struct CloseSession {
  std::optional<std::string> session_id;  // none: the newest open one of the workspace
  std::string summary;
  std::vector<Json> decisions;
  std::vector<Json> learnings;
  // A JSON array of items in any of the known formats, or absent. A text without an id is a new
  // item, unless one that is open says the same or nearly the same, which keeps it as a note then;
  // an item with an id is merged, and {"id", "status"} is enough for one that is known. At most
  // kMaxClosingItems. New items keep their order.
  Json open_threads;
  std::string project_state;         // becomes a "PROJECT STATE:" item; empty: none
  Json extra;                        // an object that is stored with the session; or absent
  std::vector<std::string> unknown;  // members of `extra` that nothing is known of: warnings

  // From a JSON object with "session_id", "summary", "decisions", "learnings" (also
  // "learnings_created"), "open_threads", "project_state". Others are in `extra`, those of GitMem's
  // payloads ("close_type", "closing_reflection" …) without a warning.
  static Result<CloseSession> parse(std::string_view json);
};

struct ClosedSession {
  WorkSession session;
  std::vector<WorkItem> open_items;  // of the project, each text once
  std::size_t created = 0;           // by this call
  std::size_t resolved = 0;          // by this session, each text once
  std::vector<std::string> warnings;
};

// Thread-safe, as the store is. Borrows its arguments.
class WorkSessions {
 public:
  WorkSessions(Store& store, WorkPlace place, Clock& clock, IdSource& ids)
      : store_(store), place_(std::move(place)), clock_(clock), ids_(ids) {}

  // A workspace whose list cannot be read or saved is a warning: the items are then those of the
  // store, and those of the list as far as it can be read. kIo: .gitmem or the list is a link that
  // is not written through; nothing is written then.
  Result<StartedSession> start(const StartSession& request);

  // The list as at the start. kNotFound: no such session, or none is open here. kConflict: it is
  // closed already.
  Result<ClosedSession> close(const CloseSession& request);

  // Nothing, when there is no such session.
  Result<std::optional<WorkSession>> get(std::string_view id);

  // Open sessions of this place, the newest first.
  Result<std::vector<WorkSession>> unclosed(std::size_t most = 20);

  // Closes, without a payload, all sessions of this place that were started before that time. Stops
  // at the first that cannot be closed. Behind 1,000 sessions that are younger, none is found.
  Result<std::vector<ClosedSession>> close_unclosed(Timestamp started_before);

 private:
  Store& store_;
  const WorkPlace place_;
  Clock& clock_;
  IdSource& ids_;
};

Result<void> check_session_id(std::string_view id);

}  // namespace skein
