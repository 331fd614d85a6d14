#include <fmt/format.h>

#include <filesystem>

#include "api/demo/demo.h"
#include "cli/arguments.h"
#include "cli/context.h"
#include "core/file.h"
#include "core/json_object.h"

namespace skein {
namespace fs = std::filesystem;
namespace {

class Demo : public Command {
 public:
  CommandInfo info() const override {
    return {
        .name = "demo",
        .summary = "make a folder with three weeks of work in it, to look around in",
        .examples =
            "  skein demo\n"
            "  skein demo /tmp/ferry --seed 7 --json\n",
        .details =
            "Conversations of five agents with their tool calls, a fork, a summary, runs that "
            "failed, were stopped or\nwait for a yes, work items, sessions, checkpoints, usage, "
            "and the small git repository that it is all\nabout. Nothing is asked of a network: "
            "what the agents said is written down, and those that\nthe folder defines answer "
            "with the engine `echo`. The folder must be empty or not there."};
  }

  std::vector<Argument> arguments() override {
    return {{.names = "FOLDER",
             .value_name = "FOLDER",
             .help = "where (default skein-demo)",
             .set = into(folder_),
             .is_path = true},
            {.names = "--seed",
             .value_name = "N",
             .help = "other ids, and other choices where there are some (default 1)",
             .set = into(seed_)},
            {.names = "--now",
             .value_name = "TIME",
             .help = "when the three weeks end (default now)",
             .set = into_time(now_)}};
  }

  Outcome run(Context& context) override {
    Flusher flusher;
    std::error_code error;
    if (fs::is_symlink(fs::symlink_status(folder_, error))) {
      return fail(ErrorCode::kInvalid, fmt::format("{} is a symbolic link, which the folder it is "
                                                   "in may have come with; name its target",
                                                   printable(folder_)));
    }
    SKEIN_TRY(make_folders(folder_, flusher));
    SKEIN_ASSIGN_OR_FAIL(const Settings settings, context.settings_in(folder_));
    Progress progress("playing");
    DemoOptions options;
    options.seed = seed_.value_or(1);
    if (now_) options.now = *now_;
    options.progress = [&](std::uint64_t done, std::uint64_t total) {
      progress.update(done, total);
    };
    SKEIN_ASSIGN(const DemoSummary made, make_demo(settings, options));
    progress.clear();
    context.out().write_stored(context.json() ? json(settings, made) : text(made));
    return kExitDone;
  }

 private:
  static std::string json(const Settings& settings, const DemoSummary& made) {
    return JsonObject()
               .add("folder", printable(settings.workspace.string()))
               .add("store", printable(without_password(settings.store_url)))
               .add("threads", made.threads)
               .add("runs", made.runs)
               .add("openItems", made.open_items)
               .add("resolvedItems", made.resolved_items)
               .add("checkpoints", made.checkpoints)
               .add("commits", made.commits)
               .add("longThread", made.long_thread)
               .add("forkedThread", made.forked_thread)
               .add("waitingRun", made.waiting_run)
               .str() +
           "\n";
  }

  std::string text(const DemoSummary& made) const {
    return fmt::format(
        "{} has three weeks of work on a ferry's timetable: {} threads, {} runs (${:.2f}), {} open "
        "and\n{} resolved work items, {} checkpoints, {} commits.\n\n"
        "  cd {}\n"
        "  skein thread list                            who talked about what\n"
        "  skein thread events {}             with tool calls, a pin and a summary\n"
        "  skein thread context {} --max-tokens 900 --strategy hybrid\n"
        "                                               what of it a small window holds, and why\n"
        "  skein search \"what did we decide about retries?\"\n"
        "  skein item list                              what is open\n"
        "  skein resume                                 where the work stopped, and what moved\n"
        "  skein usage --by day                         what it cost\n"
        "  skein runs resume {} --yes\n"
        "                                               a run that waits for you\n",
        folder_, made.threads, made.runs, made.cost_usd, made.open_items, made.resolved_items,
        made.checkpoints, made.commits, folder_, made.long_thread, made.long_thread,
        made.waiting_run);
  }

  std::string folder_ = "skein-demo";
  std::optional<std::uint64_t> seed_;
  std::optional<Timestamp> now_;
};

}  // namespace

std::unique_ptr<Command> demo_command() { return std::make_unique<Demo>(); }

}  // namespace skein
