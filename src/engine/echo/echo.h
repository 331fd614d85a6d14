// An engine that says what it was told: deterministic, without a network.
//
// The response is the newest user message, told word by word. What it says may also be an order, so
// that everything around an engine can be tried without a model:
//
//   /tool NAME {json}    calls a tool; several such lines call several at once. Once their results
//                        are there, the response is their texts, a line each.
//   /again NAME {json}   calls the tool in every turn, results or not
//   /fail WORDS          fails
//
// Options (src/engine/echo/echo.cc): delayMs, repeat, failAfter, reply, thinking, costUsd.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "skein/engines.h"

namespace skein {

std::shared_ptr<Engine> make_echo_engine();
std::vector<FieldProblem> check_echo_options(const Json& options, std::string_view path);

}  // namespace skein
