// The session that a caller names.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "skein/work_sessions.h"

namespace skein {

// Whose deed something is, and in which project it happens.
struct NamedSession {
  std::optional<std::string> id;
  std::optional<std::string> project;  // of a working session
};

// None named: the newest open one of the place, or nothing. kNotFound: neither the store nor the
// hooks of this workspace know the session that is named, unless `may_be_unknown`. kInvalid: its id
// is malformed.
Result<NamedSession> find_named_session(Store& store, const WorkPlace& place,
                                        const std::optional<std::string>& id, bool may_be_unknown);

// kNotFound; names the sessions that are open here.
Error unknown_session(std::string_view id, const std::vector<WorkSession>& open);

}  // namespace skein
