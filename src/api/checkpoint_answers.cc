#include "api/checkpoint_answers.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/json_array.h"
#include "core/json_object.h"
#include "core/quotation.h"
#include "core/visible.h"
#include "work/checkpoint_extra.h"

namespace skein {
namespace {

std::string drift_json(const CheckpointDrift& drift) {
  JsonObject object;
  if (!drift.unknown.empty()) return object.add("unknown", drift.unknown).str();
  object.add("none", drift.none());
  object.add("branch_then", drift.branch_then).add("branch_now", drift.branch_now);
  object.add("commit_then", drift.commit_then).add("commit_now", drift.commit_now);
  object.add("commit_missing", drift.commit_missing);
  object.add("commits_since", std::uint64_t{drift.commits_since});
  object.add("new_commits", drift.new_commits);
  object.add("commits_left", std::uint64_t{drift.commits_left});
  object.add("changed_files", drift.changed_files);
  return object.add("dirty", drift.dirty).str();
}

void add_list(std::string& text, std::string_view heading, const std::vector<std::string>& lines) {
  if (lines.empty()) return;
  text += fmt::format("{}\n", heading);
  for (const std::string& line : lines) text += fmt::format("  - {}\n", line);
}

std::string plural(std::size_t count, std::string_view one) {
  return fmt::format("{} {}{}", count, one, count == 1 ? "" : "s");
}

std::string drift_text(const CheckpointDrift& drift) {
  if (!drift.unknown.empty()) return fmt::format("drift       not known: {}\n", drift.unknown);
  if (drift.none()) return "drift       none: the repository is where it was\n";
  std::string text = "drift\n";
  if (drift.branch_then != drift.branch_now) {
    text += fmt::format("  branch was {}, is {}\n", drift.branch_then, drift.branch_now);
  }
  if (drift.commit_missing) {
    text += fmt::format("  commit {} is not in the repository any more\n", drift.commit_then);
  }
  if (drift.commits_since > 0) {
    text +=
        fmt::format("  {} since {}\n", plural(drift.commits_since, "commit"), drift.commit_then);
    for (const std::string& commit : drift.new_commits) text += fmt::format("    {}\n", commit);
    if (drift.commits_since > drift.new_commits.size()) text += "    …\n";
  }
  if (drift.commits_left > 0) {
    text += fmt::format("  {} of then not in what is checked out\n",
                        plural(drift.commits_left, "commit"));
  }
  for (const std::string& file : drift.changed_files) {
    text += fmt::format("  changed since: {}\n", file);
  }
  return text;
}

std::vector<std::string> item_lines(const Resumed& resumed) {
  std::vector<std::string> lines;
  for (const auto& [id, text] : resumed.open_items) lines.push_back(id + "  " + text);
  return lines;
}

// "open items of project billing"
std::string items_heading(std::string_view begin, const Resumed& resumed) {
  return fmt::format("{}{}", begin,
                     resumed.project ? " of project " + visible_line(*resumed.project) : "");
}

// "build_passed" is "build passed".
std::string shown_name(std::string name) {
  std::replace(name.begin(), name.end(), '_', ' ');
  return name;
}

std::string place_text(const Checkpoint& checkpoint) {
  std::string place =
      checkpoint.cwd.empty() || checkpoint.cwd == "." ? "the workspace" : checkpoint.cwd;
  if (!checkpoint.git) return place;
  if (checkpoint.git->branch) place += fmt::format(", branch {}", *checkpoint.git->branch);
  if (checkpoint.git->current_commit) {
    place += fmt::format(" at {}", *checkpoint.git->current_commit);
  }
  if (checkpoint.git->dirty.value_or(false)) place += ", with uncommitted changes";
  return place;
}

}  // namespace

std::string entry_json(const CheckpointEntry& entry) {
  JsonObject object;
  object.add("thread_id", entry.id).add("type", type_name(entry));
  object.add("created_at", entry.created_at.str()).add("title", entry.title);
  object.add("conversation_summary", entry.summary);
  object.add("tags", entry.tags);
  if (!entry.worker.empty()) object.add("worker", entry.worker);
  if (!entry.worker_state.empty()) object.add("worker_state", entry.worker_state);
  if (!entry.branch.empty()) object.add("branch", entry.branch);
  if (!entry.commit.empty()) object.add("current_commit", entry.commit);
  object.add("next_steps", entry.next_steps);
  if (entry.older) object.add("older", true);
  if (!entry.archive.empty()) object.add("archive", entry.archive);
  return object.str();
}

std::string entries_json(const std::vector<CheckpointEntry>& entries) {
  std::vector<std::string> objects;
  for (const CheckpointEntry& entry : entries) objects.push_back(entry_json(entry));
  return json_array_of(objects);
}

std::string checkpoint_json(const Checkpoint& checkpoint) {
  std::string line;
  append_json_on_one_line(line, trim_json(to_json(checkpoint)));
  return line;
}

std::string resumed_json(const Resumed& resumed) {
  std::vector<std::string> items;
  for (const auto& [id, text] : resumed.open_items) {
    items.push_back(JsonObject().add("id", id).add("text", text).str());
  }
  JsonObject object;
  object.add_json("checkpoint", checkpoint_json(resumed.checkpoint));
  object.add_json("drift", drift_json(resumed.drift));
  if (resumed.project) object.add("project", *resumed.project);
  return object.add_json("open_items", json_array_of(items)).str();
}

std::string entries_text(const std::vector<CheckpointEntry>& entries) {
  if (entries.empty()) return "";
  std::size_t width = 10;
  for (const CheckpointEntry& entry : entries) {
    width = std::max(width, visible_line(entry.id).size());
  }
  std::string text =
      fmt::format("{:<{}}  {:<15}  {:<16}  TITLE\n", "CHECKPOINT", width, "TYPE", "BRANCH");
  for (const CheckpointEntry& entry : entries) {
    std::string title = entry.title;
    std::replace(title.begin(), title.end(), '\n', ' ');
    text += fmt::format("{:<{}}  {:<15}  {:<16}  {}\n", visible_line(entry.id), width,
                        type_name(entry), entry.branch, title);
  }
  return text;
}

std::string checkpoint_text(const Checkpoint& checkpoint) {
  std::string text = fmt::format("checkpoint  {}\n", visible_line(checkpoint.id));
  const auto add = [&text](std::string_view name, const std::string& value) {
    if (!value.empty()) text += fmt::format("{:<10}  {}\n", name, value);
  };
  add("type", type_name(checkpoint));
  add("title", checkpoint.title);
  add("made", checkpoint.created_at.str());
  add("in", place_text(checkpoint));
  if (checkpoint.worker) {
    add("worker",
        checkpoint.worker->id + (checkpoint.worker->skill ? "/" : "") +
            checkpoint.worker->skill.value_or("") +
            (checkpoint.worker->state ? std::string(", ") + to_string(*checkpoint.worker->state)
                                      : ""));
  }
  add("tags", fmt::format("{}", fmt::join(checkpoint.tags, ", ")));
  add("summary", checkpoint.summary);
  if (checkpoint.git && checkpoint.git->commits_made) {
    add_list(text, "commits made", *checkpoint.git->commits_made);
  }
  add_list(text, "files touched", checkpoint.files_touched);
  if (checkpoint.next_steps) add_list(text, "next steps", *checkpoint.next_steps);
  for (const ExtraField& field : extra_fields(checkpoint.extra)) {
    const std::string name = shown_name(field.name);
    if (field.is_list) {
      add_list(text, name, field.texts);
    } else {
      add(name, field.texts.front());
    }
  }
  return text;
}

std::string resumed_text(const Resumed& resumed) {
  std::string text = checkpoint_text(resumed.checkpoint);
  add_list(text, items_heading("open items", resumed), item_lines(resumed));
  return text + drift_text(resumed.drift);
}

std::string entries_for_model(const std::vector<CheckpointEntry>& entries) {
  if (entries.empty()) return "There are no such checkpoints.\n";
  return quoted_record("Checkpoints, the newest first.", entries_text(entries));
}

std::string resumed_for_model(const Resumed& resumed) {
  return quoted_record("A checkpoint, and what has changed since.", resumed_text(resumed));
}

std::string handoff_prompt(const Resumed& resumed) {
  const Checkpoint& checkpoint = resumed.checkpoint;
  std::string said = fmt::format("It stands in {}.\n", place_text(checkpoint));
  if (!checkpoint.summary.empty()) said += fmt::format("Done so far: {}\n", checkpoint.summary);
  if (checkpoint.git && checkpoint.git->commits_made) {
    add_list(said, "Commits of this session:", *checkpoint.git->commits_made);
  }
  if (checkpoint.next_steps) add_list(said, "Next steps:", *checkpoint.next_steps);
  add_list(said, items_heading("Open items", resumed) + ":", item_lines(resumed));
  const std::string what =
      fmt::format("Continue the work {} (checkpoint {}).\n\nWhat the checkpoint says.",
                  quoted_name(checkpoint.title), visible_line(checkpoint.id));
  return quoted_record(what, said) +
         fmt::format("\nBegin with `skein resume {}`: it tells what has changed since.\n",
                     visible_line(checkpoint.id));
}

}  // namespace skein
