// Checkpoints: where a piece of work stood (summary, git, worker, next steps), one file each in
// WORKSPACE/workspace/threads/, which people and other programs read and write too.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "skein/clock.h"
#include "skein/error.h"
#include "skein/json.h"

namespace skein::limits {

inline constexpr std::size_t kMaxCheckpointBytes = std::size_t{1} << 20;       // one file
inline constexpr std::size_t kMaxCheckpointTextBytes = std::size_t{64} << 10;  // summary, a step, …
inline constexpr std::size_t kMaxCheckpointItems = 1000;  // next steps, tags, files, commits, each
inline constexpr std::size_t kMaxHookBytes = std::size_t{32} << 20;  // what a hook is told

}  // namespace skein::limits

namespace skein {

enum class CheckpointType {
  kCheckpoint,  // "checkpoint": somebody asked for it
  kAuto,        // "auto-checkpoint": a hook made it; lighter, and purged after a while
  kHandoff,     // "handoff": somebody else will go on; has the form of a full one
  kOther,       // a type of another program, such as "task"
};

// idle → loading → executing → verifying → completed, and executing → error.
enum class WorkerState { kIdle, kLoading, kExecuting, kVerifying, kCompleted, kError };

// Fields that a file does not have are absent, and are not written. What has a known name but
// another type than it should is kept with the unknown fields.
struct CheckpointGit {
  struct Knowledge {
    std::string name;
    Json repository;  // {"commit": …, "dirty": …}
  };

  // A file that differed from current_commit, and what its content is known by: "sha256:HEX",
  // "link:HEX" of a link's target, "size:BYTES" of a large file, or "absent".
  struct Uncommitted {
    std::string path;  // from the root of the repository
    std::string content;
  };

  std::optional<std::string> branch;  // "HEAD" when detached
  std::optional<std::string> remote_url;
  std::optional<std::string> initial_commit;
  std::optional<std::string> current_commit;
  std::optional<std::vector<std::string>> commits_made;  // "def5678: subject", oldest first
  std::optional<bool> dirty;
  std::optional<std::vector<Uncommitted>> uncommitted;  // of files_touched
  std::optional<std::vector<Knowledge>> knowledge_repos;
  Json extra;  // an object with unknown fields, as they came; or absent
};

struct Worker {
  std::string id;
  std::optional<std::string> skill;
  std::optional<WorkerState> state;
  std::optional<Timestamp> started_at;
  std::optional<Timestamp> completed_at;
  Json extra;
};

struct Checkpoint {
  std::string id;  // T-YYYYMMDD-HHMMSS-slug, in UTC
  std::int64_t version = 1;
  CheckpointType type = CheckpointType::kCheckpoint;
  std::string other_type;  // the word for kOther
  Timestamp created_at;
  Timestamp updated_at;
  std::string workspace_root;  // with "~" for the home folder
  std::string cwd;             // from the root
  std::optional<CheckpointGit> git;
  std::optional<Worker> worker;
  std::string summary;
  std::vector<std::string> files_touched;
  std::optional<std::vector<std::string>> next_steps;
  std::string title;
  std::vector<std::string> tags;
  std::optional<std::string> trigger;  // of an automatic one: "git-commit", …
  Json metadata_extra;                 // an object with unknown fields of "metadata", or absent
  Json extra;                          // and those at the top

