// Which programs a folder belongs to.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "api/transfer/folders/source_folder.h"

namespace skein {

// A folder may be all of these at once.
struct FolderKind {
  bool nova = false;         // agent-store/, tasks/tasks.json, triggers.json, agents/ID/…
  bool agent_store = false;  // the newer layout of it
  // The folder of gitmem from this one: ".gitmem", or "" if this is one itself.
  std::optional<std::string> gitmem{};
  bool hq = false;  // workspace/threads/ or workspace/checkpoints/

  bool any() const { return nova || gitmem || hq; }
  // "Nova workspace (agent-store), HQ folder"; empty if it is none of them.
  std::string text() const;
};

FolderKind kind_of_folder(const SourceFolder& folder);

}  // namespace skein
