// skein checkpoint list, show, search; and skein checkpoints for short
#include "api/checkpoint_answers.h"
#include "api/checkpoints.h"
#include "cli/arguments.h"
#include "cli/context.h"
#include "core/quote.h"

namespace skein {
namespace {

class ListsCheckpoints : public Command {
 protected:
  std::vector<Argument> filter_arguments() {
    return {
        {.names = "--tag",
         .value_name = "TAG",
         .help = "only those with this tag; may be given again for more",
         .set = into(query_.tags),
         .repeated = true},
        {.names = "--worker",
         .value_name = "NAME",
         .help = "only those of this worker, by its id or skill",
         .set = into(query_.worker)},
        {.names = "--since",
         .value_name = "TIME",
         .help = "only those made since: 2026-01-23, 2026-01-23T14:30:52Z, or 7d, 12h, 30m ago",
         .set = into_time(query_.since)},
        {.names = "--until",
         .value_name = "TIME",
         .help = "only those made until then",
         .set = into_time(query_.until)},
        with_choices<CheckpointType>(
            {.names = "--type", .value_name = "TYPE", .help = "only those of this type"},
            {{"checkpoint", CheckpointType::kCheckpoint},
             {"auto-checkpoint", CheckpointType::kAuto},
             {"handoff", CheckpointType::kHandoff}},
            type_),
        {.names = "--limit",
         .value_name = "N",
         .help = "how many at most (default 50)",
         .set = into(limit_)},
    };
  }

  Outcome list(Context& context, std::string_view if_none) {
    if (type_) query_.types = {*type_};
    if (limit_) query_.limit = *limit_;
    SKEIN_ASSIGN_OR_FAIL(const Settings settings, context.settings());
    SKEIN_ASSIGN(const auto entries, workspace_checkpoints(settings, print_notice).list(query_));
    if (context.json()) {
      context.out().write(entries_json(entries) + "\n");
    } else {
      context.out().write_stored(entries.empty() ? std::string(if_none) : entries_text(entries));
    }
    return kExitDone;
  }

  CheckpointQuery query_;

 private:
  std::optional<CheckpointType> type_;
  std::optional<std::uint64_t> limit_;
};

class List : public ListsCheckpoints {
 public:
  CommandInfo info() const override {
    return {.name = "list",
            .summary = "list checkpoints, newest first",
            .examples =
                "  skein checkpoint list\n"
                "  skein checkpoint list --type handoff --since 7d\n"
                "  skein checkpoint list --tag finance --json\n"};
  }
  std::vector<Argument> arguments() override { return filter_arguments(); }
  Outcome run(Context& context) override { return list(context, "no checkpoints\n"); }
};

class Search : public ListsCheckpoints {
 public:
  CommandInfo info() const override {
    return {.name = "search",
            .summary = "find checkpoints by their words",
            .examples =
                "  skein checkpoint search mrr\n"
                "  skein checkpoint search login safari --tag auth --since 2026-01-01\n",
            .details =
                "All words must be there, each as the beginning of a word, in title, "
                "summary, tags, files, next steps,\nworker, branch, commits or fields of other "
                "programs. Case does not count. Newest first."};
  }

  std::vector<Argument> arguments() override {
    std::vector<Argument> arguments = {{.names = "WORD",
                                        .value_name = "WORD",
                                        .help = "what to look for",
                                        .set = into(words_),
                                        .required = true,
                                        .repeated = true}};
    for (Argument& argument : filter_arguments()) arguments.push_back(std::move(argument));
    return arguments;
  }

  Outcome run(Context& context) override {
    for (const std::string& word : words_) {
      query_.words += (query_.words.empty() ? "" : " ") + word;
    }
    return list(context, "no checkpoint matches " + quote(query_.words) + "\n");
  }

 private:
  std::vector<std::string> words_;
};

class Show : public Command {
 public:
  CommandInfo info() const override {
    return {.name = "show",
            .summary = "print a checkpoint",
            .examples =
                "  skein checkpoint show mrr-report\n"
                "  skein checkpoint show T-20260123-143052-mrr-report --json\n",
            .details =
                "Of several with PART in their ids it prints the newest that was not made "
                "automatically, and names the others."};
  }

  std::vector<Argument> arguments() override {
    return {{.names = "PART",
             .value_name = "PART",
             .help = "the checkpoint: its id, its slug, or a part of its id",
             .set = into(part_),
             .required = true}};
  }

  Outcome run(Context& context) override {
    SKEIN_ASSIGN_OR_FAIL(const Settings settings, context.settings());
    SKEIN_ASSIGN(const Checkpoint checkpoint,
                 workspace_checkpoints(settings, print_notice).get(part_));
    if (context.json()) {
      context.out().write(checkpoint_json(checkpoint) + "\n");
    } else {
      context.out().write_stored(checkpoint_text(checkpoint));
    }
    return kExitDone;
  }

 private:
  std::string part_;
};

}  // namespace

void add_checkpoint_lists(CommandGroup& group) {
  group.commands.push_back(std::make_unique<List>());
  group.commands.push_back(std::make_unique<Show>());
  group.commands.push_back(std::make_unique<Search>());
}

CommandGroup checkpoints_alias() {
  CommandGroup group{"checkpoints", "short for checkpoint list, show and search", {}};
  add_checkpoint_lists(group);
  return group;
}

}  // namespace skein
