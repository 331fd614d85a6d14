// The settings that count, and where each comes from.
#pragma once

#include <string>
#include <vector>

#include "api/settings.h"
#include "core/json_edit.h"

namespace skein {

struct ConfigValue {
  std::string key;     // "store", "server"
  std::string json;    // without passwords
  std::string source;  // "flag", "environment", "file", "default", or "untrusted": has no effect
  std::string from;    // which flag, variable or file; empty for a default
};

// Those that are set or have a default, in the order of the documentation. One that is not trusted
// comes after the value that counts in its place; for "store" there is none.
Result<std::vector<ConfigValue>> config_values(const Settings& settings,
                                               const SettingsRequest& request);

// The path that a key such as "server.port" stands for. In members that are lists of names,
// everything after the first dot is one name. kInvalid: there is no such setting.
Result<JsonPath> parse_config_key(std::string_view key);

}  // namespace skein
