#include "core/find_program.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <vector>

namespace skein {
namespace {

// The entries of PATH that do not depend on the current folder.
std::vector<std::string> absolute_entries() {
  std::vector<std::string> entries;
  const char* path = std::getenv("PATH");
  std::string_view rest = path != nullptr ? path : "";
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find(':'), rest.size());
    if (rest.starts_with('/')) entries.emplace_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return entries;
}

}  // namespace

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
  if (name.empty()) return std::nullopt;
  for (std::string& file : absolute_entries()) {
    file.append("/").append(name);
    if (runs(file)) return std::move(file);
  }
  return std::nullopt;
}

std::string absolute_path_entries() {
  std::string path;
  for (const std::string& entry : absolute_entries()) path += (path.empty() ? "" : ":") + entry;
  return path.empty() ? "/usr/bin:/bin" : path;
}

std::string own_program_file() {
  std::error_code error;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", error);
  return !error && std::filesystem::exists(self, error) ? self.string() : std::string();
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
