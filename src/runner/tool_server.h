// Servers of tools as a definition names them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/checked_fields.h"
#include "skein/engine.h"

namespace skein {

// One entry of "mcpServers". What is wrong is told with `path` before it.
ToolServer parse_tool_server(std::string_view name, const Json& json, std::string path,
                             const CheckedFields::Problems& problems);

}  // namespace skein
