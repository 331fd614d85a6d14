// An engine over the Messages API.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "skein/engines.h"

namespace skein {

std::shared_ptr<Engine> make_anthropic_engine();
std::vector<FieldProblem> check_anthropic_options(const Json& options, std::string_view path);

}  // namespace skein