  // Beside it: read from the older WORKSPACE/workspace/checkpoints/, which is never written.
  bool older = false;
  // And "2026-01": read from WORKSPACE/workspace/threads/archive/2026-01/, which is not written
  // either. Empty: it is not archived.
  std::string archive;
};

const char* to_string(CheckpointType type);  // "other" for kOther
const char* to_string(WorkerState state);
Result<CheckpointType> parse_checkpoint_type(std::string_view text);
Result<WorkerState> parse_worker_state(std::string_view text);

// kConflict names both states, when a worker cannot get from one to the other. Staying is no move.
Result<void> check_worker_move(WorkerState from, WorkerState to);

// The file, byte for byte as other programs lay it out; ends with a line feed.
std::string to_json(const Checkpoint& checkpoint);
// Without a "created_at" it was made at its "updated_at", else at the time in its id. kInvalid says
// what is wrong.
Result<Checkpoint> parse_checkpoint(std::string_view json);

// What a title becomes in an id: lower-case words joined by dashes, at most 48 bytes. Latin, Greek
// and Cyrillic letters are written in ASCII, letters and digits of other scripts as they are.
// "checkpoint" when nothing is left.
std::string checkpoint_slug(std::string_view title);

// T-YYYYMMDD-HHMMSS-slug of a time and a title. The slug never begins with "auto-", which marks
// automatic checkpoints.
std::string checkpoint_id(Timestamp time, std::string_view title);

struct NewCheckpoint {
  CheckpointType type = CheckpointType::kCheckpoint;
  std::string slug;   // any text; empty: from the title, else from the summary. kInvalid: one that
                      // begins with "auto-" and is for no automatic checkpoint
  std::string title;  // empty: from the slug
  std::string summary;
  std::vector<std::string> next_steps;
  std::vector<std::string> tags;
  std::vector<std::string> files_touched;  // besides those that git tells
  std::optional<Worker> worker;
  std::optional<std::string> trigger;
  std::string folder;  // where one stands; empty: the workspace
  // When the session began, and the commit that was checked out then. Without them no commits count
  // as made.
  std::optional<Timestamp> session_began;
  std::string initial_commit;
  // An automatic one that this one takes the place of, with the files that it names. One that is
  // gone, or is not automatic, stays as it is.
  std::string replaces;
};

// What changes; absent fields stay. Lists are added to.
struct CheckpointUpdate {
  std::optional<std::string> summary = {};
  std::vector<std::string> next_steps = {};
  std::vector<std::string> tags = {};
  std::vector<std::string> files_touched = {};
  std::optional<WorkerState> worker_state = {};  // kConflict: an illegal move; kInvalid: no worker
};

struct CheckpointQuery {
  std::string words = {};              // all of them, each as the beginning of a word; any script
  std::vector<std::string> tags = {};  // all of them
  std::string worker = {};             // its id or skill
  std::optional<Timestamp> since = {};
  std::optional<Timestamp> until = {};
  std::vector<CheckpointType> types = {};  // any of them; none given: all
  std::size_t limit = 50;
};

// What lists show of a checkpoint.
struct CheckpointEntry {
  std::string id;
  CheckpointType type = CheckpointType::kCheckpoint;
  std::string other_type;  // the word for kOther
  Timestamp created_at;
  std::string title;
  std::string summary;
  std::vector<std::string> tags;
  std::string worker;  // "id/skill", or empty
  std::string worker_state;
  std::string branch;
  std::string commit;
  std::uint64_t next_steps = 0;
  bool older = false;
  std::string archive;  // as in Checkpoint
};

// The word that the file has as its type.
std::string type_name(const Checkpoint& checkpoint);
std::string type_name(const CheckpointEntry& entry);

// How far the repository has moved since a checkpoint was made.
struct CheckpointDrift {
  std::string unknown;  // why nothing can be said; empty: what follows holds
  std::string branch_then;
  std::string branch_now;
  std::string commit_then;
  std::string commit_now;
  bool commit_missing = false;           // the commit of then is not in the repository any more
  std::size_t commits_since = 0;         // of now, that were not there then
  std::vector<std::string> new_commits;  // the newest of them, "def5678: subject"
  std::size_t commits_left = 0;          // of then, that are not in what is checked out now
  // Of those that the checkpoint names: they are not as they were when it was made or updated.
  std::vector<std::string> changed_files;
  bool dirty = false;

  bool none() const;
};

struct PurgeOptions {
  std::int64_t older_than_days = 14;
  bool dry_run = false;
  std::string only = {};  // this one alone, if it is due; empty: all that are
};

// An automatic checkpoint that is gone.
struct PurgedCheckpoint {
  std::string id;
  Timestamp purged_at;
  Timestamp created_at;
  std::string title;
};

struct CheckpointsOptions {
  std::string workspace;  // absolute
  struct KnowledgeRepo {
    std::string name;
    std::string folder;  // from the workspace, or absolute
  };
  // Besides those at knowledge/public/*, knowledge/private/* and companies/*/knowledge.
  std::vector<KnowledgeRepo> knowledge_repos = {};
  Clock* clock = nullptr;  // borrowed; none: system_clock()
  // Told of what went wrong without failing the call: a file that is no checkpoint, git that
  // refuses a repository.
  std::function<void(const std::string&)> notice = {};
};

// The checkpoints of one workspace. A file appears whole and flushed, or not at all, and none is
// ever overwritten by another. Lists come from a cache (WORKSPACE/.skein/checkpoints.cache) that is
// compared with the folder each time, and so never tells what is not there. Thread-safe, and safe
// beside other processes.
class Checkpoints {
 public:
  explicit Checkpoints(CheckpointsOptions options);

  // Asks git where the work stands, and writes the file; for a full one also INDEX.md and
  // recent.md. Two of one second and slug get ids that differ.
  Result<Checkpoint> create(const NewCheckpoint& wanted);

  // Asks git again where the work stands in the checkpoint's folder: commits since then are added
  // to those made, their files and uncommitted ones to those touched. `part` is a whole id, a slug,
  // or some part of an id. kConflict names the candidates when several fit. kInvalid for one of the
  // older folder or the archive.
  Result<Checkpoint> update(std::string_view part, const CheckpointUpdate& changes);

  // `part` is a whole id, else a slug, else some part of an id. Of several the newest that is not
  // automatic; the notice names the others. kNotFound; kConflict: several fit, and all are
  // automatic.
  Result<Checkpoint> get(std::string_view part);

  // Newest first.
  Result<std::vector<CheckpointEntry>> list(const CheckpointQuery& query);

  // Compares the checkpoint with the repository as it is now, in this workspace.
  CheckpointDrift drift(const Checkpoint& checkpoint) const;

  // Removes automatic ones that are older, and answers which. Each leaves a line in
  // WORKSPACE/.skein/purged.jsonl before it goes.
  Result<std::vector<CheckpointEntry>> purge(const PurgeOptions& options);
  // Everything that was purged so far, oldest first.
  Result<std::vector<PurgedCheckpoint>> purged() const;

  // Writes INDEX.md and recent.md anew.
  Result<void> rebuild_index();

  const CheckpointsOptions& options() const { return options_; }

 private:
  enum class IfSeveral { kRefuse, kNewest };
  Result<CheckpointEntry> find(std::string_view part, IfSeveral if_several);
  void notice(const std::string& message) const;

  CheckpointsOptions options_;
};

}  // namespace skein
