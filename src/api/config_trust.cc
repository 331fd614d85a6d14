#include "api/config_trust.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/json_edit.h"
#include "core/path_inside.h"
#include "core/quote.h"
#include "core/sha256.h"
#include "core/try.h"

namespace skein {
namespace {

constexpr const char* kCovered[] = {"store", "embedder", "redact", "knowledgeRepos"};

// Values are shown whole: what is cut off would be trusted unseen.
std::string allowed_by(std::string_view name, std::string_view value) {
  if (name == "store") return "keeps everything in the store " + plain_json(value);
  if (name == "embedder") return "makes vectors of messages with " + plain_json(value);
  if (name == "redact") return "changes which secrets are redacted: " + plain_json(value);
  return "reads the state of the repositories " + plain_json(value);
}

// Repositories inside the workspace came with it, and are data as the rest of it is.
bool all_inside(const std::filesystem::path& workspace, const ConfigFile& config) {
  return std::all_of(config.knowledge_repos.begin(), config.knowledge_repos.end(),
                     [&](const CheckpointsOptions::KnowledgeRepo& repository) {
                       return resolve_inside(workspace.string(), repository.folder).has_value();
                     });
}

// Where the repositories are, with all links followed: a link can change while the setting stays.
std::string real_folders(const std::filesystem::path& workspace, const ConfigFile& config) {
  std::string folders;
  for (const CheckpointsOptions::KnowledgeRepo& repository : config.knowledge_repos) {
    std::error_code error;
    folders +=
        "\n" + std::filesystem::weakly_canonical(workspace / repository.folder, error).string();
  }
  return folders;
}

}  // namespace

std::vector<Definition> config_definitions(const std::filesystem::path& file,
                                           const ConfigFile& config) {
  std::vector<Definition> definitions;
  for (const char* name : kCovered) {
    const auto found = config.members.find(name);
    if (found == config.members.end()) continue;
    const bool is_repositories = found->first == "knowledgeRepos";
    const std::filesystem::path workspace = file.parent_path().parent_path();
    if (is_repositories && all_inside(workspace, config)) continue;
    std::string covered = indented_json(found->second);
    if (is_repositories) covered += real_folders(workspace, config);
    definitions.push_back({fmt::format("config:{}", name),
                           sha256_hex(covered),
                           file.string(),
                           {allowed_by(name, found->second)}});
  }
  return definitions;
}

Result<ConfigReview> review_config(Trust& trust, const std::filesystem::path& file,
                                   ConfigFile& config) {
  ConfigReview review;
  review.definitions = config_definitions(file, config);
  std::vector<std::string> ignored;
  for (const Definition& definition : review.definitions) {
    SKEIN_ASSIGN(const TrustState state, trust.state(definition.name, definition.digest));
    if (state == TrustState::kTrusted) continue;
    const std::string name = definition.name.substr(definition.name.find(':') + 1);
    if (name == "store") {
      review.untrusted_store = config.store;
    } else {
      ignored.push_back(fmt::format("\"{}\"", name));
    }
    if (name == "redact") review.untrusted_redaction = true;
    config.drop(name);
  }
  if (!ignored.empty()) {
    review.notice = fmt::format(
        "{}: {} not trusted and without effect; {}", file.string(),
        fmt::format("{} {}", fmt::join(ignored, ", "), ignored.size() == 1 ? "is" : "are"),
        how_to_trust());
  }
  if (config.members.contains("server")) {
    config.drop("server");
    const auto folder = config_folder();
    if (!review.notice.empty())
      review.notice += "; ";
    else
      review.notice = file.string() + ": ";
    review.notice += fmt::format(
        "\"server\" has no effect in a workspace: move it to {}",
        folder ? (*folder / "config.json").string() : std::string("/etc/skein/config.json"));
  }
  return review;
}

}  // namespace skein
