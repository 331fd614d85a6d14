// How long a fault test looks: a short round in ./test, the full figures under tools/prove.
#pragma once

#include <string>

namespace skein::crash {

// Set by tools/prove.
bool full_figures();
inline int rounds(int brief, int full) { return full_figures() ? full : brief; }

// A line that tools/prove puts into its table.
void figure(const std::string& text);

// Where a store of that kind lies in a folder: "jsonl" or "sqlite"; for "postgres", tables of the
// folder's own, until the program ends.
std::string store_url(const std::string& backend, const std::string& folder);

}  // namespace skein::crash
