#include "api/agent_trust.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
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

struct ExecutedFile {
  fs::path path;  // where its bytes are
  bool is_claude_settings = false;
};
// Files that an agent executes, by their names in the workspace.
using ExecutedFiles = std::map<std::string, ExecutedFile>;

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
    files.emplace(path.lexically_relative(workspace).string(), ExecutedFile{target});
    return;
  }
}

// Variables whose value is part of a command line, or names files that an interpreter executes.
constexpr std::string_view kCommandVariables[] = {
    "NODE_OPTIONS", "BASH_ENV", "ENV",        "PYTHONSTARTUP",         "RUBYOPT",
    "PERL5OPT",     "LD_AUDIT", "LD_PRELOAD", "DYLD_INSERT_LIBRARIES", "JAVA_TOOL_OPTIONS"};
constexpr std::size_t kMostPrograms = 512;  // of a folder in PATH
constexpr std::size_t kMostFolders = 16;    // that a command may change to

// What of a word may name a file that is executed: the word itself, the value of an option
// ("--import=FILE", "-fFILE"), and of a script (the word after "-c") every word in it.
std::vector<std::string_view> pieces_of(std::string_view word, bool is_script) {
  constexpr std::string_view kBetween = " \t\r\n\"'`=:,;()[]{}<>|&$";
  const std::size_t value = word.find('=');
  std::vector<std::string_view> pieces{word};
  if (value != std::string_view::npos) pieces.push_back(word.substr(value + 1));
  if (word.size() > 2 && word[0] == '-' && word[1] != '-') pieces.push_back(word.substr(2));
  for (std::size_t begin = 0; is_script && begin < word.size();) {
    const std::size_t end = std::min(word.find_first_of(kBetween, begin), word.size());
    if (end > begin) pieces.push_back(word.substr(begin, end - begin));
    begin = end + 1;
  }
  constexpr std::string_view kFileUrl = "file://";
  for (std::size_t i = 0, whole = pieces.size(); i < whole && word.starts_with('-'); ++i) {
    for (std::size_t begin = 0;
         begin < pieces[i].size();) {  // "--require=FILE,FILE", "-cp FILE:FILE"
      const std::size_t end = std::min(pieces[i].find_first_of(",:", begin), pieces[i].size());
      if (end > begin) pieces.push_back(pieces[i].substr(begin, end - begin));
      begin = end + 1;
    }
  }
  for (std::string_view& piece : pieces) {
    if (piece.starts_with(kFileUrl)) piece.remove_prefix(kFileUrl.size());
  }
  return pieces;
}

// Whether the next word is a script: "-c", "-euxc", "-e", "-S", "--eval", "--command".
bool introduces_script(std::string_view word) {
  if (word == "--eval" || word == "--command") return true;
  return word.size() >= 2 && word[0] == '-' && word[1] != '-' &&
         std::string_view("ceS").find(word.back()) != std::string_view::npos;
}

// Whether the word has its script in it.
bool holds_script(std::string_view word) {
  return word.starts_with("--eval=") || word.starts_with("--command=") || word.starts_with("-S") ||
         word.starts_with("-e");
}

// Finds the files that the programs of an agent are told to execute.
class ExecutedFinder {
 public:
  ExecutedFinder(fs::path folder, const std::string& workspace)
      : folder_(std::move(folder)), workspace_(workspace) {}

  // The words of one command, in its environment. A program without a slash is looked for in PATH,
  // which is the user's own.
  void add_command(const std::string& program, const std::vector<std::string>& words) {
    if (program.find('/') != std::string::npos) add_file(folder_ / program, workspace_, files_);
    // A shell may change to a folder before it executes what is named from there.
    std::vector<std::string_view> pieces;
    bool is_script = false;
    for (const std::string& word : words) {
      const auto more = pieces_of(word, is_script || holds_script(word));
      pieces.insert(pieces.end(), more.begin(), more.end());
      is_script = introduces_script(word);
    }
    std::vector<fs::path> folders{folder_};
    for (const std::string_view piece : pieces) add_folder(piece, folders);
    for (const std::string_view piece : pieces) {
      for (const fs::path& folder : folders) add_file(folder / piece, workspace_, files_);
    }
  }

  void add_variable(std::string_view name, std::string_view value) {
    const bool is_command =
        std::ranges::find(kCommandVariables, name) != std::end(kCommandVariables);
    for (const std::string_view piece : pieces_of(value, is_command)) {
      add_file(folder_ / piece, workspace_, files_);
    }
    if (name != "PATH") return;
    for (std::size_t begin = 0; begin < value.size();) {
      const std::size_t end = std::min(value.find(':', begin), value.size());
      if (end > begin) add_programs_in(folder_ / value.substr(begin, end - begin));
      begin = end + 1;
    }
  }

