#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "core/checked_fields.h"
#include "core/file.h"
#include "core/path_inside.h"
#include "core/quote.h"
#include "core/redact.h"
#include "core/sha256.h"
#include "runner/secrets.h"
#include "runner/tool_names.h"
#include "runner/tool_server.h"
#include "skein/agents.h"

namespace skein {
namespace fs = std::filesystem;
namespace {

constexpr std::int64_t kMaxSeconds = std::int64_t{7} * 24 * 3600;
constexpr std::int64_t kMaxCount = 1'000'000'000;

class DefinitionParser {
 public:
  DefinitionParser(std::string_view id, const AgentOrigin& origin) : origin_(origin) {
    parsed_.agent.id = id;
    parsed_.agent.file = origin.file;
    parsed_.agent.folder = origin.workspace;
  }

  ParsedAgent parse(std::string_view json) {
    const auto object = Json::parse_object(json);
    if (!object) {
      problems_("", object.error().message);
      return std::move(parsed_);
    }
    for (FieldProblem& secret : find_secrets(*object)) {
      parsed_.problems.push_back(std::move(secret));
    }
    {
      CheckedFields fields(object->text(), "", problems_);
      take_engine(fields);
      take_system(fields);
      take_capabilities(fields);
      take_limits(fields);
      take_context(fields);
      take_folder(fields);
    }
    parsed_.agent.digest = digest_of(json);
    return std::move(parsed_);
  }

 private:
  std::string digest_of(std::string_view json) const {
    Sha256 digest;
    digest.add(std::to_string(json.size()) + ":");
    digest.add(json);
    if (!parsed_.agent.system_file.empty()) digest.add(parsed_.agent.system);
    return digest.hex();
  }

  void take_engine(CheckedFields& fields) {
    AgentDefinition& agent = parsed_.agent;
    agent.description = fields.text("description").value_or("");
    const std::size_t before = parsed_.problems.size();
    agent.engine = fields.choice("engine", engine_names()).value_or("");
    if (agent.engine.empty() && parsed_.problems.size() == before) {
      fields.wrong("engine", "is missing");
    }
    agent.model = fields.text("model", {.max_bytes = 256}).value_or("");
    if (agent.model.empty() && engine_needs_model(agent.engine)) {
      fields.wrong("model", "is missing; the engine " + agent.engine + " has none by itself");
    }
    agent.title_model = fields.text("titleModel", {.max_bytes = 256}).value_or("");
    if (const auto options = fields.object("options")) {
      agent.options = Json::trusted(std::string(*options));
      for (FieldProblem& problem : check_engine_options(agent.engine, agent.options, "options")) {
        problems_(std::move(problem.field), std::move(problem.reason));
      }
    }
  }

  void take_system(CheckedFields& fields) {
    const auto text = fields.text("system", {.max_bytes = limits::kMaxSystemPromptBytes});
    const auto file = fields.text("systemFile");
    if (text && file) fields.wrong("systemFile", "is one too many beside \"system\"");
    if (text) parsed_.agent.system = *text;
    if (!file || text) return;
    const auto inside = resolve_inside(origin_.folder, *file);
    if (!inside) return fields.wrong("systemFile", inside.error().message);
    const std::string& path = *inside;
    auto read = read_file(path, limits::kMaxSystemPromptBytes);
    if (!read) {
      fields.wrong("systemFile", "cannot be read: " + read.error().message);
    } else if (!*read) {
      fields.wrong("systemFile", "names " + quote(path) + ", where there is no regular file");
    } else if (!valid_utf8(**read)) {
      fields.wrong("systemFile", "names " + quote(path) + ", which is not UTF-8");
    } else {
      parsed_.agent.system = std::move(**read);
      parsed_.agent.system_file = *file;
    }
  }

  void take_capabilities(CheckedFields& fields) {
    const auto object = fields.object("capabilities");
    if (!object) return;
    CheckedFields inner(*object, "capabilities", problems_);
    AgentCapabilities& capabilities = parsed_.agent.capabilities;
    for (const auto& [name, json] : inner.objects("mcpServers")) {
      capabilities.servers.push_back(
          parse_tool_server(name, json, "capabilities.mcpServers." + name, problems_));
    }
    if (capabilities.servers.size() > limits::kMaxToolServers) {
      inner.wrong("mcpServers",
                  "must have at most " + std::to_string(limits::kMaxToolServers) + " servers");
    }
    const std::vector<std::string_view> builtins = builtin_names();
    capabilities.builtin = inner.texts("builtin", builtins.size());
    for (const std::string& name : capabilities.builtin) {
      if (std::find(builtins.begin(), builtins.end(), name) != builtins.end()) continue;
      inner.wrong("builtin",
                  fmt::format("has {} (possible: {})", quote(name), fmt::join(builtins, ", ")));
    }
    capabilities.allow = patterns(inner, "allow");
    capabilities.confirm = patterns(inner, "confirm");
    if (!engine_is_agent(parsed_.agent.engine)) {
      check_tool_names(inner, "allow", capabilities.allow);
      check_tool_names(inner, "confirm", capabilities.confirm);
      return;
    }
    // Rules that nobody would keep are worse than none.
    const auto refuse = [&](std::string_view name, const std::vector<std::string>& list) {
      if (list.empty()) return;
      inner.wrong(name, "cannot be kept by the engine " + parsed_.agent.engine +
                            ", which calls tools by itself; its options say which");
    };
    refuse("builtin", capabilities.builtin);
    refuse("allow", capabilities.allow);
    refuse("confirm", capabilities.confirm);
  }

