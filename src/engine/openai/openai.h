// An engine over any endpoint that speaks Chat Completions.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "skein/engines.h"

namespace skein {

std::shared_ptr<Engine> make_openai_engine();
std::vector<FieldProblem> check_openai_options(const Json& options, std::string_view path);

}  // namespace skein
