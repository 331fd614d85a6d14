#include <filesystem>

#include "api/checkpoint_answers.h"
#include "api/checkpoints.h"
#include "cli/arguments.h"
#include "cli/context.h"
#include "core/json_object.h"

namespace skein {
namespace {

// What `checkpoint` and `handoff` have in common.
class CheckpointMaker : public Command {
 protected:
  std::vector<Argument> common_arguments() {
    return {
        {.names = "SLUG",
         .value_name = "SLUG",
         .help = "what it is about, in a word or two; becomes part of the id",
         .set = into(wanted_.slug)},
        {.names = "--title",
         .value_name = "TEXT",
         .help = "a title (default: SLUG)",
         .set = into(wanted_.title)},
        {.names = "--summary",
         .value_name = "TEXT",
         .help = "what was accomplished",
         .set = into(wanted_.summary)},
        {.names = "--next-step",
         .value_name = "TEXT",
         .help = "what remains to be done; may be given again for more",
         .set = into(wanted_.next_steps),
         .repeated = true},
        {.names = "--tag",
         .value_name = "TAG",
         .help = "a word to find it by; may be given again for more",
         .set = into(wanted_.tags),
         .repeated = true},
        {.names = "--file",
         .value_name = "FILE",
         .help = "a file that was touched, besides those that git knows of",
         .set = into(wanted_.files_touched),
         .repeated = true,
         .is_path = true},
        {.names = "--session",
         .value_name = "ID",
         .help = "the working session (SKEIN_SESSION; default the newest open one here)",
         .set = into(session_)},
    };
  }

  tl::expected<Checkpoint, Failure> make(Context& context) {
    SKEIN_ASSIGN_OR_FAIL(const Settings settings, context.settings());
    std::error_code error;
    const std::filesystem::path here = std::filesystem::current_path(error);
    wanted_.folder = here.string();
    wanted_.files_touched = typed_files();
    SKEIN_ASSIGN_OR_FAIL(Checkpoint made,
                         make_checkpoint(settings, wanted_, session(), print_notice));
    return made;
  }

  SessionChoice session() const { return {session_of(session_), !session_}; }

  // Absolute: they were typed from the folder that one stands in.
  std::vector<std::string> typed_files() const {
    std::error_code error;
    const std::filesystem::path here = std::filesystem::current_path(error);
    std::vector<std::string> files;
    for (const std::string& file : wanted_.files_touched) {
      files.push_back((here / file).lexically_normal().string());
    }
    return files;
  }

  NewCheckpoint wanted_;
  std::optional<std::string> session_;
};

class MakeCheckpoint : public CheckpointMaker {
 public:
  CommandInfo info() const override {
    return {
        .name = "checkpoint",
        .summary = "write down where the work stands",
        .examples =
            "  skein checkpoint mrr-report --summary \"Generated the MRR report\"\n"
            "  skein checkpoint --title \"Login fixed\" --next-step \"Deploy\" --tag auth\n"
            "  skein checkpoint report --worker cfo --skill mrr --worker-state executing\n"
            "  skein checkpoint --update report --worker-state verifying\n"
            "  skein checkpoint --title list\n",
        .details =
            "Writes WORKSPACE/workspace/threads/ID.json with the state of git, and rebuilds "
            "INDEX.md and recent.md there.\nIn a working session it lists the commits since the "
            "session began. In one that the hooks know it also replaces\nan automatic checkpoint "
            "of "
            "the last five minutes. A worker's state moves idle, loading, executing, verifying,\n"
            "completed; and from executing to error.\n--update records anew where git stands, and "
            "adds "
            "the commits made since. The words list, show and search are\ncommands; a checkpoint "
            "of "
            "that name needs --title. A SLUG must not begin with auto-."};
  }

  std::vector<Argument> arguments() override {
    std::vector<Argument> arguments = common_arguments();
    arguments.push_back({.names = "--worker",
                         .value_name = "ID",
                         .help = "the worker whose work this is",
                         .set = into(worker_)});
    arguments.push_back({.names = "--skill",
                         .value_name = "NAME",
                         .help = "the skill that it executed",
                         .set = into(skill_)});
    arguments.push_back(with_choices<WorkerState>(
        {.names = "--worker-state", .value_name = "STATE", .help = "where it stands"},
        {{"idle", WorkerState::kIdle},
         {"loading", WorkerState::kLoading},
         {"executing", WorkerState::kExecuting},
         {"verifying", WorkerState::kVerifying},
         {"completed", WorkerState::kCompleted},
         {"error", WorkerState::kError}},
        state_));
    arguments.push_back({.names = "--update",
                         .value_name = "PART",
                         .help = "add to the checkpoint with this in its id, instead of a new one",
                         .set = into(update_)});
    return arguments;
  }