  void add_claude_settings(std::string_view name) {
    ExecutedFiles found;
    add_file(folder_ / name, workspace_, found);
    for (auto& [path, file] : found) files_.insert_or_assign(path, ExecutedFile{file.path, true});
  }

  ExecutedFiles files() { return std::move(files_); }

 private:
  void add_folder(std::string_view piece, std::vector<fs::path>& folders) const {
    std::error_code error;
    const fs::path folder = fs::canonical(folder_ / piece, error);
    if (error || folders.size() > kMostFolders || !fs::is_directory(folder, error)) return;
    if (folder == workspace_ || !is_inside(folder, workspace_)) return;
    if (std::find(folders.begin(), folders.end(), folder) == folders.end()) {
      folders.push_back(folder);
    }
  }

  void add_programs_in(const fs::path& named) {
    std::error_code error;
    const fs::path folder = fs::canonical(named, error);
    if (error || !is_inside(folder, workspace_)) return;
    std::set<fs::path> found;
    for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
         entry.increment(error)) {
      std::error_code ignored;
      const bool executable =
          (entry->status(ignored).permissions() & fs::perms::owner_exec) != fs::perms::none;
      if (executable && entry->is_regular_file(ignored)) found.insert(entry->path());
      if (found.size() > kMostPrograms) found.erase(std::prev(found.end()));
    }
    for (const fs::path& file : found) add_file(file, workspace_, files_);
  }

  const fs::path folder_;
  const std::string& workspace_;
  ExecutedFiles files_;
};

ExecutedFiles executed_files(const AgentDefinition& agent, const std::string& workspace) {
  ExecutedFinder finder(agent.folder, workspace);
  JsonFields options(agent.options.empty() ? "{}" : agent.options.text());
  finder.add_command(options.take_string("program").value_or(""),
                     options.take_strings("arguments").value_or(std::vector<std::string>{}));
  const auto set = options.take_object("environment");
  const JsonFields environment(set.value_or("{}"));
  for (const JsonFields::Field& field : environment.others()) {
    finder.add_variable(field.name, json_to_string(field.value).value_or(""));
  }
  for (const ToolServer& server : agent.capabilities.servers) {
    // With variables replaced, as it is started; one that lacks a variable is not.
    const auto resolved = resolve_server(server);
    const ToolServer& started = resolved ? *resolved : server;
    if (!started.command.empty()) {
      finder.add_command(started.command[0], {started.command.begin() + 1, started.command.end()});
    }
    for (const auto& [name, value] : started.environment) finder.add_variable(name, value);
  }
  if (agent.engine == "claude-code") {
    for (const std::string_view name : kClaudeFiles) finder.add_claude_settings(name);
  }
  return finder.files();
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

Result<Definition> file_definition(const std::string& name, const ExecutedFile& file,
                                   const std::string& workspace) {
  SKEIN_ASSIGN(std::string digest, digest_of_file(file.path));
  Definition definition{
      .name = "file:" + mended_utf8(name),
      .digest = std::move(digest),
      .file = (fs::path(workspace) / name).string(),
      .allows = {"is executed, or read as a program, by agents of this workspace"},
      .is_claude_settings = file.is_claude_settings};
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

}  // namespace

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
    SKEIN_ASSIGN(Definition definition, file_definition(name, file, workspace));
    definitions.push_back(std::move(definition));
  }
  return definitions;
}

namespace {

// Programs that embed the library trust everything, and so does the user what --config names.
bool counts_as_it_is(const Settings& settings, const AgentDefinition& agent) {
  return settings.trust == nullptr || !needs_trust(agent) ||
         (settings.config_is_explicit && agent.file == settings.config_file->string());
}

}  // namespace

Result<void> check_agent_trust(const Settings& settings, const AgentDefinition& agent) {
  if (counts_as_it_is(settings, agent)) return {};
  SKEIN_ASSIGN(const auto definitions, agent_definitions(agent, settings.trust->workspace()));
  const std::string what = "agent " + quote(agent.id);
  for (const Definition& definition : definitions) {
    SKEIN_TRY(settings.trust->check(definition, what));
  }
  const auto now = agent_on_disk(settings, agent);
  if (!now || !needs_trust(*now) || now->digest == agent.digest) return {};
  return settings.trust->check({.name = "agent:" + agent.id,
                                .digest = digest_of(*now, settings.trust->workspace()),
                                .file = now->file,
                                .allows = {}},
                               what);
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
  SKEIN_ASSIGN(Definition definition,
               file_definition(std::string(*name), file, settings.trust->workspace()));
  definition.digest = sha256_hex(change.after);  // whatever the file has by now
  const auto granted = settings.trust->grant({definition});
  if (granted) return std::nullopt;
  return "agents on claude-code are inactive until you run \"skein trust\": " +
         granted.error().message;
}

}  // namespace skein
