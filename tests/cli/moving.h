// Folders of other programs, as tests/moving/ makes them.
#pragma once

#include <boost/json/object.hpp>
#include <map>
#include <string>

#include "program.h"

namespace skein::test {

inline constexpr const char* kNova = "make_nova.py --layout agent-store";
inline constexpr const char* kOlderNova = "make_nova.py --layout agents";

// Makes the folder `name` by a script and its options, and answers what an import has to find.
boost::json::object make_folder(const Workspace& workspace, const std::string& script,
                                const std::string& name = "old");

// The table of `skein import --json`, by kind.
std::map<std::string, boost::json::object> kinds_of(const Ran& ran);

}  // namespace skein::test
