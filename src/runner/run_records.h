// Where the records of runs are.
#pragma once

#include <string>
#include <string_view>

namespace skein {

inline constexpr std::string_view kRunCollection = "runs";
inline constexpr std::string_view kOpenCollection = "runs_open";
inline constexpr std::string_view kStopCollection = "run_stops";

// The run id ends in its thread's id, which comes first.
inline std::string run_key(std::string_view run_id) {
  return std::string(run_id.substr(run_id.size() - 12)).append("/").append(run_id);
}

}  // namespace skein
