// Writing below a folder whose contents somebody else may have chosen, such as a cloned repository:
// a symbolic link in it must not lead a write elsewhere.
#pragma once

#include <optional>
#include <string>

#include "core/file.h"
#include "skein/error.h"

namespace skein {

// While it lives, names below `root` are confined: open_file (for writing), make_folder and
// remove_file reach them from `root` one component at a time and follow no symbolic link on the
// way, so that another process that swaps a folder for a link changes nothing either. Links in
// `root` itself, and above it, are followed as usual. Reading is not confined. Confined folders
// inside each other: the outermost counts. Thread-safe.
class ConfinedFolder {
 public:
  explicit ConfinedFolder(const std::string& root);
  ~ConfinedFolder();
  ConfinedFolder(const ConfinedFolder&) = delete;
  ConfinedFolder& operator=(const ConfinedFolder&) = delete;

 private:
  const std::string root_;
};

// The same until the process ends; for the workspace that a process works for.
void confine_folder(const std::string& root);

// Where a path lies: its folder, opened, and its name in there. A relative path is one from the
// working directory.
struct ConfinedName {
  Fd folder;
  std::string name;
};

// Nothing, if the path is not below a confined folder. kNotFound: a folder on the way is missing.
// kIo, naming the link and its target: there is a symbolic link on the way, or ".." in the path.
Result<std::optional<ConfinedName>> find_confined(const std::string& path);

// kIo if the path is below a confined folder and it, or a folder on the way, is a symbolic link.
// For libraries that open files by their path; between this and their opening a link can appear.
Result<void> check_no_links(const std::string& path);

// What went wrong with a path below a confined folder: names the link, if `link` is one.
Error confined_error(std::string_view doing, const std::string& path, const std::string& link,
                     int error_number);

}  // namespace skein
