// Where work items and working sessions of a workspace are.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "api/settings.h"
#include "skein/work_items.h"

namespace skein {

// The project is that of the configuration, else the name of the repository that the workspace was
// cloned from, else "default": the same on every machine, wherever the folder lies there.
WorkPlace work_place(const Settings& settings);

// A notice for a command whose environment names a session (SKEIN_SESSION) that neither the store
// nor the hooks of the workspace know: the hook sets the variable before it records the session,
// which can fail. Nothing, if the session is known or its id is malformed.
std::optional<std::string> unknown_session_notice(Store& store, const WorkPlace& place,
                                                  const std::string& id);

// "skein" of "git@example.org:team/skein.git"; empty, if there is none.
std::string repository_name(std::string_view remote_url);

}  // namespace skein
