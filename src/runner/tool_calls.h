// Calls of tools that a model asked for: whether they make sense, and doing them side by side.
#pragma once

#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "skein/tools.h"

namespace skein {

// Why the input does not fit the tool's schema; nothing if it does, or if it cannot be told. Looks
// at what models get wrong: that it is an object, its required members, and the plain types of its
// members.
std::optional<std::string> wrong_input(const Json& input, const Json& schema);

// The input as a thread keeps it: an object, also where the model wrote something else.
Json storable_input(const ToolCall& call);

// The calls as they go into the thread: ids that tell them apart, a name, an object as input. What
// the model got wrong is told in `wrong`, by position; empty: nothing.
struct CheckedCalls {
  std::vector<ToolCall> calls;
  std::vector<std::string> wrong;
};
CheckedCalls check_calls(const std::vector<ToolCall>& calls,
                         const std::vector<ToolDefinition>& definitions);

// The text as it goes to a model and into a thread: valid, and not too long.
ToolResult tidy(ToolResult result);

// Calls the tools, at most limits::kMaxParallelTools at once. `done` gets each result as it comes,
// on this thread; when it answers false, those under way are stopped and no more are begun.
void call_tools(ToolBox& box, const std::vector<ToolCall>& calls, const std::stop_token& stop,
                const std::function<bool(const ToolCall&, ToolResult)>& done);

}  // namespace skein
