// What a coding agent tells its hooks, and what of it matters to checkpoints.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "skein/error.h"

namespace skein {

// The JSON on a hook's standard input. Fields that are missing are empty.
struct HookEvent {
  std::string session_id;
  std::string cwd;
  std::string tool_name;
  std::string tool_input;     // JSON
  std::string tool_response;  // JSON
};

// kInvalid: no JSON object, or one without a session.
Result<HookEvent> parse_hook_event(std::string_view json);

enum class ToolDeed {
  kNothing,      // failed, still under way, or of no interest
  kRanCommands,  // may have committed
  kCreatedFile,
  kChangedFile,
  kFinishedWorker,  // a worker's skill came to its end
};

struct ToolOutcome {
  ToolDeed deed = ToolDeed::kNothing;
  // kRanCommands: folders that the commands went to, besides the session's own, and whether they
  // say that they commit.
  std::vector<std::string> folders = {};
  bool says_commit = false;
  std::string file = {};    // kCreatedFile, kChangedFile: absolute
  std::string worker = {};  // kFinishedWorker
  std::string skill = {};
};

ToolOutcome judge_tool(const HookEvent& event);

}  // namespace skein
