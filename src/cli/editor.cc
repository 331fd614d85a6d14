#include "cli/editor.h"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>

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
  pid_t pid = -1;
  if (const int failed = ::posix_spawnp(&pid, "sh", nullptr, nullptr, argv.data(), environ);
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
