#include "git/command.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "core/quote.h"
#include "core/try.h"

extern char** environ;

namespace skein {
namespace {

constexpr std::chrono::milliseconds kLongestRun{10'000};
constexpr std::size_t kMostOutput = std::size_t{16} << 20;
// A small pack can hold an object of any size, and git reads commits as a whole.
constexpr std::size_t kMostMemory = std::size_t{1} << 30;

// A second line of defence, for the commands that read a repository's own configuration.
constexpr std::array<const char*, 10> kInert = {
    "core.fsmonitor=false",
    "diff.autoRefreshIndex=false",
    "core.hooksPath=/dev/null",
    "core.pager=cat",
    "core.sshCommand=false",
    "core.askPass=false",
    "log.showSignature=false",
    "gpg.program=false",
    // Stacks of threads count as memory, and may be large.
    "core.preloadIndex=false",
    "index.threads=1",
};

// Where git finds its own configuration and where it stops looking for a repository; all other
// GIT_… variables would have it look at another repository than that of the folder.
constexpr std::array<std::string_view, 6> kKept = {
    "GIT_CONFIG_GLOBAL",       "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM",
    "GIT_CEILING_DIRECTORIES", "GIT_EXEC_PATH",     "GIT_DISCOVERY_ACROSS_FILESYSTEM",
};

std::vector<Spawn::Variable> environment() {
  std::vector<Spawn::Variable> changes;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view variable(*entry);
    const std::string_view name = variable.substr(0, variable.find('='));
    if (name.starts_with("GIT_") && std::find(kKept.begin(), kKept.end(), name) == kKept.end()) {
      changes.push_back({std::string(name), std::nullopt});
    }
  }
  changes.push_back({"GIT_OPTIONAL_LOCKS", "0"});
  changes.push_back({"GIT_TERMINAL_PROMPT", "0"});
  changes.push_back({"GIT_NO_LAZY_FETCH", "1"});
  changes.push_back({"GIT_ALLOW_PROTOCOL", "none"});
  changes.push_back({"LC_ALL", "C"});
  return changes;
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

}  // namespace

Result<Finished> run_git(const std::string& folder, std::vector<std::string> arguments,
                         const std::vector<Spawn::Variable>& variables, std::string_view input) {
  Spawn spawn{.argv = {"git", "--no-pager", "--no-replace-objects"},
              .folder = folder,
              .environment = environment()};
  spawn.environment.insert(spawn.environment.end(), variables.begin(), variables.end());
  for (const char* setting : kInert) {
    spawn.argv.emplace_back("-c");
    spawn.argv.emplace_back(setting);
  }
  std::move(arguments.begin(), arguments.end(), std::back_inserter(spawn.argv));
  return run_program(
      spawn, input,
      {.time = kLongestRun, .output_bytes = kMostOutput, .memory_bytes = kMostMemory});
}

Result<std::string> output_of(Result<Finished> finished, const std::string& command,
                              const std::string& folder) {
  if (!finished) return tl::unexpected(std::move(finished).error());
  if (finished->exit.ok()) return std::move(finished->out);
  return fail(ErrorCode::kInvalid, "git " + command + " in " + folder + " ended with " +
                                       finished->exit.str() + ": " +
                                       quote(first_line(finished->err), 200));
}

Result<std::string> git_output(const std::string& folder, std::vector<std::string> arguments,
                               std::string_view input) {
  const std::string command = arguments.empty() ? "" : arguments[0];
  return output_of(run_git(folder, std::move(arguments), {}, input), command, folder);
}

std::vector<std::string> split_nul(std::string_view text) {
  std::vector<std::string> pieces;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\0'), text.size());
    pieces.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return pieces;
}

}  // namespace skein
