#include "cli/editor.h"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <vector>

#include "core/find_program.h"

extern char** environ;

namespace skein {
namespace {

std::string editor_of_user() {
  for (const char* name : {"VISUAL", "EDITOR"}) {
    const char* value = std::getenv(name);
    if (value != nullptr && *value != '\0') return value;
  }
  return "vi";
}

// Ours, in which no program of the current folder stands for one of the system.
std::vector<std::string> editor_environment() {
  std::vector<std::string> variables;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    if (!std::string_view(*entry).starts_with("PATH=")) variables.emplace_back(*entry);
  }
  variables.push_back("PATH=" + absolute_path_entries());
  return variables;
}

}  // namespace

tl::expected<void, Failure> edit_file(const std::string& file, const std::string& instead) {
  if (::isatty(STDIN_FILENO) != 1 || ::isatty(STDOUT_FILENO) != 1) {
    return wrong_usage("an editor needs a terminal: " + instead);
  }
  // By a shell, as the variable may hold arguments; the file is one of those, and never a part of
  // the script. In our own process group: an editor must be able to read the terminal.
  std::string editor = editor_of_user();
  std::string script = editor + " \"$@\"";
  std::string path = file;
  std::array<char*, 6> argv = {const_cast<char*>("sh"),
                               const_cast<char*>("-c"),
                               script.data(),
                               editor.data(),
                               path.data(),
                               nullptr};
  std::vector<std::string> variables = editor_environment();
  std::vector<char*> environment;
  for (std::string& variable : variables) environment.push_back(variable.data());
  environment.push_back(nullptr);
  pid_t pid = -1;
  if (const int failed =
          ::posix_spawn(&pid, "/bin/sh", nullptr, nullptr, argv.data(), environment.data());
      failed != 0) {
    return tl::unexpected<Failure>(
        Error{ErrorCode::kIo, "cannot start the editor " + editor + ": " + std::strerror(failed)});
  }
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {};
  return tl::unexpected<Failure>(
      Error{ErrorCode::kInvalid, "the editor " + editor + " failed; nothing was written"});
}

}  // namespace skein
