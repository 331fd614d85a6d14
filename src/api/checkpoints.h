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

// A session as a caller names it; no id, or an empty one: the newest that is open here.
struct SessionChoice {
  // NOLINTNEXTLINE(google-explicit-constructor): an id alone is one that somebody typed.
  SessionChoice(std::optional<std::string> typed = {}) : id(std::move(typed)) {}
  SessionChoice(std::optional<std::string> named, bool environment)
      : id(std::move(named)), from_environment(environment) {}

  std::optional<std::string> id;
  bool from_environment = false;  // an unknown one is a notice, and no session
};

// A checkpoint of a session, with the commits since it began; without any, of none. kNotFound: the
// named session is unknown.
Result<Checkpoint> make_checkpoint(const Settings& settings, Store& store, NewCheckpoint wanted,
                                   const SessionChoice& session, Notice notice = {});
// The same without an open store. A store that does not exist is not created.
Result<Checkpoint> make_checkpoint(const Settings& settings, NewCheckpoint wanted,
                                   const SessionChoice& session, Notice notice = {});

// A checkpoint and all that one needs to go on from it.
struct Resumed {
  struct OpenItem {
    std::string id;
    std::string text;
  };

  Checkpoint checkpoint;
  CheckpointDrift drift;
  std::vector<OpenItem> open_items;
  std::optional<std::string> project;  // of the session, whose items these are; none: of all
};

// `part` as in Checkpoints::get; empty: the newest that somebody asked for. The items are those of
// the session's project.
Result<Resumed> resume_checkpoint(const Settings& settings, std::string_view part,
                                  const SessionChoice& session = {}, Notice notice = {});
// The same for whoever has the store open.
Result<Resumed> resume_checkpoint(const Settings& settings, Store& store, std::string_view part,
                                  const SessionChoice& session = {}, Notice notice = {});

// What automatic checkpoints were purged, and how many sessions the hooks forgot.
struct PurgedCheckpoints {
  std::vector<CheckpointEntry> checkpoints;
  std::size_t sessions = 0;
};
Result<PurgedCheckpoints> purge_checkpoints(const Settings& settings, const PurgeOptions& options);

}  // namespace skein
