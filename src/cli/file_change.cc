#include "cli/file_change.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "cli/dialogue.h"
#include "cli/line_diff.h"
#include "core/json_object.h"

namespace skein {

namespace fs = std::filesystem;

Outcome make_change(Context& context, const FileChange& change, bool yes,
                    std::string_view unchanged) {
  const std::string file = printable(change.file.string());
  if (change.changes()) {
    if (!context.json()) {
      context.out().write_stored(file + "\n" + line_diff(change.before, change.after));
      SKEIN_TRY(context.out().flush());
    }
    if (!yes) {
      SKEIN_ASSIGN_OR_FAIL(const bool agreed, ask("Write this?", "to write " + file));
      if (!agreed) return fail(ErrorCode::kInvalid, "nothing was written");
    }
    SKEIN_TRY(apply_change(change));
  }
  if (context.json()) {
    context.out().write(JsonObject().add("file", file).add("changed", change.changes()).str() +
                        "\n");
  } else {
    context.out().write(change.changes() ? "written\n" : std::string(unchanged) + "\n");
  }
  return kExitDone;
}

std::string this_program() {
  std::error_code error;
  const fs::path self = fs::read_symlink("/proc/self/exe", error);
  if (error) return "skein";
  const char* path = std::getenv("PATH");
  std::string_view rest = path == nullptr ? "" : path;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find(':'), rest.size());
    const fs::path candidate = fs::path(rest.substr(0, end)) / "skein";
    if (::access(candidate.c_str(), X_OK) == 0) {
      return fs::equivalent(candidate, self, error) && !error ? "skein" : self.string();
    }
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return self.string();
}

}  // namespace skein
