#include "api/settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "api/config_file.h"
#include "api/config_trust.h"
#include "api/signing_secret.h"
#include "api/user_folders.h"
#include "api/workspace_detection.h"
#include "core/confined_path.h"
#include "core/quote.h"
#include "core/try.h"

namespace skein {
namespace fs = std::filesystem;
namespace {

std::optional<std::string> environment(const char* name) {
  const char* value = std::getenv(name);
  if (value == nullptr || *value == '\0') return std::nullopt;
  return std::string(value);
}

std::string anchored(std::string url, const fs::path& folder) {
  const auto path = store_path(url);
  if (!path || path->empty() || fs::path(*path).is_absolute()) return url;
  const std::string scheme = url.substr(0, url.size() - path->size());
  return scheme + (folder / *path).lexically_normal().string();
}

std::string default_store(const fs::path& workspace) {
  return "sqlite:" + (workspace / ".skein" / "skein.db").string();
}

// The user's own configuration: it has the settings of the server, and defaults for the rest.
Result<ConfigFile> user_config(Settings& settings) {
  for (const fs::path& folder : config_folders()) {
    const fs::path file = folder / "config.json";
    std::error_code error;
    if (!fs::exists(file, error)) continue;
    if (lies_inside_workspace(folder, settings.trust->workspace())) {
      settings.notices.push_back(
          fmt::format("{}: has no effect, as it lies inside the workspace, which may have brought "
                      "it; set XDG_CONFIG_HOME to a folder outside it",
                      file.string()));
      continue;
    }
    SKEIN_ASSIGN(ConfigFile config, read_config(file, Links::kFollow));
    for (const char* name : {"agents", "project", "knowledgeRepos", "maxActiveThreads"}) {
      if (config.members.contains(name)) {
        return bad_config(file, name, "belongs in the configuration of a workspace");
      }
    }
    settings.user_config_file = file;
    return config;
  }
  return ConfigFile{};
}

// The configuration of the workspace as far as it is trusted.
Result<ConfigFile> workspace_config(Settings& settings) {
  const fs::path file = settings.workspace / ".skein" / "config.json";
  std::error_code error;
  if (!fs::exists(file, error)) return ConfigFile{};
  settings.config_file = file;
  if (!check_no_links(file.string())) {
    return fail(ErrorCode::kInvalid,
                fmt::format("configuration {}: is behind a symbolic link, which the folder may "
                            "have come with; replace the link, or name its target with --config",
                            file.string()));
  }
  SKEIN_ASSIGN(ConfigFile config, read_config(file, Links::kRefuse));
  SKEIN_ASSIGN(ConfigReview review, review_config(*settings.trust, file, config));
  settings.config_definitions = std::move(review.definitions);
  settings.untrusted_redaction = review.untrusted_redaction;
  if (review.untrusted_store) {
    settings.untrusted_store = anchored(*review.untrusted_store, settings.workspace);
  }
  if (!review.notice.empty()) settings.notices.push_back(std::move(review.notice));
  return config;
}

std::string chosen_store(const SettingsRequest& request, const ConfigFile& config,
                         const ConfigFile& user, const fs::path& here, Settings& settings) {
  const auto asked = request.store ? request.store : environment("SKEIN_STORE");
  if (asked) {
    settings.untrusted_store.reset();
    return anchored(*asked, here);
  }
  if (config.store) {
    settings.store_from_workspace = !settings.config_is_explicit;
    return anchored(*config.store, settings.workspace);
  }
  if (user.store) return anchored(*user.store, settings.workspace);
  return default_store(settings.workspace);
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
  SKEIN_ASSIGN(settings.trust, Trust::of_workspace(settings.workspace));

  SKEIN_ASSIGN(ConfigFile user, user_config(settings));
  ConfigFile config;
  if (request.config) {
    settings.config_file = here / *request.config;
    settings.config_is_explicit = true;
    SKEIN_ASSIGN(config, read_config(*settings.config_file, Links::kFollow));
  } else {
    SKEIN_ASSIGN(config, workspace_config(settings));
  }
  settings.store_url = chosen_store(request, config, user, here, settings);
  settings.knowledge_repos = std::move(config.knowledge_repos);
  const bool own_rules = config.members.contains("redact");
  ConfigFile& redacting = own_rules ? config : user;
  settings.redaction_file =
      (own_rules ? settings.config_file : settings.user_config_file).value_or("");
  settings.redaction_rules = std::move(redacting.redaction_rules);
  settings.redaction_without = std::move(redacting.redaction_without);
  const auto embedder = environment("SKEIN_EMBEDDER");
  settings.embedder = embedder.value_or(config.embedder.value_or(user.embedder.value_or("auto")));
  settings.default_agent = config.default_agent.value_or(user.default_agent.value_or("default"));
  settings.active_limits = std::move(config.active_limits);
  settings.project = config.project;
  settings.agents = std::move(config.agents);
  settings.server = std::move(config.members.contains("server") ? config.server : user.server);
  settings.signer = workspace_signer(settings);
  return settings;
}

Result<void> check_store_trust(const Settings& settings) {
  if (!settings.untrusted_store) return {};
  return fail(ErrorCode::kInvalid,
              fmt::format("the store {} of {} is not trusted; run \"skein trust\" to allow it, or "
                          "name a store with --store",
                          quote(without_password(*settings.untrusted_store), 200),
                          settings.config_file.value_or("").string()));
}

Result<Redactor> settled_redactor(const Settings& settings) {
  auto redactor = Redactor::create(settings.redaction_rules, settings.redaction_without);
  if (redactor || settings.redaction_file.empty()) return redactor;
  return bad_config(settings.redaction_file, "redact", redactor.error().message);
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

std::optional<std::string_view> store_path(std::string_view url) {
  for (const std::string_view scheme : {"sqlite:", "jsonl:"}) {
    if (url.starts_with(scheme)) return url.substr(scheme.size());
  }
  return std::nullopt;
}

bool store_exists(const std::string& url) {
  const auto path = store_path(url);
  std::error_code error;
  return !path || fs::exists(*path, error);
}

Result<std::unique_ptr<Store>> open_settled_store(const Settings& settings, IfMissing if_missing,
                                                  StoreOptions options) {
  SKEIN_TRY(check_store_trust(settings));
  if (if_missing == IfMissing::kRefuse && !store_exists(settings.store_url)) {
    return fail(ErrorCode::kNotFound,
                fmt::format("there is no store at {}", without_password(settings.store_url)));
  }
  return open_store(settings.store_url, std::move(options));
}

}  // namespace skein
