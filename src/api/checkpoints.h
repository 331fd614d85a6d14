// Checkpoints as the faces offer them: in the workspace of the settings, joined with work items.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/settings.h"
#include "skein/checkpoints.h"

namespace skein {

using Notice = std::function<void(const std::string&)>;

Checkpoints workspace_checkpoints(const Settings& settings, Notice notice = {});

// A checkpoint of a session, with the commits since it began: the session that is named, else the
// newest that is open here. Without any, of none. kNotFound: the named session is unknown.
Result<Checkpoint> make_checkpoint(const Settings& settings, Store& store, NewCheckpoint wanted,
                                   const std::optional<std::string>& session, Notice notice = {});
// The same without an open store. A store that does not exist is not created.
Result<Checkpoint> make_checkpoint(const Settings& settings, NewCheckpoint wanted,
                                   const std::optional<std::string>& session, Notice notice = {});

// A checkpoint and all that one needs to go on from it.
struct Resumed {
  struct OpenItem {
    std::string id;
    std::string text;
  };

  Checkpoint checkpoint;
  CheckpointDrift drift;
  std::vector<OpenItem> open_items;
};

// `part` as in Checkpoints::get; empty: the newest that somebody asked for.
Result<Resumed> resume_checkpoint(const Settings& settings, std::string_view part,
                                  Notice notice = {});
// The same for whoever has the store open.
Result<Resumed> resume_checkpoint(const Settings& settings, Store& store, std::string_view part,
                                  Notice notice = {});

// What automatic checkpoints were purged, and how many sessions the hooks forgot.
struct PurgedCheckpoints {
  std::vector<CheckpointEntry> checkpoints;
  std::size_t sessions = 0;
};
Result<PurgedCheckpoints> purge_checkpoints(const Settings& settings, const PurgeOptions& options);

}  // namespace skein
