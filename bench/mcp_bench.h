// The MCP server over standard streams, against the same tool made with the official SDK.
#pragma once

#include "bench/parts.h"

namespace skein::bench {

// "stdio", "start"
std::span<const Part> mcp_bench_parts();

}  // namespace skein::bench
