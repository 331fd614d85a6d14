#include "api/agent_trust.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "core/json.h"
#include "core/json_fields.h"
#include "core/path_inside.h"
#include "core/quote.h"
#include "core/sha256.h"
#include "core/try.h"

namespace skein {
namespace fs = std::filesystem;
namespace {

// A definition is shown whole: what is cut off would be trusted unseen.
constexpr std::size_t kShownBytes = limits::kMaxAgentFileBytes;

constexpr std::string_view kClaudeFiles[] = {".claude/settings.json", ".claude/settings.local.json",
                                             ".mcp.json"};

// A file that an agent executes: its name in the workspace, and where its bytes are.
using ExecutedFiles = std::map<std::string, fs::path>;

void add_file(const fs::path& file, const std::string& workspace, ExecutedFiles& files);

// What interpreters execute of a folder that is named to them.
void add_entry_points(const fs::path& folder, const std::string& workspace, ExecutedFiles& files) {
  for (const char* name : {"package.json", "index.js", "index.mjs", "index.cjs", "__main__.py"}) {
    std::error_code error;
    if (fs::is_regular_file(folder / name, error)) add_file(folder / name, workspace, files);
  }
}

// A link is known by its own name, wherever it leads; a file outside the workspace is not covered.
void add_file(const fs::path& file, const std::string& workspace, ExecutedFiles& files) {
  std::error_code error;
  const fs::path target = fs::canonical(file, error);
  if (!error && fs::is_directory(target, error)) return add_entry_points(file, workspace, files);
  if (error || !fs::is_regular_file(target, error)) return;
  const fs::path named = fs::weakly_canonical(file.parent_path(), error) / file.filename();
  for (const fs::path& path : {named, target}) {
    if (!is_inside(path, workspace)) continue;
    files.emplace(path.lexically_relative(workspace).string(), target);
    return;
  }
}

// A program without a slash is looked for in PATH, which is the user's own. An option may name a
// file behind "=".
void add_word(std::string_view word, bool is_program, const fs::path& folder,
              const std::string& workspace, ExecutedFiles& files) {
  if (word.empty() || (is_program && word.find('/') == std::string_view::npos)) return;
  add_file(folder / word, workspace, files);
  const std::size_t equals = word.find('=');
  if (is_program || equals == std::string_view::npos || equals + 1 == word.size()) return;
  add_file(folder / word.substr(equals + 1), workspace, files);
}

ExecutedFiles executed_files(const AgentDefinition& agent, const std::string& workspace) {
  ExecutedFiles files;
  const auto add = [&](std::string_view word, bool is_program) {
    add_word(word, is_program, agent.folder, workspace, files);
  };
  JsonFields options(agent.options.empty() ? "{}" : agent.options.text());
  if (const auto program = options.take_string("program")) add(*program, true);
  for (const std::string& word :
       options.take_strings("arguments").value_or(std::vector<std::string>{})) {
    add(word, false);
  }
  const auto set = options.take_object("environment");
  const JsonFields environment(set.value_or("{}"));
  for (const JsonFields::Field& field : environment.others()) {
    add(json_to_string(field.value).value_or(""), false);
  }
  for (const ToolServer& server : agent.capabilities.servers) {
    // With variables replaced, as it is started; one that lacks a variable is not.
    const auto resolved = resolve_server(server);
    const std::vector<std::string>& command = resolved ? resolved->command : server.command;
    for (std::size_t i = 0; i < command.size(); ++i) add(command[i], i == 0);
    for (const auto& [name, value] : (resolved ? *resolved : server).environment) {
      add(value, false);
    }
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
                    quote(options.take_string("program").value_or("claude"), kShownBytes) +
                    " with all environment variables");
  }
  if (!target.empty()) lines.push_back("sends conversations to " + quote(target, kShownBytes));
  if (variable) variables.insert(*variable);
  if (!variable && !url && !default_variable(agent.engine).empty()) {
    variables.insert(default_variable(agent.engine));
  }
  if (const Json rest = options.rest(); !rest.empty()) {
    std::string text;
    append_json_on_one_line(text, rest.text());
    lines.push_back("passes options to the engine " + agent.engine + ": " +
                    excerpt(text, kShownBytes));
  }
}

void describe_server(const ToolServer& server, std::vector<std::string>& lines,
                     std::set<std::string>& variables) {
  if (!server.command.empty()) {
    std::string command;
    for (const std::string& word : server.command) command += " " + quote(word, kShownBytes);
    lines.push_back(fmt::format("MCP server {}: runs{}", server.name, command));
  } else {
    lines.push_back(
        fmt::format("MCP server {}: sends to {}", server.name, quote(server.url, kShownBytes)));
  }
  for (const std::string& word : server.command) add_variables(word, variables);
  for (const auto& [name, value] : server.environment) {
    lines.push_back(fmt::format("MCP server {}: sets {} to {}", server.name, quote(name),
                                quote(value, kShownBytes)));
    add_variables(value, variables);
  }
  for (const auto& [name, value] : server.headers) {
    lines.push_back(fmt::format("MCP server {}: sends the header {}: {}", server.name, quote(name),
                                quote(value, kShownBytes)));
    add_variables(value, variables);
  }
  add_variables(server.url, variables);
}

// What bounds the agent: a bound that goes is a change to be seen.
void describe_bounds(const AgentDefinition& agent, std::vector<std::string>& lines) {
  const auto add_patterns = [&](std::string_view what, const std::vector<std::string>& patterns) {
    std::string names;
    for (const std::string& pattern : patterns) names += " " + quote(pattern, kShownBytes);
    if (!names.empty()) lines.push_back(std::string(what) + names);
  };
  add_patterns("may call only the tools", agent.capabilities.allow);
  add_patterns("asks a person before it calls the tools", agent.capabilities.confirm);
  const RunLimits& limits = agent.limits;
  std::string bounds = fmt::format("{} turns", limits.max_turns);
  if (limits.max_tokens) bounds += fmt::format(", {} tokens", *limits.max_tokens);
  if (limits.max_output_tokens) {
    bounds += fmt::format(", {} output tokens a turn", *limits.max_output_tokens);
  }
  if (limits.max_cost_usd) bounds += fmt::format(", {} USD", *limits.max_cost_usd);
  if (limits.timeout) bounds += fmt::format(", {} ms", limits.timeout->count());
  lines.push_back("a run is limited to " + bounds);
}

std::string content_of(const fs::path& file) {
  const auto text = read_file(file.string(), kShownBytes);
  if (!text || !*text) return "(cannot be read)";
  return quote(**text, kShownBytes);
}

// Where the agent works, if that is outside the workspace; with all links followed.
std::optional<std::string> folder_outside(const AgentDefinition& agent,
                                          const std::string& workspace) {
  std::error_code error;
  const fs::path folder = fs::weakly_canonical(agent.folder, error);
  if (!error && is_inside(folder, workspace)) return std::nullopt;
  return error ? agent.folder : folder.string();
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
    lines.push_back("reads the file " + quote(agent.system_file, kShownBytes) +
                    " as its system prompt");
  }
  if (!agent.system.empty()) {
    lines.push_back("has the system prompt " + quote(agent.system, kShownBytes));
  }
  if (!agent.model.empty()) lines.push_back("uses the model " + quote(agent.model, kShownBytes));
  if (!agent.title_model.empty()) {
    lines.push_back("makes titles with the model " + quote(agent.title_model, kShownBytes));
  }
  if (!agent.capabilities.builtin.empty()) {
    lines.push_back(fmt::format("uses the tools {}", fmt::join(agent.capabilities.builtin, ", ")));
  }
  describe_bounds(agent, lines);
  if (const auto folder = folder_outside(agent, workspace)) {
    lines.push_back("works in the folder " + quote(*folder, kShownBytes) +
                    ", outside the workspace");
  }
  return lines;
}

