#include "skein/checkpoints.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/json.h"
#include "core/json_fields.h"
#include "core/json_object.h"
#include "core/quote.h"
#include "core/try.h"
#include "core/visible.h"
#include "skein/limits.h"
#include "work/checkpoint_cache.h"
#include "work/checkpoint_candidates.h"
#include "work/checkpoint_capture.h"
#include "work/checkpoint_folder.h"
#include "work/checkpoint_index.h"
#include "work/checkpoint_search.h"

namespace skein {
namespace {

constexpr std::int64_t kMsPerDay = 86'400'000;
constexpr std::size_t kMaxPurgedBytes = std::size_t{256} << 20;
constexpr std::string_view kPurgedFile = "purged.jsonl";
constexpr std::string_view kAutoMark = "auto-";

Result<void> check_text(std::string_view what, std::string_view text) {
  if (text.size() > limits::kMaxCheckpointTextBytes) {
    return fail(ErrorCode::kInvalid, fmt::format("{} has {} bytes; the limit is {}", what,
                                                 text.size(), limits::kMaxCheckpointTextBytes));
  }
  if (!valid_utf8(text)) return fail(ErrorCode::kInvalid, fmt::format("{} is not UTF-8", what));
  return {};
}

Result<void> check_texts(std::string_view what, const std::vector<std::string>& texts) {
  if (texts.size() > limits::kMaxCheckpointItems) {
    return fail(ErrorCode::kInvalid, fmt::format("there are {} of {}; the limit is {}",
                                                 texts.size(), what, limits::kMaxCheckpointItems));
  }
  for (const std::string& text : texts) SKEIN_TRY(check_text(what, text));
  return {};
}

Result<void> check_new(const NewCheckpoint& wanted) {
  SKEIN_TRY(check_text("the slug", wanted.slug));
  if (wanted.type != CheckpointType::kAuto && checkpoint_slug(wanted.slug).starts_with(kAutoMark)) {
    return fail(ErrorCode::kInvalid,
                "the slug must not begin with \"auto-\", which marks automatic checkpoints; got " +
                    quote(wanted.slug));
  }
  SKEIN_TRY(check_text("the title", wanted.title));
  SKEIN_TRY(check_text("the summary", wanted.summary));
  SKEIN_TRY(check_texts("next steps", wanted.next_steps));
  SKEIN_TRY(check_texts("tags", wanted.tags));
  if (wanted.worker) {
    if (wanted.worker->id.empty()) return fail(ErrorCode::kInvalid, "a worker must have an id");
    SKEIN_TRY(check_text("the worker's id", wanted.worker->id));
    SKEIN_TRY(check_text("the worker's skill", wanted.worker->skill.value_or("")));
  }
  return {};
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

// T-20260123-143052-
std::string id_prefix(Timestamp time) {
  const std::string text = time.str();
  return "T-" + text.substr(0, 4) + text.substr(5, 2) + text.substr(8, 2) + "-" +
         text.substr(11, 2) + text.substr(14, 2) + text.substr(17, 2) + "-";
}

std::string id_of(const NewCheckpoint& wanted, Timestamp time) {
  const std::string& source = !wanted.slug.empty()    ? wanted.slug
                              : !wanted.title.empty() ? wanted.title
                                                      : wanted.summary;
  const bool automatic = wanted.type == CheckpointType::kAuto;
  std::string_view text = source;
  if (automatic && text.starts_with("Auto: ")) text.remove_prefix(6);
  text = text.substr(0, text.find('\n'));
  if (!automatic) return checkpoint_id(time, text);
  return id_prefix(time) + std::string(kAutoMark) + checkpoint_slug(text);
}

std::string title_of(const NewCheckpoint& wanted) {
  if (!wanted.title.empty()) return wanted.title;
  if (!wanted.slug.empty()) return wanted.slug;
  if (!wanted.summary.empty()) return first_line(wanted.summary);
  return wanted.type == CheckpointType::kHandoff ? "Handoff" : "Checkpoint";
}

bool in_lists(CheckpointType type) { return type != CheckpointType::kAuto; }

void stamp_worker(Worker& worker, Timestamp now) {
  if (!worker.state) return;
  const bool ended =
      *worker.state == WorkerState::kCompleted || *worker.state == WorkerState::kError;
  const bool began =
      ended || *worker.state == WorkerState::kExecuting || *worker.state == WorkerState::kVerifying;
  if (began && !worker.started_at) worker.started_at = now;
  if (ended && !worker.completed_at) worker.completed_at = now;
}

void add_missing(std::vector<std::string>& list, const std::vector<std::string>& more) {
  for (const std::string& text : more) {
    if (std::find(list.begin(), list.end(), text) == list.end()) list.push_back(text);
  }
}

// Recorded contents go first: without them, files are compared with the commit.
Result<void> make_it_fit(Checkpoint& checkpoint) {
  if (to_json(checkpoint).size() <= limits::kMaxCheckpointBytes) return {};
  if (checkpoint.git) checkpoint.git->uncommitted.reset();
  if (to_json(checkpoint).size() <= limits::kMaxCheckpointBytes) return {};
  return fail(ErrorCode::kInvalid, fmt::format("the checkpoint would exceed the limit of {} bytes",
                                               limits::kMaxCheckpointBytes));
}

Result<void> apply(const CheckpointUpdate& changes, Checkpoint& checkpoint) {
  if (changes.summary) checkpoint.summary = *changes.summary;
  add_missing(checkpoint.tags, changes.tags);
  if (!changes.next_steps.empty()) {
    if (!checkpoint.next_steps) checkpoint.next_steps.emplace();
    add_missing(*checkpoint.next_steps, changes.next_steps);
  }
  if (!changes.worker_state) return {};
  if (!checkpoint.worker) {
    return fail(ErrorCode::kInvalid,
                visible_line(checkpoint.id) + " has no worker whose state could change");
  }
  const WorkerState before = checkpoint.worker->state.value_or(WorkerState::kIdle);
  SKEIN_TRY(check_worker_move(before, *changes.worker_state));
  checkpoint.worker->state = changes.worker_state;
  stamp_worker(*checkpoint.worker, checkpoint.updated_at);
  return {};
}

std::string purged_line(const CheckpointEntry& entry, Timestamp now) {
  return JsonObject()
             .add("purgedAt", now.str())
             .add("thread_id", entry.id)
             .add("created_at", entry.created_at.str())
             .add("title", entry.title)
             .add("conversation_summary", entry.summary)
             .add("branch", entry.branch)
             .add("current_commit", entry.commit)
             .str() +
         "\n";
}

}  // namespace

std::string checkpoint_id(Timestamp time, std::string_view title) {
  std::string slug = checkpoint_slug(title);
  while (slug.starts_with(kAutoMark)) slug.erase(0, kAutoMark.size());
  return id_prefix(time) + (slug.empty() ? "checkpoint" : slug);
}

Checkpoints::Checkpoints(CheckpointsOptions options) : options_(std::move(options)) {
  if (options_.clock == nullptr) options_.clock = &system_clock();
}

void Checkpoints::notice(const std::string& message) const {
  if (options_.notice) options_.notice(message);
}

Result<Checkpoint> Checkpoints::create(const NewCheckpoint& wanted) {
  SKEIN_TRY(check_new(wanted));
  Checkpoint checkpoint;
  checkpoint.type = wanted.type;
  checkpoint.created_at = options_.clock->now();
  checkpoint.updated_at = checkpoint.created_at;
  checkpoint.summary = wanted.summary;
  checkpoint.title = title_of(wanted);
  checkpoint.tags = wanted.tags;
  if (in_lists(wanted.type)) {
    checkpoint.next_steps = wanted.next_steps;
    checkpoint.worker = wanted.worker;
    if (checkpoint.worker) stamp_worker(*checkpoint.worker, checkpoint.created_at);
  } else {
    add_missing(checkpoint.tags, {"auto-checkpoint"});
    checkpoint.trigger = wanted.trigger;
  }

  CheckpointFolder folder(options_.workspace);
  SKEIN_TRY(folder.check_writable());
  std::optional<Checkpoint> replaced;
  if (!wanted.replaces.empty()) {
    auto before = folder.load({wanted.replaces, false, {}});
    if (before && before->type == CheckpointType::kAuto) replaced = std::move(*before);
  }
  if (replaced) checkpoint.files_touched = replaced->files_touched;
  capture(checkpoint, wanted, options_);

  const std::string id = id_of(wanted, checkpoint.created_at);
  for (int attempt = 1;; ++attempt) {
    checkpoint.id = attempt == 1 ? id : fmt::format("{}-{}", id, attempt);
    SKEIN_TRY(make_it_fit(checkpoint));
    SKEIN_ASSIGN(const bool made, folder.create(checkpoint));
    if (made) break;
  }
  if (replaced) SKEIN_TRY(folder.remove(replaced->id));
  if (in_lists(checkpoint.type)) SKEIN_TRY(rebuild_index());
  return checkpoint;
}

Result<CheckpointEntry> Checkpoints::find(std::string_view part, IfSeveral if_several) {
  if (part.empty()) return fail(ErrorCode::kInvalid, "say which checkpoint: a part of its id");
  CheckpointFolder folder(options_.workspace);
  SKEIN_ASSIGN(const auto all, index_checkpoints(folder));
  const CheckpointCandidates candidates = find_candidates(all, part);
  if (candidates.best.empty()) {
    return fail(ErrorCode::kNotFound, "there is no checkpoint with " + quote(part) + " in its id");
  }
  const IndexedCheckpoint& newest = *candidates.best.front();
  if (candidates.best.size() > 1) {
    const bool may_choose = newest.entry.type != CheckpointType::kAuto || candidates.exact;
    if (if_several == IfSeveral::kRefuse || !may_choose) {
      return fail(ErrorCode::kConflict,
                  candidates_text(candidates.best, part) + "; give the whole id");
    }
    notice(candidates_text(candidates.best, part) + "; this is the newest");
  }
  if (!newest.problem.empty()) return fail(ErrorCode::kDamaged, newest.problem);
  return newest.entry;
}

Result<Checkpoint> Checkpoints::get(std::string_view part) {
  SKEIN_ASSIGN(const CheckpointEntry entry, find(part, IfSeveral::kNewest));
  return CheckpointFolder(options_.workspace).load({entry.id, entry.older, {}, entry.archive});
}

Result<Checkpoint> Checkpoints::update(std::string_view part, const CheckpointUpdate& changes) {
  SKEIN_TRY(check_text("the summary", changes.summary.value_or("")));
  SKEIN_TRY(check_texts("next steps", changes.next_steps));
  SKEIN_TRY(check_texts("tags", changes.tags));
  SKEIN_TRY(check_texts("files", changes.files_touched));
  CheckpointFolder folder(options_.workspace);
  SKEIN_TRY(folder.check_writable());
  SKEIN_ASSIGN(const CheckpointEntry entry, find(part, IfSeveral::kRefuse));
  if (entry.older) {
    return fail(ErrorCode::kInvalid,
                visible_line(entry.id) + " is in " + folder.older() + ", which is only read");
  }
  if (!entry.archive.empty()) {
    return fail(ErrorCode::kInvalid,
                visible_line(entry.id) + " is in the archive, which is only read");
  }
  Checkpoint checkpoint;
  {
    SKEIN_ASSIGN(const auto lock, folder.lock());
    SKEIN_ASSIGN(checkpoint, folder.load({entry.id, false, {}, {}}));
    checkpoint.updated_at = std::max(checkpoint.updated_at, options_.clock->now());
    SKEIN_TRY(apply(changes, checkpoint));
    capture_again(checkpoint, changes.files_touched, options_);
    SKEIN_TRY(make_it_fit(checkpoint));
    SKEIN_TRY(folder.replace(checkpoint));
  }
  if (in_lists(checkpoint.type)) SKEIN_TRY(rebuild_index());
  return checkpoint;
}

Result<std::vector<CheckpointEntry>> Checkpoints::list(const CheckpointQuery& query) {
  CheckpointFolder folder(options_.workspace);
  SKEIN_ASSIGN(auto all, index_checkpoints(folder));
  const CheckpointMatcher matches(query);
  std::vector<CheckpointEntry> found;
  for (IndexedCheckpoint& checkpoint : all) {
    if (!checkpoint.problem.empty()) notice(checkpoint.problem);
    if (found.size() < query.limit && matches(checkpoint)) {
      found.push_back(std::move(checkpoint.entry));
    }
  }
  return found;
}

Result<std::vector<CheckpointEntry>> Checkpoints::purge(const PurgeOptions& options) {
  const Timestamp now = options_.clock->now();
  CheckpointQuery query;
  query.types = {CheckpointType::kAuto};
  query.until = Timestamp::from_ms(now.ms() - options.older_than_days * kMsPerDay);
  query.limit = std::numeric_limits<std::size_t>::max();
  CheckpointFolder folder(options_.workspace);
  if (!options.dry_run) SKEIN_TRY(folder.check_writable());
  SKEIN_ASSIGN(const auto lock, folder.lock());
  SKEIN_ASSIGN(auto due, list(query));
  std::erase_if(due, [&options](const CheckpointEntry& entry) {
    return entry.older || !entry.archive.empty() ||
           (!options.only.empty() && entry.id != options.only);
  });
  if (options.dry_run || due.empty()) return due;

  const std::string record = folder.beside(kPurgedFile);
  SKEIN_ASSIGN(const Fd fd, open_file(record, O_WRONLY | O_APPEND | O_CREAT));
  std::string lines;
  for (const CheckpointEntry& entry : due) lines += purged_line(entry, now);
  SKEIN_TRY(write_append(fd, record, lines));
  SKEIN_TRY(folder.flusher().data(fd, record));
  SKEIN_TRY(folder.flusher().folder(options_.workspace + "/.skein"));
  for (const CheckpointEntry& entry : due) SKEIN_TRY(folder.remove(entry.id));
  return due;
}

Result<std::vector<PurgedCheckpoint>> Checkpoints::purged() const {
  SKEIN_ASSIGN(const auto text, read_file(CheckpointFolder(options_.workspace).beside(kPurgedFile),
                                          kMaxPurgedBytes));
  std::vector<PurgedCheckpoint> purged;
  std::string_view rest = text ? std::string_view(*text) : std::string_view();
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    // A crash may have cut off a line.
    if (const auto line = Json::parse_object(rest.substr(0, end))) {
      JsonFields fields(line->text());
      PurgedCheckpoint& gone = purged.emplace_back();
      gone.id = fields.take_string("thread_id").value_or("");
      gone.purged_at = fields.take_time("purgedAt").value_or(Timestamp{});
      gone.created_at = fields.take_time("created_at").value_or(Timestamp{});
      gone.title = fields.take_string("title").value_or("");
    }
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return purged;
}

Result<void> Checkpoints::rebuild_index() {
  CheckpointFolder folder(options_.workspace);
  SKEIN_ASSIGN(const auto lock, folder.lock());
  SKEIN_ASSIGN(auto all, index_checkpoints(folder));
  std::vector<CheckpointEntry> entries;
  std::vector<Checkpoint> recent;
  for (IndexedCheckpoint& checkpoint : all) {
    if (!checkpoint.problem.empty() || checkpoint.entry.older ||
        !checkpoint.entry.archive.empty() || !in_lists(checkpoint.entry.type)) {
      continue;
    }
    if (recent.size() < kRecentCheckpoints) {
      if (auto loaded = folder.load(checkpoint.file)) recent.push_back(std::move(*loaded));
    }
    entries.push_back(std::move(checkpoint.entry));
  }
  SKEIN_TRY(make_folders(folder.threads(), folder.flusher()));
  SKEIN_TRY(
      replace_file(folder.threads() + "/INDEX.md", index_markdown(entries), folder.flusher()));
  return replace_file(folder.threads() + "/recent.md", recent_markdown(recent), folder.flusher());
}

}  // namespace skein
