// Passes an error on to the caller.
#pragma once

#include <utility>

#include "skein/error.h"

#define SKEIN_CONCAT_INNER(a, b) a##b
#define SKEIN_CONCAT(a, b) SKEIN_CONCAT_INNER(a, b)

// SKEIN_TRY(expression): returns its error, if it has one.
#define SKEIN_TRY(...)                                                      \
  do {                                                                      \
    if (auto skein_result = (__VA_ARGS__); !skein_result.has_value())       \
      return tl::unexpected<skein::Error>(std::move(skein_result).error()); \
  } while (false)

// SKEIN_ASSIGN(auto value, expression): returns its error, or declares the value.
#define SKEIN_ASSIGN(declaration, ...) \
  SKEIN_ASSIGN_INNER(SKEIN_CONCAT(skein_result_, __LINE__), declaration, __VA_ARGS__)
#define SKEIN_ASSIGN_INNER(result, declaration, ...)                                       \
  auto result = (__VA_ARGS__);                                                             \
  if (!result.has_value()) return tl::unexpected<skein::Error>(std::move(result).error()); \
  declaration = std::move(result).value()
