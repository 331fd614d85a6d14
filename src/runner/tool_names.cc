#include "runner/tool_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/checksum.h"

namespace skein {
namespace {

// A tool, and the name in "builtin" that gives it to an agent.
struct BuiltInName {
  std::string_view builtin;
  std::string_view tool;
};
constexpr std::array<BuiltInName, 8> kBuiltInTools = {{{"recall", "recall"},
                                                       {"ask_agent", "ask_agent"},
                                                       {"work_items", "list_work_items"},
                                                       {"work_items", "create_work_item"},
                                                       {"work_items", "resolve_work_item"},
                                                       {"tasks", "get_task"},
                                                       {"tasks", "update_task_steps"},
                                                       {"tasks", "complete_task"}}};
constexpr std::size_t kChecksumBytes = 9;

std::string plain(std::string_view text) {
  std::string name(text);
  std::replace_if(
      name.begin(), name.end(),
      [](char c) {
        return !((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                 c == '_' || c == '-');
      },
      '_');
  return name;
}

std::string shortened(const std::string& name, std::string_view meant) {
  if (name.size() <= kMaxToolNameBytes) return name;
  return name.substr(0, kMaxToolNameBytes - kChecksumBytes) +
         fmt::format("_{:08x}", checksum(meant));
}

}  // namespace

std::string tool_name(std::string_view server, std::string_view tool) {
  const std::string meant = std::string(server) + "__" + std::string(tool);
  return shortened(plain(server) + "__" + plain(tool), meant);
}

bool may_name_tool(std::string_view pattern, const std::vector<std::string>& servers) {
  const bool open = pattern.ends_with('*');
  const std::string_view stem = pattern.substr(0, pattern.size() - (open ? 1 : 0));
  const bool is_built_in =
      std::any_of(kBuiltInTools.begin(), kBuiltInTools.end(), [&](const BuiltInName& name) {
        return name.tool == stem || (open && name.tool.starts_with(stem));
      });
  return is_built_in || std::any_of(servers.begin(), servers.end(), [&](const std::string& server) {
           const std::string begin =
               (plain(server) + "__").substr(0, kMaxToolNameBytes - kChecksumBytes);
           return stem.starts_with(begin) || (open && begin.starts_with(stem));
         });
}

std::vector<std::string_view> tools_of_builtin(std::string_view builtin) {
  std::vector<std::string_view> tools;
  for (const BuiltInName& name : kBuiltInTools) {
    if (name.builtin == builtin) tools.push_back(name.tool);
  }
  return tools;
}

std::vector<std::string_view> builtin_names() {
  std::vector<std::string_view> names;
  for (const BuiltInName& name : kBuiltInTools) {
    if (names.empty() || names.back() != name.builtin) names.push_back(name.builtin);
  }
  return names;
}

std::string built_in_tool_names() {
  std::vector<std::string_view> tools;
  for (const BuiltInName& name : kBuiltInTools) tools.push_back(name.tool);
  return fmt::format("{}", fmt::join(tools, ", "));
}

}  // namespace skein
