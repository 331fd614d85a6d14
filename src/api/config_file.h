// The configuration file as it stands on disk: which members it has, each checked.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/redact.h"
#include "skein/checkpoints.h"
#include "skein/error.h"
#include "skein/json.h"
#include "skein/thread_manager.h"

namespace skein {

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
  // Every member that is present, as it stands in the file.
  std::map<std::string, std::string, std::less<>> members;

  // As if the file did not have the member.
  void drop(std::string_view name);
};

// Whether a file may be a symbolic link. The user's own files may be; one that came with a folder
// could lead to any file of the user, which error messages would then quote.
enum class Links { kFollow, kRefuse };

// kInvalid names file, field and reason. The bytes are read once: what is checked is what counts.
Result<ConfigFile> read_config(const std::filesystem::path& file, Links links);
// The same for text that is, or will be, in that file.
Result<ConfigFile> parse_config(const std::filesystem::path& file, std::string_view text);

// kInvalid, about one field of a configuration file.
tl::unexpected<Error> bad_config(const std::filesystem::path& file, std::string_view field,
                                 std::string_view reason);

}  // namespace skein
