// The hooks that a coding agent calls.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "api/settings.h"

namespace skein {

enum class HookName { kPostToolUse, kSessionStart, kSessionEnd, kStop };

// Does what is due for what the agent told (JSON), and answers what to print to it, mostly nothing.
// Nothing that happens here is the agent's trouble: what goes wrong stands in
// WORKSPACE/.skein/hook.log.
std::string run_hook(const Settings& settings, HookName name, std::string_view told);

// The file that `hook install` changes, and its text before and after.
struct HookInstallation {
  std::filesystem::path file;
  std::string before;
  std::string after;
  bool changes() const { return before != after; }
};

// `program` is the path or name of this program. Changes nothing yet. kInvalid: the settings there
// are cannot be understood.
Result<HookInstallation> plan_hooks(const Settings& settings, const std::string& program);
// kConflict: the file is no longer as it was when this was planned.
Result<void> install_hooks(const HookInstallation& installation);

}  // namespace skein
