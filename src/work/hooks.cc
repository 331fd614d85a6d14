#include "work/hooks.h"

#include <algorithm>
#include <filesystem>

#include "core/quote.h"
#include "core/try.h"
#include "work/checkpoint_capture.h"
#include "work/named_session.h"

namespace skein {
namespace {

namespace fs = std::filesystem;

// How far back a session that was not known before may have committed, when its commands say so.
constexpr std::int64_t kFirstLookBackMs = 2 * 60 * 1000;
constexpr std::size_t kMostCommits = 20;  // that one checkpoint names
constexpr std::size_t kMostFiles = 3;     // that a summary names

std::string root_name(const Repository& repository) { return mended_utf8(repository.root()); }

// Remembers what is checked out in the repository of the folder, if there is one.
Result<void> note_head(HookSession& session, const std::string& folder) {
  SKEIN_ASSIGN(const auto repository, Repository::find(folder));
  if (!repository) return {};
  SKEIN_ASSIGN(const auto head, repository->commit("HEAD"));
  if (session.head(root_name(*repository)) != nullptr) return {};
  const std::string id = head ? head->id : "";
  session.heads.push_back({root_name(*repository), id, id});
  return {};
}

// What was checked out when the working session began. Sessions of older versions have it as their
// head until they are closed.
std::string initial_commit(const WorkSession& session) {
  if (!session.initial_commit.empty()) return session.initial_commit;
  return session.closed_at.is_set() ? "" : session.head;
}

std::string named(const std::vector<std::string>& files) {
  std::string out;
  for (std::size_t i = 0; i < std::min(files.size(), kMostFiles); ++i) {
    out += (i > 0 ? ", " : "") + files[i];
  }
  if (files.size() > kMostFiles)
    out += " and " + std::to_string(files.size() - kMostFiles) + " more";
  return out;
}

}  // namespace

Hooks::Hooks(Checkpoints& checkpoints)
    : checkpoints_(checkpoints), sessions_(checkpoints.options().workspace) {}

bool Hooks::is_too_soon(const HookSession& session) const {
  return session.last_auto_at && now().ms() - session.last_auto_at->ms() < kAutoCheckpointMs;
}

bool Hooks::is_own_file(const std::string& file) const {
  const std::string path = path_from(workspace(), file);
  return path.starts_with(".skein/") || path.starts_with(".gitmem/") ||
         path.starts_with("workspace/threads/") || path.starts_with("workspace/checkpoints/");
}

Result<std::optional<Checkpoint>> Hooks::create(HookSession& session, NewCheckpoint wanted) {
  wanted.type = CheckpointType::kAuto;
  wanted.files_touched.insert(wanted.files_touched.end(), session.files.begin(),
                              session.files.end());
  SKEIN_ASSIGN(Checkpoint checkpoint, checkpoints_.create(wanted));
  session.last_auto = checkpoint.id;
  session.last_auto_at = checkpoint.created_at;
  session.files.clear();
  session.created_files = false;
  return checkpoint;
}

Result<std::optional<Hooks::Found>> Hooks::find_commits(HookSessions::Open& open,
                                                        const std::string& folder,
                                                        bool says_commit) {
  SKEIN_ASSIGN(const auto repository, Repository::find(folder));
  if (!repository) return std::nullopt;
  SKEIN_ASSIGN(const auto head, repository->commit("HEAD"));
  if (!head) return std::nullopt;

  CommitQuery query{.since = open.session.seen_at, .limit = kMostCommits};
  HookSession::Head* known = open.session.head(root_name(*repository));
  if (known != nullptr && !known->last.empty()) {
    if (known->last == head->id) return std::nullopt;
    SKEIN_ASSIGN(const auto last, repository->commit(known->last));
    if (last) query.not_in = last->id;
  }
  if (open.fresh && says_commit) {
    query.since = Timestamp::from_ms(open.session.seen_at.ms() - kFirstLookBackMs);
  }
  SKEIN_ASSIGN(std::vector<Commit> commits, repository->commits(query));
  if (known == nullptr) {
    known = &open.session.heads.emplace_back();
    known->root = root_name(*repository);
    if (commits.empty()) known->initial = head->id;
  }
  known->last = head->id;
  if (commits.empty()) return std::nullopt;
  return Found{*repository, folder, std::move(commits)};
}

Result<std::optional<Checkpoint>> Hooks::after_commands(HookSessions::Open& open,
                                                        const HookEvent& event,
                                                        const ToolOutcome& outcome) {
  std::vector<std::string> folders = {event.cwd.empty() ? workspace() : event.cwd};
  folders.insert(folders.end(), outcome.folders.begin(), outcome.folders.end());
  std::optional<Found> found;
  for (const std::string& folder : folders) {
    std::error_code error;
    if (!fs::is_directory(folder, error)) continue;
    SKEIN_ASSIGN(found, find_commits(open, folder, outcome.says_commit));
    if (found) break;
  }
  open.session.seen_at = now();
  if (!found) return std::nullopt;

  NewCheckpoint wanted;
  wanted.folder = found->folder;
  wanted.trigger = "git-commit";
  wanted.title = "Auto: " + found->commits.front().subject;
  std::vector<std::string> ids;
  for (const Commit& commit : found->commits) {
    wanted.summary += wanted.summary.empty() ? "Committed " : "; ";
    wanted.summary += commit.short_id + ": " + commit.subject;
    ids.push_back(commit.id);
  }
  SKEIN_ASSIGN(wanted.files_touched, found->repository.files_of(ids));
  return create(open.session, std::move(wanted));
}

Result<std::optional<Checkpoint>> Hooks::for_created_files(HookSession& session,
                                                           const std::string& folder) {
  if (!session.created_files || is_too_soon(session)) return std::nullopt;
  std::vector<std::string> files;
  for (const std::string& file : session.files) files.push_back(path_from(workspace(), file));
  NewCheckpoint wanted;
  wanted.folder = folder;
  wanted.trigger = "file-generation";
  wanted.title = "Auto: " + fs::path(files.back()).filename().string();
  wanted.summary = "Generated " + named(files);
  return create(session, std::move(wanted));
}

Result<std::optional<Checkpoint>> Hooks::post_tool_use(const HookEvent& event) {
  const ToolOutcome outcome = judge_tool(event);
  if (outcome.deed == ToolDeed::kNothing || is_own_file(outcome.file)) return std::nullopt;
  SKEIN_ASSIGN(HookSessions::Open open, sessions_.open(event.session_id, now()));
  HookSession& session = open.session;
  std::optional<Checkpoint> made;
  switch (outcome.deed) {
    case ToolDeed::kNothing:
      break;
    case ToolDeed::kRanCommands: {
      SKEIN_ASSIGN(made, after_commands(open, event, outcome));
      break;
    }
    case ToolDeed::kChangedFile:
      session.touch(outcome.file);
      break;
    case ToolDeed::kCreatedFile: {
      session.touch(outcome.file);
      session.created_files = true;
      SKEIN_ASSIGN(made, for_created_files(session, event.cwd));
      break;
    }
    case ToolDeed::kFinishedWorker: {
      if (is_too_soon(session)) break;
      NewCheckpoint wanted;
      wanted.folder = event.cwd;
      wanted.trigger = "worker-skill";
      wanted.title = "Auto: " + outcome.worker + " finished";
      wanted.summary = "Worker " + outcome.worker + " finished" +
                       (outcome.skill.empty() ? "" : ": " + outcome.skill);
      SKEIN_ASSIGN(made, create(session, std::move(wanted)));
      break;
    }
  }
  SKEIN_TRY(open.save());
  return made;
}

Result<void> Hooks::session_start(const HookEvent& event) {
  SKEIN_ASSIGN(HookSessions::Open open, sessions_.open(event.session_id, now()));
  open.session.ended_at.reset();
  open.session.seen_at = now();
  const auto noted = note_head(open.session, event.cwd.empty() ? workspace() : event.cwd);
  SKEIN_TRY(open.save());
  return noted;
}

Result<std::optional<Checkpoint>> Hooks::at_end(const HookEvent& event, bool ended) {
  SKEIN_ASSIGN(const auto known, sessions_.find(event.session_id));
  if (!known || (!ended && !known->created_files)) return std::nullopt;
  SKEIN_ASSIGN(HookSessions::Open open, sessions_.open(event.session_id, now()));
  if (ended) open.session.ended_at = now();
  SKEIN_ASSIGN(auto made, for_created_files(open.session, event.cwd));
  SKEIN_TRY(open.save());
  return made;
}

Result<std::optional<Checkpoint>> Hooks::stop(const HookEvent& event) {
  return at_end(event, false);
}

Result<std::optional<Checkpoint>> Hooks::session_end(const HookEvent& event) {
  return at_end(event, true);
}

Result<Hooks::Session> Hooks::named_session(WorkSessions& working, const std::string& id) const {
  Session session{false, id, std::nullopt};
  SKEIN_ASSIGN(const auto hooked, sessions_.find(id));
  session.hooked = hooked.has_value();
  // The hooks take any text for an id, working sessions do not.
  if (!session.hooked) SKEIN_TRY(check_session_id(id));
  if (check_session_id(id)) {
    SKEIN_ASSIGN(session.working, working.get(id));
  }
  if (session.hooked || session.working) return session;
  SKEIN_ASSIGN(const auto open, working.unclosed());
  return tl::unexpected(unknown_session(id, open));
}

Result<std::optional<Hooks::Session>> Hooks::newest_session(WorkSessions& working) const {
  SKEIN_ASSIGN(const auto hooked, sessions_.newest_open(now()));
  SKEIN_ASSIGN(auto open, working.unclosed());
  if (!open.empty() && (!hooked || hooked->seen_at < open.front().started_at)) {
    SKEIN_ASSIGN(const auto known, sessions_.find(open.front().id));
    const std::string id = open.front().id;
    return Session{known.has_value(), id, std::move(open.front())};
  }
  if (!hooked) return std::nullopt;
  SKEIN_ASSIGN(Session session, named_session(working, hooked->id));
  return session;
}

Result<Checkpoint> Hooks::checkpoint_of(NewCheckpoint wanted, HookSessions::Open& open) {
  HookSession& known = open.session;
  const Timestamp began = wanted.session_began.value_or(known.started_at);
  wanted.session_began = std::min(began, known.started_at);
  if (const auto repository = Repository::find(wanted.folder); repository && *repository) {
    const HookSession::Head* head = known.head(root_name(**repository));
    if (head != nullptr && !head->initial.empty()) wanted.initial_commit = head->initial;
  }
  if (!known.last_auto.empty() && is_too_soon(known)) wanted.replaces = known.last_auto;
  wanted.files_touched.insert(wanted.files_touched.end(), known.files.begin(), known.files.end());
  SKEIN_ASSIGN(Checkpoint made, checkpoints_.create(wanted));
  known.last_auto.clear();
  known.files.clear();
  known.created_files = false;
  SKEIN_TRY(open.save());
  return made;
}

Result<Checkpoint> Hooks::checkpoint(NewCheckpoint wanted, WorkSessions& working,
                                     const std::optional<std::string>& session) {
  if (wanted.folder.empty()) wanted.folder = workspace();
  std::optional<Session> found;
  if (session && !session->empty()) {
    SKEIN_ASSIGN(found, named_session(working, *session));
  } else {
    SKEIN_ASSIGN(found, newest_session(working));
  }
  if (!found) return checkpoints_.create(wanted);
  if (found->working) {
    wanted.session_began = found->working->started_at;
    wanted.initial_commit = initial_commit(*found->working);
  }
  if (!found->hooked) return checkpoints_.create(wanted);
  SKEIN_ASSIGN(HookSessions::Open open, sessions_.open(found->id, now()));
  return checkpoint_of(std::move(wanted), open);
}

}  // namespace skein
