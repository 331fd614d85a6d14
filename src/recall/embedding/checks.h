// What every embedder asks of texts, and promises of vectors.
#pragma once

#include <span>
#include <string>

#include "skein/embedder.h"

namespace skein {

// kInvalid: too many, or one that is not UTF-8.
Result<void> check_texts(std::span<const std::string> texts);

// kInvalid: a limit, or a rule about the URL.
Result<void> check_endpoint(const EndpointEmbedderOptions& options);

// Makes its length 1. False if it has none: no dimensions, only zeros, or not numbers.
bool make_unit(Vector& vector);

}  // namespace skein
