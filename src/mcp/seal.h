// State that a client keeps for us between two requests, and cannot change.
#pragma once

#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "mcp/workspace.h"

namespace skein::mcp {

// The key is in the store, so that every server on it opens what another sealed. A key that came
// with a store from elsewhere is replaced. Thread-safe.
class Seal {
 public:
  explicit Seal(Workspace& workspace) : workspace_(workspace) {}

  // `purpose` is what it is good for: the request that it must come back with.
  Result<std::string> close(std::string_view state, std::string_view purpose);
  // kInvalid: we did not seal it, not for this, or too long ago.
  Result<std::string> open(std::string_view sealed, std::string_view purpose);

 private:
  Result<std::string> key();

  Workspace& workspace_;
  std::mutex mutex_;
  std::string key_;  // under mutex_; empty: not known yet
};

}  // namespace skein::mcp
