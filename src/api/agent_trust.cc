#include "api/agent_trust.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "core/json.h"
#include "core/json_fields.h"
#include "core/quote.h"
#include "core/try.h"

namespace skein {
namespace fs = std::filesystem;
namespace {

constexpr std::string_view kClaudeFiles[] = {".claude/settings.json", ".claude/settings.local.json",
                                             ".mcp.json"};

// The path from the workspace to what `path` leads to; nothing: it is not inside, or not there.
std::optional<fs::path> inside(const std::string& workspace, const fs::path& path) {
  std::error_code error;
  const fs::path canonical = fs::canonical(path, error);
  const fs::path relative = canonical.lexically_relative(workspace);
  if (error || relative.empty() || *relative.begin() == "..") return std::nullopt;
  return relative;
}

// A program without a slash is looked for in PATH, which is the user's own.
bool names_file(std::string_view word, bool is_program) {
  return !word.empty() && (!is_program || word.find('/') != std::string_view::npos);
}

std::set<std::string> executed_files(const AgentDefinition& agent, const std::string& workspace) {
  std::set<std::string> files;
  const auto add = [&](std::string_view word, bool is_program) {
    if (!names_file(word, is_program)) return;
    const fs::path file = fs::path(agent.folder) / word;
    std::error_code error;
    const auto path = inside(workspace, file);
    if (path && fs::is_regular_file(file, error)) files.insert(path->string());
  };
  JsonFields options(agent.options.empty() ? "{}" : agent.options.text());
  if (const auto program = options.take_string("program")) add(*program, true);
  for (const std::string& word :
       options.take_strings("arguments").value_or(std::vector<std::string>{})) {
    add(word, false);
  }
  for (const ToolServer& server : agent.capabilities.servers) {
    for (std::size_t i = 0; i < server.command.size(); ++i) add(server.command[i], i == 0);
  }
  if (agent.engine == "claude-code") {
    for (const std::string_view name : kClaudeFiles) add(name, false);
  }
  return files;
}

void add_variables(std::string_view text, std::set<std::string>& variables) {
  for (std::size_t begin = text.find("${"); begin != std::string_view::npos;
       begin = text.find("${", begin + 2)) {
    const std::string_view inside = text.substr(begin + 2, text.find('}', begin) - begin - 2);
    variables.insert(std::string(inside.substr(0, inside.find(":-"))));
  }
}

std::string default_url(std::string_view engine) {
  if (engine == "openai") return "https://api.openai.com";
  if (engine == "anthropic") return "https://api.anthropic.com";
  return "";
}

std::string default_variable(std::string_view engine) {
  if (engine == "openai") return "OPENAI_API_KEY";
  if (engine == "anthropic") return "ANTHROPIC_API_KEY";
  return "";
}

// What the engine does, and with which variables.
void describe_engine(const AgentDefinition& agent, std::vector<std::string>& lines,
                     std::set<std::string>& variables) {
  JsonFields options(agent.options.empty() ? "{}" : agent.options.text());
  const auto url = options.take_string("baseUrl");
  const auto variable = options.take_string("keyVariable");
  const std::string target = url.value_or(default_url(agent.engine));
  if (agent.engine == "claude-code") {
    lines.push_back("runs the program " +
                    quote(options.take_string("program").value_or("claude"), 200) +
                    " with all environment variables");
  }
  if (!target.empty()) lines.push_back("sends conversations to " + quote(target, 200));
  if (variable) variables.insert(*variable);
  if (!variable && !url && !default_variable(agent.engine).empty()) {
    variables.insert(default_variable(agent.engine));
  }
  if (const Json rest = options.rest(); !rest.empty()) {
    std::string text;
    append_json_on_one_line(text, rest.text());
    lines.push_back("passes options to the engine " + agent.engine + ": " + excerpt(text, 400));
  }
}

void describe_server(const ToolServer& server, std::vector<std::string>& lines,
                     std::set<std::string>& variables) {
  if (!server.command.empty()) {
    std::string command;
    for (const std::string& word : server.command) command += " " + quote(word, 200);
    lines.push_back(fmt::format("MCP server {}: runs{}", server.name, command));
  } else {
    lines.push_back(fmt::format("MCP server {}: sends to {}", server.name, quote(server.url, 200)));
  }
  for (const std::string& word : server.command) add_variables(word, variables);
  for (const auto& [name, value] : server.environment) {
    lines.push_back(
        fmt::format("MCP server {}: sets {} to {}", server.name, quote(name), quote(value, 200)));
    add_variables(value, variables);
  }
  for (const auto& [name, value] : server.headers) {
    lines.push_back(fmt::format("MCP server {}: sends the header {}: {}", server.name, quote(name),
                                quote(value, 200)));
    add_variables(value, variables);
  }
  add_variables(server.url, variables);
}

std::vector<std::string> allowed_by(const AgentDefinition& agent, const std::string& workspace) {
  std::vector<std::string> lines;
  std::set<std::string> variables;
  describe_engine(agent, lines, variables);
  for (const ToolServer& server : agent.capabilities.servers) {
    describe_server(server, lines, variables);
  }
  for (const std::string& variable : variables) {
    lines.push_back("reads the environment variable " + quote(variable));
  }
  if (!agent.system_file.empty()) {
    lines.push_back("reads the file " + quote(agent.system_file, 200) + " as its system prompt");
  }
  if (!agent.capabilities.builtin.empty()) {
    lines.push_back(fmt::format("uses the tools {}", fmt::join(agent.capabilities.builtin, ", ")));
  }
  if (!inside(workspace, agent.folder)) {
    lines.push_back("works in the folder " + quote(agent.folder, 200) + ", outside the workspace");
  }
  return lines;
}

}  // namespace

bool needs_trust(const AgentDefinition& agent) {
  return agent.engine != "echo" || !agent.capabilities.servers.empty();
}

Result<std::vector<Definition>> agent_definitions(const AgentDefinition& agent,
                                                  const std::string& workspace) {
  std::vector<Definition> definitions;
  if (!needs_trust(agent)) return definitions;
  definitions.push_back(
      {"agent:" + agent.id, agent.digest, agent.file, allowed_by(agent, workspace)});
  for (const std::string& path : executed_files(agent, workspace)) {
    const fs::path file = fs::path(workspace) / path;
    SKEIN_ASSIGN(std::string digest, digest_of_file(file));
    definitions.push_back({"file:" + mended_utf8(path),
                           std::move(digest),
                           file.string(),
                           {"is executed or read as a program by agents of this workspace"}});
  }
  return definitions;
}

Result<void> check_agent_trust(const Settings& settings, const AgentDefinition& agent) {
  if (settings.trust == nullptr || !needs_trust(agent)) return {};
  if (settings.config_is_explicit && agent.file == settings.config_file->string()) return {};
  SKEIN_ASSIGN(const auto definitions, agent_definitions(agent, settings.trust->workspace()));
  for (const Definition& definition : definitions) {
    SKEIN_TRY(settings.trust->check(definition, "agent " + quote(agent.id)));
  }
  return {};
}

}  // namespace skein