  // A pattern that no tool of the agent can match is a typing mistake. In "confirm" it would let
  // the tool run without a person's yes.
  void check_tool_names(CheckedFields& fields, std::string_view field,
                        const std::vector<std::string>& names) const {
    std::vector<std::string> servers;
    for (const ToolServer& server : parsed_.agent.capabilities.servers) {
      servers.push_back(server.name);
    }
    for (const std::string& name : names) {
      if (name.empty() || may_name_tool(name, servers)) continue;
      std::string known;
      for (const std::string& server : servers) known += ", " + server + "__*";
      fields.wrong(field, "has " + quote(name) +
                              ", which is no built-in tool and of no server in \"mcpServers\" "
                              "(possible: " +
                              built_in_tool_names() + known + ")");
    }
  }

  static std::vector<std::string> patterns(CheckedFields& fields, std::string_view name) {
    auto patterns = fields.texts(name, limits::kMaxToolPatterns);
    for (const std::string& pattern : patterns) {
      const auto star = pattern.find('*');
      if (!pattern.empty() && (star == std::string::npos || star + 1 == pattern.size())) continue;
      fields.wrong(name, "has " + quote(pattern) + "; a \"*\" may stand at the end only");
    }
    return patterns;
  }

  void take_limits(CheckedFields& fields) {
    const auto object = fields.object("limits");
    if (!object) return;
    CheckedFields inner(*object, "limits", problems_);
    RunLimits& limits = parsed_.agent.limits;
    if (const auto seconds = inner.number("seconds", 0.001, kMaxSeconds)) {
      limits.timeout = std::chrono::milliseconds(static_cast<std::int64_t>(*seconds * 1000));
    }
    limits.max_turns = inner.whole("turns", 1, 10'000).value_or(limits.max_turns);
    limits.max_tokens = inner.whole("tokens", 1, kMaxCount);
    limits.max_output_tokens = inner.whole("outputTokens", 1, kMaxCount);
    limits.max_cost_usd = inner.number("costUsd", 0, 1e9);
  }

  void take_context(CheckedFields& fields) {
    const auto object = fields.object("context");
    if (!object) return;
    CheckedFields inner(*object, "context", problems_);
    ContextRequest& context = parsed_.agent.context;
    if (const auto tokens = inner.whole("maxTokens", 1, limits::kMaxContextTokens)) {
      context.max_tokens = static_cast<std::uint64_t>(*tokens);
    }
    if (const auto word = inner.choice("strategy", {"recent", "summary", "hybrid"})) {
      context.strategy = *parse_context_strategy(*word);
    }
  }

  void take_folder(CheckedFields& fields) {
    const auto folder = fields.text("folder");
    if (!folder) return;
    const fs::path path = (fs::path(origin_.workspace) / *folder).lexically_normal();
    std::error_code error;
    if (!fs::is_directory(path, error)) {
      fields.wrong("folder", "names " + quote(path.string()) + ", which is no folder");
    }
    parsed_.agent.folder = path.string();
  }

  const AgentOrigin& origin_;
  ParsedAgent parsed_;
  // A wrong value is quoted, and may be a key that stands in the wrong place.
  const CheckedFields::Problems problems_ = [this](std::string field, std::string reason) {
    redact_text(field);
    redact_text(reason);
    parsed_.problems.push_back({std::move(field), std::move(reason)});
  };
};

bool any_matches(const std::vector<std::string>& patterns, std::string_view tool) {
  return std::any_of(patterns.begin(), patterns.end(),
                     [tool](const std::string& pattern) { return tool_matches(pattern, tool); });
}

}  // namespace

bool tool_matches(std::string_view pattern, std::string_view tool) {
  if (!pattern.ends_with('*')) return pattern == tool;
  return tool.starts_with(pattern.substr(0, pattern.size() - 1));
}

bool AgentCapabilities::allows(std::string_view tool) const {
  return allow.empty() || any_matches(allow, tool);
}

bool AgentCapabilities::needs_yes(std::string_view tool) const {
  return any_matches(confirm, tool);
}

ParsedAgent parse_agent(std::string_view id, std::string_view json, const AgentOrigin& origin) {
  return DefinitionParser(id, origin).parse(json);
}

}  // namespace skein
