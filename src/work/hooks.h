// Automatic checkpoints, made as a coding agent works.
#pragma once

#include <optional>
#include <string>

#include "git/repository.h"
#include "skein/checkpoints.h"
#include "skein/work_sessions.h"
#include "work/hook_event.h"
#include "work/hook_session.h"

namespace skein {

// Between two automatic checkpoints of a session, commits aside; and how long a full one takes the
// place of the automatic one before it.
inline constexpr std::int64_t kAutoCheckpointMs = 5 * 60 * 1000;

// What happens at each of the agent's hooks. Sessions are independent of each other; within one,
// calls happen one after the other. Thread-safe.
class Hooks {
 public:
  explicit Hooks(Checkpoints& checkpoints);

  // After a tool: a checkpoint that names the commits that it made, or, at most every five minutes,
  // one for a file that it created or a worker that it finished. Nothing otherwise.
  Result<std::optional<Checkpoint>> post_tool_use(const HookEvent& event);

  // Remembers where the session began.
  Result<void> session_start(const HookEvent& event);

  // At the end of a turn and of the session: a checkpoint for created files that none names yet,
  // within the same five minutes.
  Result<std::optional<Checkpoint>> stop(const HookEvent& event);
  Result<std::optional<Checkpoint>> session_end(const HookEvent& event);

  // Makes a checkpoint that somebody asked for, as part of a session: `session`, or without one the
  // newest that is open, of those that the hooks saw and of the working sessions. It lists the
  // commits since the session began. Of a session that the hooks know it also lists the files that
  // its tools touched, and replaces an automatic checkpoint of the last five minutes. kNotFound:
  // neither the hooks nor the store know `session`; nothing is written then.
  Result<Checkpoint> checkpoint(NewCheckpoint wanted, WorkSessions& working,
                                const std::optional<std::string>& session);

 private:
  struct Found {
    Repository repository;
    std::string folder;
    std::vector<Commit> commits;  // newest first
  };

  Result<std::optional<Checkpoint>> after_commands(HookSessions::Open& open, const HookEvent& event,
                                                   const ToolOutcome& outcome);
  Result<std::optional<Found>> find_commits(HookSessions::Open& open, const std::string& folder,
                                            bool says_commit);
  Result<std::optional<Checkpoint>> create(HookSession& session, NewCheckpoint wanted);
  Result<std::optional<Checkpoint>> for_created_files(HookSession& session,
                                                      const std::string& folder);
  Result<std::optional<Checkpoint>> at_end(const HookEvent& event, bool ended);
  // What is known of a session: by the hooks, as a working session, or both.
  struct Session {
    bool hooked = false;
    std::string id;
    std::optional<WorkSession> working;
  };
  Result<Session> named_session(WorkSessions& working, const std::string& id) const;
  Result<std::optional<Session>> newest_session(WorkSessions& working) const;
  Result<Checkpoint> checkpoint_of(NewCheckpoint wanted, HookSessions::Open& open);
  bool is_too_soon(const HookSession& session) const;
  bool is_own_file(const std::string& file) const;
  Timestamp now() const { return checkpoints_.options().clock->now(); }
  const std::string& workspace() const { return checkpoints_.options().workspace; }

  Checkpoints& checkpoints_;
  HookSessions sessions_;
};

}  // namespace skein
