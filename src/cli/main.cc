#include <algorithm>
#include <csignal>
#include <exception>
#include <new>
#include <string_view>

#include "cli/command.h"
#include "cli/context.h"
#include "cli/output.h"
#include "cli/parser.h"

// For jemalloc: what is not used is given back within a second, few threads of a server allocate
// much at the same time, and each of the many keeps little for itself.
extern "C" {
extern const char* malloc_conf;
const char* malloc_conf =
    "narenas:2,dirty_decay_ms:1000,muzzy_decay_ms:0,"
    "tcache_max:4096,tcache_nslots_small_max:16,tcache_nslots_large:4";
}

namespace skein {
namespace {

// Reports exceptions of libraries, std::bad_alloc included, as it reports other failures.
Outcome run_command(Command& command, Context& context) {
  try {
    return command.run(context);
  } catch (const std::bad_alloc&) {
    return fail(ErrorCode::kIo, "out of memory");
  } catch (const std::exception& error) {
    return fail(ErrorCode::kIo, std::string("internal error: ") + error.what());
  }
}

int run(int argc, const char* const* argv) {
  GlobalArguments global;
  CommandTree tree;
  tree.global = global_arguments(global);
  tree.groups.push_back(thread_commands());
  tree.groups.push_back(agent_commands());
  tree.groups.push_back(trust_commands());
  tree.groups.push_back(config_commands());
  tree.groups.push_back(run_commands());
  tree.groups.push_back(runs_commands());
  tree.groups.push_back(item_commands());
  tree.groups.push_back(session_commands());
  tree.groups.push_back(recall_commands());
  tree.groups.push_back(watch_commands());
  tree.groups.push_back(checkpoint_commands());
  tree.groups.push_back(checkpoints_alias());
  tree.groups.push_back(resume_commands());
  tree.groups.push_back(hook_commands());
  tree.groups.push_back(mcp_commands());
  tree.groups.push_back(task_commands());
  tree.groups.push_back(trigger_commands());
  tree.groups.push_back(serve_commands());
  tree.groups.push_back(key_commands());
  tree.groups.push_back(transfer_commands());
  tree.groups.push_back(care_commands());
  tree.groups.push_back(bench_commands());
  tree.groups.push_back(completion_commands(tree));

  const Parsed parsed = parse_command_line(tree, argc, argv);
  if (parsed.exit_code != kExitDone) {
    const bool json = std::any_of(
        argv, argv + argc, [](const char* word) { return std::string_view(word) == "--json"; });
    report_error("usage", parsed.text, json);
    return parsed.exit_code;
  }

  Context context(global);
  Outcome outcome = kExitDone;
  if (parsed.command == nullptr) {
    context.out().write(parsed.text);
  } else {
    outcome = run_command(*parsed.command, context);
  }
  // What was printed before a failure is still true.
  if (auto flushed = context.out().flush(); !flushed && outcome) {
    outcome = tl::unexpected<Failure>(std::move(flushed).error());
  }
  if (outcome) return *outcome;
  report(outcome.error(), context.json());
  return outcome.error().exit_code;
}

}  // namespace
}  // namespace skein

int main(int argc, char** argv) {
  // Whoever stops reading ends this program quietly, even if a parent process ignored the signal.
  std::signal(SIGPIPE, SIG_DFL);
  return skein::run(argc, argv);
}
