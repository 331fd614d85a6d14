// Which members of a workspace's configuration count.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "api/config_file.h"
#include "api/trust.h"

namespace skein {

struct ConfigReview {
  std::vector<Definition> definitions;         // members that need trust, trusted or not
  std::optional<std::string> untrusted_store;  // "store", while it is not trusted
  bool untrusted_redaction = false;            // "redact", likewise
  std::string notice;                          // what was ignored, on one line; empty: nothing
};

// The members that need trust, as `config` has them.
std::vector<Definition> config_definitions(const std::filesystem::path& file,
                                           const ConfigFile& config);

// Drops the members that have no effect from `config`: "server" always, and those that need trust
// and do not have it.
Result<ConfigReview> review_config(Trust& trust, const std::filesystem::path& file,
                                   ConfigFile& config);

}  // namespace skein
