#include "runner/tool_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/checksum.h"

namespace skein {
namespace {

constexpr std::array<std::string_view, 5> kBuiltInTools = {"recall", "ask_agent", "list_work_items",
                                                           "create_work_item", "resolve_work_item"};
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
  const bool is_built_in = std::any_of(
      kBuiltInTools.begin(), kBuiltInTools.end(),
      [&](std::string_view tool) { return tool == stem || (open && tool.starts_with(stem)); });
  return is_built_in || std::any_of(servers.begin(), servers.end(), [&](const std::string& server) {
           const std::string begin =
               (plain(server) + "__").substr(0, kMaxToolNameBytes - kChecksumBytes);
           return stem.starts_with(begin) || (open && begin.starts_with(stem));
         });
}

std::string built_in_tool_names() { return fmt::format("{}", fmt::join(kBuiltInTools, ", ")); }

}  // namespace skein
