#include "engine/claude_code/command.h"

#include <algorithm>
#include <cstdlib>

#include "core/json_object.h"
#include "core/quotation.h"
#include "core/quote.h"
#include "core/secret_names.h"
#include "core/try.h"
#include "engine/api_options.h"
#include "engine/conversation.h"
#include "engine/option_problems.h"

namespace skein {
namespace {

using Messages = std::vector<EngineMessage>;

constexpr std::size_t kMaxArgumentBytes = std::size_t{64} << 10;  // beyond, a file is used
constexpr std::size_t kMaxTools = 256;

std::string pairs_json(const std::vector<std::pair<std::string, std::string>>& pairs) {
  JsonObject object;
  for (const auto& [name, value] : pairs) {
    object.add_json(mended_utf8(name), json_text(value));
  }
  return object.str();
}

std::string servers_json(const std::vector<ToolServer>& servers) {
  JsonObject all;
  for (const ToolServer& server : servers) {
    JsonObject object;
    if (server.command.empty()) {
      object.add("type", "http").add_json("url", json_text(server.url));
      object.add_json("headers", pairs_json(server.headers));
    } else {
      object.add("type", "stdio").add_json("command", json_text(server.command.front()));
      object.add("args", std::vector(server.command.begin() + 1, server.command.end()));
      object.add_json("env", pairs_json(server.environment));
    }
    all.add_json(mended_utf8(server.name), object.str());
  }
  return JsonObject().add_json("mcpServers", all.str()).str();
}

// Options and their values are one argument each: as an argument of its own, a value that begins
// with "-" would be read as another option.

// Adds an option whose value may be too long for an argument.
Result<void> add_text_option(std::vector<std::string>& argv, const std::string& option,
                             const std::string& text, const ScratchFolder& scratch) {
  if (text.size() <= kMaxArgumentBytes) {
    argv.push_back(option + "=" + text);
    return {};
  }
  SKEIN_ASSIGN(std::string file, scratch.write("system-prompt", text));
  argv.push_back(option + "-file=" + file);
  return {};
}

void add_list_option(std::vector<std::string>& argv, const std::string& option,
                     const std::vector<std::string>& values) {
  for (const std::string& value : values) argv.push_back(option + "=" + value);
}

Result<std::vector<Spawn::Variable>> environment_of(const ClaudeOptions& options) {
  // A session inside a session of its own would refuse to start.
  std::vector<Spawn::Variable> changes = {{"CLAUDECODE", std::nullopt},
                                          {"CLAUDE_CODE_ENTRYPOINT", std::nullopt}};
  for (const auto& [name, value] : options.environment) changes.push_back({name, value});
  if (!options.base_url.empty()) {
    changes.push_back({"ANTHROPIC_BASE_URL", options.base_url});
    // The provider's credentials are for the provider only.
    for (const char* name :
         {"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN"}) {
      changes.push_back({name, std::nullopt});
    }
  }
  if (!options.key_variable.empty()) {
    SKEIN_ASSIGN(std::string key, key_from(options.key_variable, "claude"));
    changes.push_back({"ANTHROPIC_API_KEY", std::move(key)});
  }
  return changes;
}

bool is_said_to_model(const EngineMessage& message) {
  return message.role == Role::kUser || message.role == Role::kSystem;
}

// Where what was said since the last answer begins.
Messages::const_iterator unanswered(const Messages& messages) {
  const auto last = std::find_if_not(messages.rbegin(), messages.rend(), is_said_to_model);
  return last.base();
}

const char* speaker(Role role) {
  switch (role) {
    case Role::kUser:
      return "User";
    case Role::kAssistant:
      return "Assistant";
    case Role::kSystem:
      return "System";
    case Role::kTool:
      return "Tool";
  }
  return "User";
}

}  // namespace

ClaudeOptions parse_claude_options(const Json& json, std::string_view path,
                                   std::vector<FieldProblem>& problems) {
  ClaudeOptions options;
  CheckedFields fields(options_text(json), std::string(path), into_problems(problems));
  options.program = fields.text("program").value_or(options.program);
  options.permission_mode =
      fields
          .choice("permissionMode", {"default", "acceptEdits", "auto", "bypassPermissions",
                                     "dontAsk", "manual", "plan"})
          .value_or("");
  options.allowed_tools = fields.texts("allowedTools", kMaxTools);
  options.disallowed_tools = fields.texts("disallowedTools", kMaxTools);
  options.arguments = fields.texts("arguments", kMaxTools);
  options.environment = fields.pairs("environment");
  for (const auto& [name, value] : options.environment) {
    if (names_secret(name)) {
      fields.wrong("environment." + name, "would hold a key; the program has our environment");
    }
    if (name == "ANTHROPIC_BASE_URL") {
      fields.wrong("environment." + name, "must be set by \"baseUrl\"");
    }
  }
  options.key_variable = fields.text("keyVariable", {.max_bytes = 128}).value_or("");
  if (!options.key_variable.empty() && !is_variable_name(options.key_variable)) {
    fields.wrong("keyVariable", "must be the name of an environment variable, and not the key");
  }
  options.base_url = fields.text("baseUrl").value_or("");
  if (!options.base_url.empty()) check_base_url(fields, options.base_url);
  options.replace_system_prompt = fields.flag("replaceSystemPrompt").value_or(false);
  options.strict_servers = fields.flag("strictServers").value_or(true);
  return options;
}

bool is_claude_session_id(std::string_view id) {
  constexpr std::string_view kForm = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx";
  return std::equal(id.begin(), id.end(), kForm.begin(), kForm.end(), [](char c, char form) {
    if (form == '-') return c == '-';
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
  });
}

Result<Spawn> claude_command(const EngineRequest& request, const ClaudeOptions& options,
                             const std::optional<std::string>& resume,
                             const ScratchFolder& scratch) {
  Spawn spawn{.argv = {options.program, "-p", "--output-format", "stream-json", "--verbose",
                       "--include-partial-messages"},
              .folder = request.folder};
  std::vector<std::string>& argv = spawn.argv;
  if (resume) argv.push_back("--resume=" + *resume);
  if (!request.model.empty()) argv.push_back("--model=" + request.model);
  if (request.max_turns) argv.push_back("--max-turns=" + std::to_string(*request.max_turns));
  if (!request.system.empty()) {
    SKEIN_TRY(add_text_option(
        argv, options.replace_system_prompt ? "--system-prompt" : "--append-system-prompt",
        request.system, scratch));
  }
  if (!options.permission_mode.empty()) {
    argv.push_back("--permission-mode=" + options.permission_mode);
  }
  // Who names a server in an agent's definition wants its tools used.
  std::vector<std::string> allowed = options.allowed_tools;
  for (const ToolServer& server : request.servers) allowed.push_back("mcp__" + server.name);
  add_list_option(argv, "--allowedTools", allowed);
  add_list_option(argv, "--disallowedTools", options.disallowed_tools);
  if (!request.servers.empty()) {
    SKEIN_ASSIGN(std::string file, scratch.write("servers.json", servers_json(request.servers)));
    argv.push_back("--mcp-config=" + file);
  }
  if (options.strict_servers) argv.emplace_back("--strict-mcp-config");
  argv.insert(argv.end(), options.arguments.begin(), options.arguments.end());
  SKEIN_ASSIGN(spawn.environment, environment_of(options));
  return spawn;
}

std::string resumed_prompt(const Messages& messages) {
  std::string prompt;
  for (auto message = unanswered(messages); message != messages.end(); ++message) {
    prompt += (prompt.empty() ? "" : "\n\n") + message->text;
  }
  return prompt.find_first_not_of(" \t\r\n") == std::string::npos ? "Go on." : prompt;
}

// What was said is quoted, so that no message can look like the end of the conversation.
std::string new_prompt(const Messages& messages) {
  const auto end = unanswered(messages);
  std::string before;
  for (auto message = messages.begin(); message != end; ++message) {
    if (!message->text.empty()) {
      before += as_quotation(std::string(speaker(message->role)) + ": " + message->text) + "\n";
    }
    for (const ToolCall& call : message->calls) {
      before += as_quotation("Assistant used " + call.name + ": " + call.input.text()) + "\n";
    }
  }
  if (before.empty()) return resumed_prompt(messages);
  return "This conversation began earlier. The quoted lines are what was said so far:\n\n" +
         before + "It goes on:\n\n" + resumed_prompt(messages);
}

}  // namespace skein
