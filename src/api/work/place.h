// Where work items and working sessions of a workspace are.
#pragma once

#include "api/settings.h"
#include "skein/work_items.h"

namespace skein {

WorkPlace work_place(const Settings& settings);

}  // namespace skein
