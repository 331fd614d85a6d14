// A `postgres://…` URL, taken apart: what is libpq's, and what is ours.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "skein/error.h"

namespace skein::postgres {

// Everything that libpq understands may stand in the URL. Ours, which it never sees:
//   skein_schema=NAME      where the tables are (default skein)
//   skein_timeout_ms=N     how long a call may take, attempts to reach the server included
//   skein_prepare=off      no prepared statements, for poolers that cannot keep them apart
struct Settings {
  struct Parameter {
    std::string name;
    std::string value;
  };
  std::vector<Parameter> connection;  // for libpq
  std::string schema = "skein";
  std::chrono::milliseconds timeout{15'000};
  bool prepare = true;
  bool flush = true;
};

// kInvalid names the part of the URL that is wrong, and never its password.
Result<Settings> parse_settings(std::string_view url);

}  // namespace skein::postgres
