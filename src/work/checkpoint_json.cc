// The JSON of a checkpoint, read leniently and written exactly as other programs lay it out.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/json_fields.h"
#include "core/quote.h"
#include "core/try.h"
#include "skein/checkpoints.h"
#include "work/json_layout.h"

namespace skein {
namespace {

constexpr std::pair<CheckpointType, const char*> kTypes[] = {
    {CheckpointType::kCheckpoint, "checkpoint"},
    {CheckpointType::kAuto, "auto-checkpoint"},
    {CheckpointType::kHandoff, "handoff"},
};

using UncommittedFiles = std::vector<CheckpointGit::Uncommitted>;

// {"path": "sha256:…"}; nothing, if it is something else.
std::optional<UncommittedFiles> to_uncommitted(RawJson value) {
  if (value.empty() || value[0] != '{') return std::nullopt;
  UncommittedFiles files;
  const JsonFields fields(value);
  for (const JsonFields::Field& field : fields.others()) {
    const auto content = json_to_string(field.value);
    if (!content) return std::nullopt;
    files.push_back({field.name, *content});
  }
  return files;
}

CheckpointGit parse_git(RawJson object) {
  JsonFields fields(object);
  CheckpointGit git;
  git.branch = fields.take_string("branch");
  git.remote_url = fields.take_string("remote_url");
  git.initial_commit = fields.take_string("initial_commit");
  git.current_commit = fields.take_string("current_commit");
  git.commits_made = fields.take_strings("commits_made");
  git.dirty = fields.take_bool("dirty");
  git.uncommitted = fields.take<UncommittedFiles>("uncommitted", to_uncommitted);
  if (const auto repositories = fields.take_object("knowledge_repos")) {
    git.knowledge_repos.emplace();
    const JsonFields named(*repositories);
    for (const JsonFields::Field& field : named.others()) {
      git.knowledge_repos->push_back({field.name, Json::trusted(std::string(field.value))});
    }
  }
  git.extra = fields.rest();
  return git;
}

std::optional<WorkerState> to_worker_state(RawJson value) {
  const auto word = json_to_string(value);
  const auto state = parse_worker_state(word.value_or(""));
  return state ? std::optional(*state) : std::nullopt;
}

Worker parse_worker(RawJson object) {
  JsonFields fields(object);
  Worker worker;
  worker.id = fields.take_string("id").value_or("");
  worker.skill = fields.take_string("skill");
  worker.state = fields.take<WorkerState>("state", to_worker_state);
  worker.started_at = fields.take_time("started_at");
  worker.completed_at = fields.take_time("completed_at");
  worker.extra = fields.rest();
  return worker;
}

// The time in an id such as T-20260123-143052-title.
std::optional<Timestamp> time_in_id(std::string_view id) {
  constexpr std::string_view kForm = "T-00000000-000000";
  const bool has_form = id.size() >= kForm.size() &&
                        std::equal(kForm.begin(), kForm.end(), id.begin(), [](char form, char c) {
                          return form == '0' ? c >= '0' && c <= '9' : c == form;
                        });
  if (!has_form || (id.size() > kForm.size() && id[kForm.size()] != '-')) return std::nullopt;
  const auto part = [id](std::size_t at, std::size_t size) { return id.substr(at, size); };
  const auto time =
      Timestamp::parse(fmt::format("{}-{}-{}T{}:{}:{}Z", part(2, 4), part(6, 2), part(8, 2),
                                   part(11, 2), part(13, 2), part(15, 2)));
  return time ? std::optional(*time) : std::nullopt;
}

std::string git_json(const CheckpointGit& git) {
  LaidOutObject object(2, git.extra);
  object.add_optional("branch", git.branch);
  object.add_optional("remote_url", git.remote_url);
  object.add_optional("initial_commit", git.initial_commit);
  object.add_optional("current_commit", git.current_commit);
  if (git.commits_made) object.add("commits_made", laid_out_lines(*git.commits_made, 4));
  if (git.dirty) object.add("dirty", *git.dirty ? "true" : "false");
  if (git.uncommitted) {
    LaidOutObject files(4);
    for (const auto& [path, content] : *git.uncommitted) files.add_text(path, content);
    object.add("uncommitted", files.str());
  }
  if (git.knowledge_repos) {
    LaidOutObject repositories(4);
    for (const auto& [name, repository] : *git.knowledge_repos) {
      repositories.add(name, repository.text());
    }
    object.add("knowledge_repos", repositories.str());
  }
  return object.str();
}

std::string worker_json(const Worker& worker) {
  LaidOutObject object(2, worker.extra);
  object.add_text("id", worker.id);
  object.add_optional("skill", worker.skill);
  if (worker.state) object.add_text("state", to_string(*worker.state));
  if (worker.started_at) object.add_text("started_at", worker.started_at->str());
  if (worker.completed_at) object.add_text("completed_at", worker.completed_at->str());
  return object.str();
}

std::string metadata_json(const Checkpoint& checkpoint) {
  LaidOutObject object(2, checkpoint.metadata_extra);
  object.add_text("title", checkpoint.title);
  object.add("tags", laid_out_inline(checkpoint.tags));
  object.add_optional("trigger", checkpoint.trigger);
  return object.str();
}

}  // namespace

const char* to_string(CheckpointType type) {
  for (const auto& [value, word] : kTypes) {
    if (value == type) return word;
  }
  return "other";
}

std::string type_name(const Checkpoint& checkpoint) {
  return checkpoint.type == CheckpointType::kOther ? checkpoint.other_type
                                                   : to_string(checkpoint.type);
}

std::string type_name(const CheckpointEntry& entry) {
  return entry.type == CheckpointType::kOther ? entry.other_type : to_string(entry.type);
}

Result<CheckpointType> parse_checkpoint_type(std::string_view text) {
  for (const auto& [value, word] : kTypes) {
    if (text == word) return value;
  }
  return fail(
      ErrorCode::kInvalid,
      "a checkpoint's type is one of checkpoint, auto-checkpoint, handoff; got " + quote(text));
}

std::string to_json(const Checkpoint& checkpoint) {
  LaidOutObject object(0, checkpoint.extra);
  object.add_text("thread_id", checkpoint.id);
  object.add("version", std::to_string(checkpoint.version));
  object.add_text("type", type_name(checkpoint));
  object.add_text("created_at", checkpoint.created_at.str());
  object.add_text("updated_at", checkpoint.updated_at.str());
  object.blank_line();
  object.add_text("workspace_root", checkpoint.workspace_root);
  object.add_text("cwd", checkpoint.cwd);
  object.blank_line();
  if (checkpoint.git) object.add("git", git_json(*checkpoint.git));
  object.blank_line();
  if (checkpoint.worker) object.add("worker", worker_json(*checkpoint.worker));
  object.blank_line();
  object.add_text("conversation_summary", checkpoint.summary);
  object.add("files_touched", checkpoint.type == CheckpointType::kAuto
                                  ? laid_out_inline(checkpoint.files_touched)
                                  : laid_out_lines(checkpoint.files_touched, 2));
  if (checkpoint.next_steps) object.add("next_steps", laid_out_lines(*checkpoint.next_steps, 2));
  object.blank_line();
  object.add("metadata", metadata_json(checkpoint));
  return object.str() + "\n";
}

Result<Checkpoint> parse_checkpoint(std::string_view json) {
  SKEIN_ASSIGN(const Json document, Json::parse_object(json));
  JsonFields fields(document.text());
  Checkpoint checkpoint;
  checkpoint.id = fields.take_string("thread_id").value_or("");
  if (checkpoint.id.empty()) {
    return fail(ErrorCode::kInvalid, "a checkpoint must have a \"thread_id\" that is a string");
  }
  checkpoint.version = fields.take_int("version").value_or(1);
  if (const auto type = fields.take_string("type")) {
    checkpoint.type = parse_checkpoint_type(*type).value_or(CheckpointType::kOther);
    if (checkpoint.type == CheckpointType::kOther) checkpoint.other_type = *type;
  }
  auto created = fields.take_time("created_at");
  const auto updated = fields.take_time("updated_at");
  if (!created) created = updated;
  if (!created) created = time_in_id(checkpoint.id);
  if (!created) {
    return fail(ErrorCode::kInvalid,
                "a checkpoint must have a \"created_at\" such as \"2026-01-23T14:30:52.000Z\"");
  }
  checkpoint.created_at = *created;
  checkpoint.updated_at = updated.value_or(*created);
  checkpoint.workspace_root = fields.take_string("workspace_root").value_or("");
  checkpoint.cwd = fields.take_string("cwd").value_or("");
  if (const auto git = fields.take_object("git")) checkpoint.git = parse_git(*git);
  if (const auto worker = fields.take_object("worker")) checkpoint.worker = parse_worker(*worker);
  checkpoint.summary = fields.take_string("conversation_summary").value_or("");
  checkpoint.files_touched =
      fields.take_strings("files_touched").value_or(std::vector<std::string>());
  checkpoint.next_steps = fields.take_strings("next_steps");
  if (const auto metadata = fields.take_object("metadata")) {
    JsonFields of_metadata(*metadata);
    checkpoint.title = of_metadata.take_string("title").value_or("");
    checkpoint.tags = of_metadata.take_strings("tags").value_or(std::vector<std::string>());
    checkpoint.trigger = of_metadata.take_string("trigger");
    checkpoint.metadata_extra = of_metadata.rest();
  }
  checkpoint.extra = fields.rest();
  return checkpoint;
}

}  // namespace skein