  Outcome run(Context& context) override {
    if (update_) return update(context);
    if (!worker_ && (skill_ || state_))
      return wrong_usage("--skill and --worker-state need --worker");
    if (worker_) {
      wanted_.worker.emplace();
      wanted_.worker->id = *worker_;
      wanted_.worker->skill = skill_;
      wanted_.worker->state = state_.value_or(WorkerState::kIdle);
    }
    SKEIN_ASSIGN_OR_FAIL(const Checkpoint made, make(context));
    return print(context, made);
  }

 private:
  Outcome update(Context& context) {
    const bool only_new = !wanted_.slug.empty() || !wanted_.title.empty() || worker_ || skill_;
    if (only_new)
      return wrong_usage("--update takes --summary, --next-step, --tag, --file, --worker-state");
    CheckpointUpdate changes;
    changes.files_touched = typed_files();
    if (!wanted_.summary.empty()) changes.summary = wanted_.summary;
    changes.next_steps = wanted_.next_steps;
    changes.tags = wanted_.tags;
    changes.worker_state = state_;
    SKEIN_ASSIGN_OR_FAIL(const Settings settings, context.settings());
    SKEIN_ASSIGN(const Checkpoint updated,
                 workspace_checkpoints(settings, print_notice).update(*update_, changes));
    return print(context, updated);
  }

  static Outcome print(Context& context, const Checkpoint& checkpoint) {
    context.out().write(context.json() ? checkpoint_json(checkpoint) + "\n" : checkpoint.id + "\n");
    return kExitDone;
  }

  std::optional<std::string> worker_;
  std::optional<std::string> skill_;
  std::optional<WorkerState> state_;
  std::optional<std::string> update_;
};

class Handoff : public CheckpointMaker {
 public:
  CommandInfo info() const override {
    return {.name = "handoff",
            .summary = "write down where the work stands, for whoever continues",
            .examples =
                "  skein handoff login --summary \"Login works\" --next-step \"Test on Safari\"\n"
                "  skein handoff --json | jq -r .prompt\n",
            .details =
                "A checkpoint of type handoff, and a prompt to begin with, for a person or "
                "a model."};
  }

  std::vector<Argument> arguments() override { return common_arguments(); }

  Outcome run(Context& context) override {
    wanted_.type = CheckpointType::kHandoff;
    SKEIN_ASSIGN_OR_FAIL(const Checkpoint made, make(context));
    SKEIN_ASSIGN_OR_FAIL(const Settings settings, context.settings());
    SKEIN_ASSIGN(const Resumed resumed,
                 resume_checkpoint(settings, made.id, session(), print_notice));
    const std::string prompt = handoff_prompt(resumed);
    if (context.json()) {
      context.out().write(
          JsonObject().add_json("checkpoint", checkpoint_json(made)).add("prompt", prompt).str() +
          "\n");
    } else {
      context.out().write_stored(prompt);
    }
    return kExitDone;
  }
};

class Resume : public Command {
 public:
  CommandInfo info() const override {
    return {
        .name = "resume",
        .summary = "show a checkpoint, what is open, and what has changed since",
        .examples =
            "  skein resume\n"
            "  skein resume mrr-report\n"
            "  skein resume T-20260123-143052-mrr-report --json\n",
        .details =
            "PART is an id, a slug, or any part of an id. Of several that fit it takes the newest "
            "that was not made\nautomatically, and names the others. Without it: the newest "
            "checkpoint that was not made automatically."};
  }

  std::vector<Argument> arguments() override {
    return {{.names = "PART",
             .value_name = "PART",
             .help = "the checkpoint: its id, its slug, or a part of its id",
             .set = into(part_)}};
  }

  Outcome run(Context& context) override {
    SKEIN_ASSIGN_OR_FAIL(const Settings settings, context.settings());
    const SessionChoice session(session_of(std::nullopt), true);
    SKEIN_ASSIGN(const Resumed resumed, resume_checkpoint(settings, part_, session, print_notice));
    if (context.json()) {
      context.out().write(resumed_json(resumed) + "\n");
    } else {
      context.out().write_stored(resumed_text(resumed));
    }
    return kExitDone;
  }

 private:
  std::string part_;
};

}  // namespace

CommandGroup checkpoint_commands() {
  CommandGroup group{"checkpoint", "write down where the work stands, or look where it stood", {}};
  group.alone = std::make_unique<MakeCheckpoint>();
  add_checkpoint_lists(group);
  return group;
}

CommandGroup resume_commands() {
  CommandGroup group;
  group.commands.push_back(std::make_unique<Handoff>());
  group.commands.push_back(std::make_unique<Resume>());
  return group;
}

}  // namespace skein
