// Working sessions as documents of the store.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "skein/work_sessions.h"
#include "work/item_formats.h"

namespace skein {

struct StoredSession {
  WorkSession session;
  Version version = 0;  // 0: it is not stored yet
};

Result<std::optional<StoredSession>> read_session(Store& store, std::string_view id);

// Open sessions of a place, the newest first.
Result<std::vector<StoredSession>> read_open_sessions(Store& store, const WorkPlace& place,
                                                      std::size_t most = 20);
Result<std::optional<WorkSession>> newest_open_session(Store& store, const WorkPlace& place);

// The last sessions of the project that were closed, the newest first: five at most, and none that
// was closed more than 14 days ago.
Result<std::vector<WorkSession>> read_closed_sessions(Store& store, const std::string& project,
                                                      Timestamp now);
// The newest one, however old.
Result<std::optional<WorkSession>> read_last_closed_session(Store& store,
                                                            const std::string& project);
inline constexpr std::size_t kCarriedSessions = 5;
inline constexpr std::int64_t kCarriedUs = 14LL * 86'400 * 1'000'000;

// The lists of those sessions, merged.
ItemList carried_items(const std::vector<WorkSession>& closed);

Result<void> write_started(Store& store, const StoredSession& session);

// Grows with every session of the project that is closed.
Result<Version> project_version(Store& store, const std::string& project);

// kConflict: the session was changed, or another one of the project was closed since `version`.
Result<void> write_closed(Store& store, const StoredSession& before, const WorkSession& closed,
                          Version version);

}  // namespace skein