// A folder outside the workspace is part of what is trusted: it may be behind a link, and a link
// can change while the definition stays as it is.
std::string digest_of(const AgentDefinition& agent, const std::string& workspace) {
  const auto folder = folder_outside(agent, workspace);
  return folder ? sha256_hex(agent.digest + "\n" + *folder) : agent.digest;
}

}  // namespace

bool is_claude_settings(const Definition& definition) {
  return std::any_of(std::begin(kClaudeFiles), std::end(kClaudeFiles), [&](std::string_view name) {
    return definition.name.starts_with("file:") && definition.name.ends_with(name);
  });
}

bool needs_trust(const AgentDefinition& agent) {
  return agent.engine != "echo" || !agent.capabilities.servers.empty();
}

Result<std::vector<Definition>> agent_definitions(const AgentDefinition& agent,
                                                  const std::string& workspace) {
  std::vector<Definition> definitions;
  if (!needs_trust(agent)) return definitions;
  definitions.push_back(
      {"agent:" + agent.id, digest_of(agent, workspace), agent.file, allowed_by(agent, workspace)});
  for (const auto& [name, file] : executed_files(agent, workspace)) {
    SKEIN_ASSIGN(std::string digest, digest_of_file(file));
    definitions.push_back({"file:" + mended_utf8(name),
                           std::move(digest),
                           (fs::path(workspace) / name).string(),
                           {"is executed, or read as a program, by agents of this workspace"}});
    if (!is_inside(file, workspace)) {
      definitions.back().allows.push_back("is a link to " + quote(file.string(), kShownBytes) +
                                          ", outside the workspace");
    }
    if (is_claude_settings(definitions.back())) {
      definitions.back().allows.push_back("Claude Code takes hooks and servers from it: " +
                                          content_of(file));
    }
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
