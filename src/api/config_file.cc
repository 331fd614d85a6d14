#include "api/config_file.h"

#include <fmt/format.h>

#include "core/file.h"
#include "core/json.h"
#include "core/json_fields.h"
#include "core/quote.h"
#include "core/try.h"
#include "skein/work_items.h"

namespace skein {
namespace fs = std::filesystem;
namespace {

constexpr std::size_t kMaxKnowledgeRepos = 32;
constexpr std::uintmax_t kMostConfigBytes = std::uintmax_t{1} << 20;

// Whatever the file turns out to be, no more than the limit is read: files of the kernel have no
// size, and some have no end.
Result<std::string> read_config_text(const fs::path& file, Links links) {
  std::error_code error;
  const auto failed = [&file](std::string_view reason) {
    return fail(ErrorCode::kInvalid, fmt::format("configuration {}: {}", file.string(), reason));
  };
  if (!fs::exists(file, error)) return failed("there is no such file");
  const fs::path target = links == Links::kFollow ? fs::canonical(file, error) : file;
  const auto text = read_file(target.string(), kMostConfigBytes);
  if (!text) return failed(text.error().message);
  if (!*text) return failed("must be a regular file, not a folder, link, pipe or device");
  return **text;
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
  if (fields.others().size() > kMaxKnowledgeRepos) {
    return fail(ErrorCode::kInvalid, fmt::format("names {} repositories; the limit is {}",
                                                 fields.others().size(), kMaxKnowledgeRepos));
  }
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

}  // namespace

tl::unexpected<Error> bad_config(const fs::path& file, std::string_view field,
                                 std::string_view reason) {
  return fail(ErrorCode::kInvalid,
              fmt::format("configuration {}: \"{}\" {}", file.string(), field, reason));
}

void ConfigFile::drop(std::string_view name) {
  if (name == "store") store.reset();
  if (name == "embedder") embedder.reset();
  if (name == "knowledgeRepos") knowledge_repos.clear();
  if (name == "server") server = {};
  if (name == "redact") {
    redaction_rules.clear();
    redaction_without.clear();
  }
  if (const auto found = members.find(name); found != members.end()) members.erase(found);
}

Result<ConfigFile> read_config(const fs::path& file, Links links) {
  SKEIN_ASSIGN(const std::string text, read_config_text(file, links));
  return parse_config(file, text);
}

Result<ConfigFile> parse_config(const fs::path& file, std::string_view text) {
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
    // What is digested must be what is parsed.
    if (config.members.contains(member.name))
      return bad_config(file, member.name, "is given twice");
    if (auto taken = take_setting(member, config); !taken) {
      return bad_config(file, member.name, taken.error().message);
    }
    config.members.insert_or_assign(std::string(member.name), std::string(member.value));
  }
  return config;
}

}  // namespace skein
