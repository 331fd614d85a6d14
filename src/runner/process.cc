#include "runner/process.h"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <vector>

namespace skein {
namespace {

std::string pid_namespace() {
  std::error_code error;
  return std::filesystem::read_symlink("/proc/self/ns/pid", error).string();
}

struct ProcessStat {
  bool ended = false;   // a zombie: it only waits to be noticed
  std::string started;  // in ticks since the machine started
};

// Nothing when it cannot be read.
std::optional<ProcessStat> stat_of(std::string_view pid) {
  std::ifstream file("/proc/" + std::string(pid) + "/stat");
  std::string line;
  if (!std::getline(file, line)) return std::nullopt;
  // The program's name stands in parentheses and may hold anything.
  const std::size_t name_end = line.rfind(')');
  if (name_end == std::string::npos) return std::nullopt;
  std::istringstream fields(line.substr(name_end + 1));
  ProcessStat found;
  std::string state;
  fields >> state;
  found.ended = state == "Z" || state == "X";
  constexpr int kFromStateToStart = 19;
  for (int i = 0; i < kFromStateToStart; ++i) fields >> found.started;
  return fields ? std::optional(found) : std::nullopt;
}

std::vector<std::string_view> parts_of(std::string_view name) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t slash = name.find('/');
    parts.push_back(name.substr(0, slash));
    if (slash == std::string_view::npos) return parts;
    name.remove_prefix(slash + 1);
  }
}

}  // namespace

std::string name_this_process(Clock& clock, IdSource& ids) {
  const std::string pid = std::to_string(::getpid());
  return fmt::format("{}/{}/{}/{}/{:x}", clock.boot_id(), pid_namespace(), pid,
                     stat_of(pid).value_or(ProcessStat{.ended = false, .started = "0"}).started,
                     ids.next());
}

bool process_is_gone(std::string_view name, Clock& clock) {
  const std::vector<std::string_view> parts = parts_of(name);
  if (parts.size() != 5 || parts[0] != clock.boot_id() || parts[1] != pid_namespace()) return false;
  pid_t pid = 0;
  const auto [end, wrong] =
      std::from_chars(parts[2].data(), parts[2].data() + parts[2].size(), pid);
  if (wrong != std::errc() || pid <= 0) return false;
  if (::kill(pid, 0) != 0 && errno == ESRCH) return true;
  const auto stat = stat_of(parts[2]);
  return stat && (stat->ended || stat->started != parts[3]);
}

}  // namespace skein
