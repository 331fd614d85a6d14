// How Claude Code is started for a turn.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/scratch_folder.h"
#include "core/subprocess.h"
#include "skein/engines.h"

namespace skein {

struct ClaudeOptions {
  std::string program = "claude";
  std::string permission_mode;
  std::vector<std::string> allowed_tools;
  std::vector<std::string> disallowed_tools;
  std::vector<std::string> arguments;  // further ones, as they are
  std::vector<std::pair<std::string, std::string>> environment;
  std::string key_variable;  // whose value the program gets as its key; empty: it has its own way
  std::string base_url;      // of its API; empty: its own
  bool replace_system_prompt = false;
  bool strict_servers = true;  // no servers of tools but those of the agent
};

ClaudeOptions parse_claude_options(const Json& json, std::string_view path,
                                   std::vector<FieldProblem>& problems);

// Whether it is a UUID, as the program names its sessions.
bool is_claude_session_id(std::string_view id);

// The program with its arguments and environment. Files that it needs are written into `scratch`.
Result<Spawn> claude_command(const EngineRequest& request, const ClaudeOptions& options,
                             const std::optional<std::string>& resume,
                             const ScratchFolder& scratch);

// What the program is told on standard input: to one that resumes, what users said since it last
// answered; to one that begins, the conversation so far as well.
std::string resumed_prompt(const std::vector<EngineMessage>& messages);
std::string new_prompt(const std::vector<EngineMessage>& messages);

}  // namespace skein
