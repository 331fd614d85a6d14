// The answer of list_threads, kept for as long as nothing changed that it was made of.
#pragma once

#include <functional>
#include <mutex>
#include <optional>
#include <string>

#include "core/file.h"
#include "mcp/workspace.h"

namespace skein::mcp {

// Agents ask what is open again and again, and little happens in between. Thread-safe.
class KeptListing {
 public:
  struct Made {
    std::string text;
    std::string json;  // an object whose last member, "performance", is left out, and not closed
  };

  // The one that is kept, if the file of items and the store are as they were when it was made;
  // else what `make` makes.
  Result<Made> get(Workspace& workspace, Desk& desk, const std::function<Result<Made>()>& make);

 private:
  struct Kept {
    Made made;
    std::optional<FileStamp> file;
    Store* store = nullptr;
    std::string cursor;
  };

  std::mutex mutex_;
  std::optional<Kept> kept_;  // under mutex_
};

}  // namespace skein::mcp
