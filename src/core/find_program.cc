#include "core/find_program.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

namespace skein {

std::optional<std::string> find_program(std::string_view name) {
  const auto runs = [](const std::string& file) {
    std::error_code error;
    return ::access(file.c_str(), X_OK) == 0 && std::filesystem::is_regular_file(file, error);
  };
  if (name.find('/') != std::string_view::npos) {
    std::string file(name);
    if (runs(file)) return file;
    return std::nullopt;
  }
  const char* path = std::getenv("PATH");
  std::string_view rest = path != nullptr ? path : "";
  while (!rest.empty() && !name.empty()) {
    const std::size_t end = std::min(rest.find(':'), rest.size());
    std::string file(rest.substr(0, end));
    // An empty or relative entry means the current folder, whose files may be anybody's.
    const bool absolute = file.starts_with('/');
    file.append("/").append(name);
    if (absolute && runs(file)) return file;
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return std::nullopt;
}

std::string own_program() {
  std::error_code error;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error) return "skein";
  const std::string name = self.filename().string();
  const auto found = find_program(name);
  const bool same = found && std::filesystem::equivalent(*found, self, error) && !error;
  return same ? name : self.string();
}

}  // namespace skein
