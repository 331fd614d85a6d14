// Shapes that have names: what /v1 gives, and what clients have types for.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "http/v1/shapes.h"

namespace skein::http::v1 {

using NamedShapes = std::vector<std::pair<std::string, Shape>>;

// All of them.
NamedShapes named_shapes();

// A page of a list: {"<name>":[…],"next":…}.
Shape page(const std::string& name, const Shape& item, std::vector<Member> more = {});

void add_work_shapes(NamedShapes& shapes);  // items, sessions, checkpoints
void add_run_shapes(NamedShapes& shapes);   // runs, usage, tasks, triggers, agents

}  // namespace skein::http::v1
