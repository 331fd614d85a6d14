// The names that a model knows tools by.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace skein {

// "server__tool", with what model APIs do not take replaced by "_", and the end by a checksum where
// it would be too long.
std::string tool_name(std::string_view server, std::string_view tool);

inline constexpr std::size_t kMaxToolNameBytes = 64;  // what every model API takes

// Whether a pattern (see tool_matches) can be that of a built-in tool, or of one of these servers.
bool may_name_tool(std::string_view pattern, const std::vector<std::string>& servers);

// The names that "builtin" in a definition takes.
std::vector<std::string_view> builtin_names();

// The tools that such a name gives to an agent; none for any other name.
std::vector<std::string_view> tools_of_builtin(std::string_view builtin);

// "recall, ask_agent, …"
std::string built_in_tool_names();

}  // namespace skein
