// The hooks that a coding agent calls.
#pragma once

#include <string>
#include <string_view>

#include "api/file_change.h"
#include "api/settings.h"

namespace skein {

enum class HookName { kPostToolUse, kSessionStart, kSessionEnd, kStop };

// Does what is due for what the agent told (JSON), and answers what to print to it, mostly nothing.
// Nothing that happens here is the agent's trouble: what goes wrong stands in
// WORKSPACE/.skein/hook.log.
std::string run_hook(const Settings& settings, HookName name, std::string_view told);

// `program` is the path or name of this program. Changes nothing yet. kInvalid: the settings there
// are cannot be understood.
Result<FileChange> plan_hooks(const Settings& settings, const std::string& program);

}  // namespace skein
