// Where a program is.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace skein {

// The file that running `name` would start: looked for in PATH, unless it has a slash. Entries
// of PATH that are no absolute paths do not count. Nothing: there is none that may be executed.
std::optional<std::string> find_program(std::string_view name);

// PATH for programs that we start: its absolute entries, or those of the system if it has none. An
// empty or relative entry means the current folder, whose files may be anybody's.
std::string absolute_path_entries();

// The file of this program; empty: it is not there any more.
std::string own_program_file();

// What other programs start this one by: its name, if that finds this very program, else its path.
std::string own_program();

}  // namespace skein
