#include "api/config_values.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>

#include "api/config_file.h"
#include "api/definition_files.h"
#include "core/quote.h"
#include "core/try.h"

namespace skein {
namespace fs = std::filesystem;
namespace {

constexpr std::array<std::string_view, 9> kMembers = {
    "store",          "defaultAgent", "embedder", "project", "maxActiveThreads",
    "knowledgeRepos", "agents",       "server",   "redact"};
constexpr std::array<std::string_view, 3> kNameLists = {"maxActiveThreads", "knowledgeRepos",
                                                        "redact"};

struct Source {
  fs::path file;
  ConfigFile config;
};

Result<Source> read_source(const Settings& settings, ConfigOwner owner) {
  SKEIN_ASSIGN(const fs::path file, config_file_of(settings, owner));
  // A file that the user names may be a link, wherever it lies.
  std::error_code error;
  const bool named = owner == ConfigOwner::kWorkspace && settings.config_is_explicit;
  const fs::path real = named ? fs::canonical(file, error) : file;
  SKEIN_ASSIGN(const Json object, read_config_object(error ? file : real));
  SKEIN_ASSIGN(ConfigFile config, parse_config(file, object.text()));
  return Source{file, std::move(config)};
}

// Takes out the members that are not trusted.
Result<std::map<std::string, std::string, std::less<>>> drop_untrusted(const Settings& settings,
                                                                       ConfigFile& config) {
  std::map<std::string, std::string, std::less<>> dropped;
  if (!settings.trust) return dropped;
  for (const Definition& definition : settings.config_definitions) {
    SKEIN_ASSIGN(const TrustState state, settings.trust->state(definition.name, definition.digest));
    const std::string member = definition.name.substr(definition.name.find(':') + 1);
    const auto found = config.members.find(member);
    if (state == TrustState::kTrusted || found == config.members.end()) continue;
    dropped.emplace(member, found->second);
    config.drop(member);
  }
  return dropped;
}

bool is_set(const char* variable) {
  const char* value = std::getenv(variable);
  return value != nullptr && *value != '\0';
}

}  // namespace

Result<std::vector<ConfigValue>> config_values(const Settings& settings,
                                               const SettingsRequest& request) {
  std::vector<Source> sources;
  for (const ConfigOwner owner : {ConfigOwner::kWorkspace, ConfigOwner::kUser}) {
    SKEIN_ASSIGN(Source source, read_source(settings, owner));
    const bool flag = owner == ConfigOwner::kWorkspace && request.config.has_value();
    for (const std::string_view member : kMembers) {
      if (!check_config_member(member, owner, flag)) source.config.drop(member);
    }
    sources.push_back(std::move(source));
  }
  SKEIN_ASSIGN(const auto untrusted, drop_untrusted(settings, sources.front().config));
  std::vector<ConfigValue> values;
  const auto add = [&](std::string_view key, std::string source, std::string from,
                       std::string json) {
    values.push_back({std::string(key), std::move(json), std::move(source), std::move(from)});
  };
  for (const std::string_view key : kMembers) {
    // What counts in the end is what the settings say; files say it only for the rest.
    std::string settled;
    if (key == "store") settled = Json::string(without_password(settings.store_url)).text();
    if (key == "embedder") settled = Json::string(settings.embedder).text();
    if (key == "defaultAgent") settled = Json::string(settings.default_agent).text();
    const std::string variable = key == "store"      ? "SKEIN_STORE"
                                 : key == "embedder" ? "SKEIN_EMBEDDER"
                                                     : "";
    const auto source = std::find_if(sources.begin(), sources.end(), [&](const Source& one) {
      return one.config.members.contains(key);
    });
    if (key == "store" && request.store) {
      add(key, "flag", "--store", settled);
    } else if (!variable.empty() && is_set(variable.c_str())) {
      add(key, "environment", variable, settled);
    } else if (source != sources.end()) {
      add(key, "file", source->file.string(),
          settled.empty() ? source->config.members.find(key)->second : settled);
    } else if (!settled.empty() && !(key == "store" && untrusted.contains(key))) {
      add(key, "default", "", settled);
    }
    if (const auto found = untrusted.find(key); found != untrusted.end()) {
      const auto text = json_to_string(found->second);
      add(key, "untrusted", sources.front().file.string(),
          text ? Json::string(without_password(*text)).text() : found->second);
    }
  }
  return values;
}

Result<JsonPath> parse_config_key(std::string_view key) {
  const std::string_view member = key.substr(0, key.find('.'));
  if (std::find(kMembers.begin(), kMembers.end(), member) == kMembers.end()) {
    std::string known;
    for (const std::string_view name : kMembers) {
      known.append(known.empty() ? "" : ", ").append(name);
    }
    return fail(ErrorCode::kInvalid,
                quote(key) + " is not a setting; those are " + known + " and what is in them");
  }
  const bool names = std::find(kNameLists.begin(), kNameLists.end(), member) != kNameLists.end();
  if (names && member.size() + 1 < key.size()) {
    return JsonPath{std::string(member), std::string(key.substr(member.size() + 1))};
  }
  return parse_json_path(key);
}

}  // namespace skein
