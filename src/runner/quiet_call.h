// Calls of an engine beside runs, of which only the response and the cost count.
#pragma once

#include <functional>
#include <stop_token>
#include <string_view>

#include "skein/engine.h"

namespace skein {

using OnCost = std::function<void(const EngineCost& cost)>;

// One turn. `on_cost` is called once with what it cost, failed attempts included, also where the
// turn fails; not where no cost is known.
Result<EngineTurn> quiet_call(Engine& engine, const EngineRequest& request, const OnCost& on_cost,
                              const std::stop_token& stop);

}  // namespace skein
