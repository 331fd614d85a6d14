// The steps of a task as callers and models give them.
#pragma once

#include <vector>

#include "core/json_fields.h"
#include "skein/tasks.h"

namespace skein {

// The member "steps". A caller links no tasks: "taskId" is ignored.
std::vector<TaskStep> take_given_steps(JsonFields& fields);

}  // namespace skein
