#include "rpc/server_environment.h"

#include <algorithm>
#include <array>
#include <string_view>

extern char** environ;

namespace skein {
namespace {

bool is_passed_on(std::string_view name) {
  constexpr std::array<std::string_view, 9> kNames = {"PATH", "HOME",   "USER", "LOGNAME", "SHELL",
                                                      "TERM", "TMPDIR", "TZ",   "LANG"};
  return name.starts_with("LC_") || std::find(kNames.begin(), kNames.end(), name) != kNames.end();
}

}  // namespace

std::vector<Spawn::Variable> server_environment(
    const std::vector<std::pair<std::string, std::string>>& named) {
  std::vector<Spawn::Variable> changes;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view variable(*entry);
    const std::string_view name = variable.substr(0, variable.find('='));
    if (!is_passed_on(name)) changes.push_back({std::string(name), std::nullopt});
  }
  for (const auto& [name, value] : named) changes.push_back({name, value});
  return changes;
}

}  // namespace skein
