#include "api/settings.h"

#include <fmt/format.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string_view>

#include "api/workspace_detection.h"
#include "core/json.h"
#include "core/json_fields.h"
#include "core/quote.h"
#include "core/try.h"
#include "skein/work_items.h"

namespace skein {
namespace fs = std::filesystem;
namespace {

struct ConfigFile {
  std::optional<std::string> store;
  std::optional<std::string> default_agent;
  std::optional<std::string> embedder;
  std::optional<std::string> project;
  std::vector<ActiveLimit> active_limits;
  std::vector<CheckpointsOptions::KnowledgeRepo> knowledge_repos;
  Json agents;
  Json server;
  std::vector<RedactionRule> redaction_rules;
  std::vector<std::string> redaction_without;
};

std::optional<std::string> environment(const char* name) {
  const char* value = std::getenv(name);
  if (value == nullptr || *value == '\0') return std::nullopt;
  return std::string(value);
}

tl::unexpected<Error> bad_config(const fs::path& file, std::string_view field,
                                 std::string_view reason) {
  return fail(ErrorCode::kInvalid,
              fmt::format("configuration {}: \"{}\" {}", file.string(), field, reason));
}

Result<std::string> read_config_text(const fs::path& file) {
  std::error_code error;
  if (!fs::is_regular_file(file, error)) {
    return fail(ErrorCode::kInvalid,
                fmt::format("configuration {}: there is no such file", file.string()));
  }
  std::ifstream stream(file, std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  if (!stream) {
    return fail(ErrorCode::kInvalid,
                fmt::format("configuration {}: cannot be read", file.string()));
  }
  return std::move(text).str();
}

Result<std::vector<ActiveLimit>> read_active_limits(RawJson value) {
  const auto wrong = [value] {
    return fail(ErrorCode::kInvalid, "must be an object of whole numbers, not " + excerpt(value));
  };
  std::vector<ActiveLimit> limits;
  JsonObjectReader reader;
  std::vector<JsonMember> members;
  if (!value.starts_with('{') || !reader.read(value, members)) return wrong();
  for (const JsonMember& member : members) {
    const auto count = json_to_int(member.value);
    if (!count || *count < 0) return wrong();
    limits.push_back({std::string(member.name), static_cast<std::size_t>(*count)});
  }
  return limits;
}

Result<std::vector<CheckpointsOptions::KnowledgeRepo>> read_knowledge_repos(RawJson value) {
  std::vector<CheckpointsOptions::KnowledgeRepo> repositories;
  const JsonFields fields(value);
  for (const JsonFields::Field& field : fields.others()) {
    repositories.push_back({field.name, json_to_string(field.value).value_or("")});
    if (!repositories.back().folder.empty()) continue;
    return fail(ErrorCode::kInvalid, "names no folder for " + quote(field.name));
  }
  if (value.starts_with('{')) return repositories;
  return fail(ErrorCode::kInvalid, "must be an object of folders, not " + excerpt(value));
}

Result<void> read_redaction(RawJson value, ConfigFile& config) {
  if (!value.starts_with('{')) {
    return fail(ErrorCode::kInvalid, "must be an object of rules, not " + excerpt(value));
  }
  const JsonFields fields(value);
  for (const JsonFields::Field& field : fields.others()) {
    if (const auto pattern = json_to_string(field.value)) {
      config.redaction_rules.push_back({field.name, *pattern});
    } else if (field.value == "false") {
      config.redaction_without.push_back(field.name);
    } else {
      return fail(ErrorCode::kInvalid, "rule " + quote(field.name) +
                                           ": must be a regular expression, or false, not " +
                                           excerpt(field.value));
    }
  }
  return {};
}

// A reason, if the value is not as it must be.
Result<void> take_setting(const JsonMember& member, ConfigFile& config) {
  if (member.name == "maxActiveThreads") {
    SKEIN_ASSIGN(config.active_limits, read_active_limits(member.value));
    return {};
  }
  if (member.name == "knowledgeRepos") {
    SKEIN_ASSIGN(config.knowledge_repos, read_knowledge_repos(member.value));
    return {};
  }
  if (member.name == "redact") return read_redaction(member.value, config);
  if (member.name == "agents" || member.name == "server") {
    const bool agents = member.name == "agents";
    if (!member.value.starts_with('{')) {
      return fail(ErrorCode::kInvalid,
                  fmt::format("must be an object of {}, not {}", agents ? "definitions" : "options",
                              excerpt(member.value)));
    }
    (agents ? config.agents : config.server) = Json::trusted(std::string(member.value));
    return {};
  }
  std::optional<std::string>* const setting = member.name == "store" ? &config.store
                                              : member.name == "defaultAgent"
                                                  ? &config.default_agent
                                              : member.name == "embedder" ? &config.embedder
                                              : member.name == "project"  ? &config.project
                                                                          : nullptr;
  if (setting == nullptr) {
    return fail(ErrorCode::kInvalid,
                "is not a setting; those are store, defaultAgent, embedder, project, "
                "maxActiveThreads, knowledgeRepos, agents, server, redact");
  }
  const auto value = json_to_string(member.value);
  if (!value || value->empty()) {
    return fail(ErrorCode::kInvalid, fmt::format("must be a string, not {}", member.value));
  }
  if (member.name == "defaultAgent") SKEIN_TRY(check_agent_id(*value));
  if (member.name == "project") SKEIN_TRY(check_project(*value));
  *setting = value;
  return {};
}

Result<ConfigFile> read_config(const fs::path& file) {
  SKEIN_ASSIGN(const std::string text, read_config_text(file));
  const auto object = Json::parse_object(text);
  if (!object) {
    return fail(ErrorCode::kInvalid,
                fmt::format("configuration {}: {}", file.string(), object.error().message));
  }
  JsonObjectReader reader;
  std::vector<JsonMember> members;
  reader.read(object->text(), members);
  ConfigFile config;
  for (const JsonMember& member : members) {
    if (auto taken = take_setting(member, config); !taken) {
      return bad_config(file, member.name, taken.error().message);
    }
  }
  return config;
}

// The path of a URL that names a file or folder; nothing for others.
std::optional<std::string_view> url_path(std::string_view url) {
  for (const std::string_view scheme : {"sqlite:", "jsonl:"}) {
    if (url.starts_with(scheme)) return url.substr(scheme.size());
  }
  return std::nullopt;
}

std::string anchored(std::string url, const fs::path& folder) {
  const auto path = url_path(url);
  if (!path || path->empty() || fs::path(*path).is_absolute()) return url;
  const std::string scheme = url.substr(0, url.size() - path->size());
  return scheme + (folder / *path).lexically_normal().string();
}

std::string default_store(const fs::path& workspace) {
  return "sqlite:" + (workspace / ".skein" / "skein.db").string();
}

}  // namespace

Result<Settings> resolve_settings(const SettingsRequest& request) {
  std::error_code error;
  const fs::path here = fs::current_path(error);
  if (error) return fail(ErrorCode::kIo, "there is no working directory: " + error.message());

  Settings settings;
  auto workspace = request.workspace ? request.workspace : environment("SKEIN_WORKSPACE");
  if (workspace) {
    settings.workspace = (here / *workspace).lexically_normal();
  } else {
    SKEIN_ASSIGN(FoundWorkspace found,
                 find_workspace(request.start ? here / *request.start : here));
    settings.workspace = std::move(found.folder);
    settings.checkout = std::move(found.worktree);
  }
  if (!fs::is_directory(settings.workspace, error)) {
    return fail(ErrorCode::kInvalid,
                fmt::format("workspace {}: there is no such folder", settings.workspace.string()));
  }
  const auto made = [tell = request.made, workspace = settings.workspace] { tell(workspace); };
  SKEIN_TRY(enter_workspace(settings.workspace,
                            workspace || !request.made ? std::function<void()>() : made));

  const fs::path usual_config = settings.workspace / ".skein" / "config.json";
  if (request.config) {
    settings.config_file = here / *request.config;
  } else if (fs::exists(usual_config, error)) {
    settings.config_file = usual_config;
  }
  ConfigFile config;
  if (settings.config_file) {
    SKEIN_ASSIGN(config, read_config(*settings.config_file));
  }

  const auto store = request.store ? request.store : environment("SKEIN_STORE");
  if (store) {
    settings.store_url = anchored(*store, here);
  } else if (config.store) {
    settings.store_url = anchored(*config.store, settings.workspace);
  } else {
    settings.store_url = default_store(settings.workspace);
  }
  settings.knowledge_repos = std::move(config.knowledge_repos);
  settings.redaction_rules = std::move(config.redaction_rules);
  settings.redaction_without = std::move(config.redaction_without);
  const auto embedder = environment("SKEIN_EMBEDDER");
  settings.embedder = embedder.value_or(config.embedder.value_or("auto"));
  settings.default_agent = config.default_agent.value_or("default");
  settings.active_limits = std::move(config.active_limits);
  settings.project = config.project;
  settings.agents = std::move(config.agents);
  settings.server = std::move(config.server);
  return settings;
}

Result<Redactor> settled_redactor(const Settings& settings) {
  auto redactor = Redactor::create(settings.redaction_rules, settings.redaction_without);
  if (redactor || !settings.config_file) return redactor;
  return bad_config(*settings.config_file, "redact", redactor.error().message);
}

std::string without_password(const std::string& url) {
  const std::size_t scheme = url.find("://");
  if (scheme == std::string::npos) return url;
  std::string shown = url;
  // As libpq reads it: a user and a password may have any character but "/" and "@" in them.
  const std::size_t end = std::min(url.find('/', scheme + 3), url.size());
  const std::size_t at = url.rfind('@', end);
  const std::size_t colon = url.find(':', scheme + 3);
  if (at != std::string::npos && at > scheme && colon < at)
    shown.replace(colon, at - colon, ":***");
  for (const std::string_view name : {"password=", "sslpassword="}) {
    for (std::size_t found = shown.find(name); found != std::string::npos;
         found = shown.find(name, found + name.size())) {
      const char before = shown[found - 1];
      if (before != '?' && before != '&') continue;
      const std::size_t begin = found + name.size();
      shown.replace(begin, std::min(shown.find('&', begin), shown.size()) - begin, "***");
    }
  }
  return shown;
}

bool store_exists(const std::string& url) {
  const auto path = url_path(url);
  std::error_code error;
  return !path || fs::exists(*path, error);
}

bool store_is_brief(const Settings& settings) {
  const std::string_view url = settings.store_url;
  return url == "memory:" || url.starts_with("sqlite:");
}

Result<std::unique_ptr<Store>> open_settled_store(const Settings& settings, IfMissing if_missing,
                                                  StoreOptions options) {
  if (if_missing == IfMissing::kRefuse && !store_exists(settings.store_url)) {
    return fail(ErrorCode::kNotFound,
                fmt::format("there is no store at {}", without_password(settings.store_url)));
  }
  return open_store(settings.store_url, std::move(options));
}

}  // namespace skein
