#include "api/agent_trust.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>

#include "api/agents.h"
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

void add_words(const std::vector<std::string>& words, std::string& text) {
  for (const std::string& word : words) text.append(word).append(1, '\0');
}
void add_variable(std::string_view name, std::string_view value, std::string& text) {
  text.append(name).append("=").append(value).append(1, '\0');
}

// The command lines of the agent and their variables, as they are started.
std::string command_text(const AgentDefinition& agent) {
  std::string text;
  JsonFields options(agent.options.empty() ? "{}" : agent.options.text());
  add_words({options.take_string("program").value_or("")}, text);
  add_words(options.take_strings("arguments").value_or(std::vector<std::string>{}), text);
  const auto set = options.take_object("environment");
  const JsonFields environment(set.value_or("{}"));
  for (const JsonFields::Field& field : environment.others()) {
    add_variable(field.name, json_to_string(field.value).value_or(""), text);
  }
  for (const ToolServer& server : agent.capabilities.servers) {
    // With variables replaced; a server that lacks one is not started.
    const auto resolved = resolve_server(server);
    const ToolServer& started = resolved ? *resolved : server;
    add_words(started.command, text);
    for (const auto& [name, value] : started.environment) add_variable(name, value, text);
  }
  return text;
}

Result<ExecutedFiles> executed_files(const AgentDefinition& agent, const std::string& workspace,
                                     ReadingBudget& budget) {
  ExecutedFiles files;
  if (const std::string text = command_text(agent); text.find_first_not_of('\0') != text.npos) {
    SKEIN_ASSIGN(files, find_executed_files({agent.folder, text}, workspace, budget));
  }
  if (agent.engine != "claude-code") return files;
  // Claude Code looks in folders above its own, too.
  std::error_code error;
  fs::path folder = fs::weakly_canonical(agent.folder, error);
  for (bool more = true; more; folder = folder.parent_path()) {
    for (const std::string_view name : kClaudeFiles) {
      ExecutedFiles settings;
      SKEIN_TRY(add_executed_file(folder / name, workspace, settings));
      for (auto& [path, file] : settings) {
        file.is_claude_settings = true;
        files.insert_or_assign(path, file);
      }
    }
    more = folder != workspace && is_inside(folder, workspace);
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
    lines.push_back("passes options to the engine " + agent.engine + ": " +
                    plain_json(rest.text()));
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

Result<Definition> file_definition(const std::string& name, const ExecutedFile& file,
                                   const std::string& workspace, ReadingBudget& budget) {
  Definition definition{
      .name = "file:" + mended_utf8(name),
      .digest = sha256_hex("folder " + file.path.string()),
      .file = (fs::path(workspace) / name).string(),
      .allows = {"is executed, or read as a program, by agents of this workspace"},
      .is_claude_settings = file.is_claude_settings};
  if (!file.is_folder) {
    SKEIN_ASSIGN(definition.digest, budget.digest_of_file(file.path));
  }
  if (!is_inside(file.path, workspace)) {
    definition.allows.push_back("is a link to " + quote(file.path.string(), kShownBytes) +
                                ", outside the workspace");
  }
  // The bytes of a file outside are the user's own, and not for a log or a record of trust.
  if (file.is_claude_settings && is_inside(file.path, workspace)) {
    definition.allows.push_back("Claude Code takes hooks and servers from it: " +
                                content_of(file.path));
  }
  return definition;
}

Definition own_definition(const AgentDefinition& agent, const std::string& workspace) {
  return {"agent:" + agent.id, digest_of(agent, workspace), agent.file,
          allowed_by(agent, workspace)};
}

tl::unexpected<Error> not_determined(const AgentDefinition& agent, const Error& error) {
  return fail(error.code, "agent " + quote(agent.id) + " cannot be trusted: it " + error.message);
}

}  // namespace

bool needs_trust(const AgentDefinition& agent) {
  const auto& builtin = agent.capabilities.builtin;
  return agent.engine != "echo" || !agent.capabilities.servers.empty() ||
         std::ranges::find(builtin, "ask_agent") != builtin.end();
}

Result<std::vector<Definition>> agent_definitions(const AgentDefinition& agent,
                                                  const std::string& workspace,
                                                  ReadingBudget& budget) {
  std::vector<Definition> definitions;
  if (!needs_trust(agent)) return definitions;
  definitions.push_back(own_definition(agent, workspace));
  const auto files = executed_files(agent, workspace, budget);
  if (!files) return not_determined(agent, files.error());
  for (const auto& [name, file] : *files) {
    auto definition = file_definition(name, file, workspace, budget);
    if (!definition) return not_determined(agent, definition.error());
    definitions.push_back(std::move(*definition));
  }
  return definitions;
}

Result<std::vector<Definition>> agent_definitions(const AgentDefinition& agent,
                                                  const std::string& workspace) {
  ReadingBudget budget;
  return agent_definitions(agent, workspace, budget);
}

namespace {

// Programs that embed the library trust everything, and so does the user what --config names.
bool counts_as_it_is(const Settings& settings, const AgentDefinition& agent) {
  return settings.trust == nullptr || !needs_trust(agent) ||
         (settings.config_is_explicit && agent.file == settings.config_file->string());
}

// Whether the definition is still the one on disk. One that changed has to be trusted again, and
// read again.
Result<void> check_is_current(const Settings& settings, const AgentDefinition& agent,
                              const std::string& what) {
  const auto now = agent_on_disk(settings, agent);
  if (!now) {
    return fail(ErrorCode::kInvalid,
                what + ": its definition was removed, or cannot be read: " + now.error().message);
  }
  if (now->digest == agent.digest) return {};
  if (needs_trust(*now)) {
    SKEIN_TRY(settings.trust->check(own_definition(*now, settings.trust->workspace()), what));
  }
  return fail(ErrorCode::kInvalid,
              what + ": " + now->file + " changed since this process read it; restart it");
}

}  // namespace

Result<void> check_agent_trust(const Settings& settings, const AgentDefinition& agent) {
  if (counts_as_it_is(settings, agent)) return {};
  const std::string what = "agent " + quote(agent.id);
  const std::string& workspace = settings.trust->workspace();
  SKEIN_TRY(check_is_current(settings, agent, what));
  // Before its files: an agent that nobody trusted does not choose what is read.
  SKEIN_TRY(settings.trust->check(own_definition(agent, workspace), what));
  SKEIN_ASSIGN(const auto definitions, agent_definitions(agent, workspace));
  for (const Definition& definition : definitions) {
    SKEIN_TRY(settings.trust->check(definition, what));
  }
  return {};
}

bool is_runnable(const Settings& settings, const AgentDefinition& agent) {
  if (agent.engine == "echo" || counts_as_it_is(settings, agent)) return true;
  const auto own =
      settings.trust->state("agent:" + agent.id, digest_of(agent, settings.trust->workspace()));
  return own && *own == TrustState::kTrusted && check_agent_trust(settings, agent).has_value();
}

Result<std::optional<std::string>> apply_trusted_change(const Settings& settings,
                                                        const FileChange& change) {
  const auto name = std::ranges::find_if(kClaudeFiles, [&](std::string_view file) {
    return change.file == settings.workspace / file;
  });
  bool known = false;
  if (settings.trust != nullptr && name != std::end(kClaudeFiles)) {
    std::error_code error;
    known = !fs::exists(fs::symlink_status(change.file, error));
    if (!known) {
      SKEIN_ASSIGN(const TrustState state,
                   settings.trust->state("file:" + std::string(*name), sha256_hex(change.before)));
      known = state == TrustState::kTrusted;
    }
  }
  SKEIN_TRY(apply_change(change));
  if (!known) return std::nullopt;
  const ExecutedFile file{.path = change.file, .is_claude_settings = true};
  ReadingBudget budget;
  SKEIN_ASSIGN(Definition definition,
               file_definition(std::string(*name), file, settings.trust->workspace(), budget));
  definition.digest = sha256_hex(change.after);  // whatever the file has by now
  const auto granted = settings.trust->grant({definition});
  if (granted) return std::nullopt;
  return "agents on claude-code are inactive until you run \"skein trust\": " +
         granted.error().message;
}

}  // namespace skein
