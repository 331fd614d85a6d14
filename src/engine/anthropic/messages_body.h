// A request as the Messages API wants it.
#pragma once

#include <cstdint>
#include <string>

#include "skein/engine.h"

namespace skein {

struct MessagesBodyOptions {
  std::int64_t max_tokens = 8192;  // where the request does not say
  bool cache = true;               // asks the provider to keep what all turns have in common
  Json more{};                     // further fields; an object, or absent
};

// The API knows users and assistants who take turns, beginning with a user, and has results of
// tools in a user's turn, before everything else. So neighbours of one role become one message;
// system messages before the conversation join the system prompt and later ones are a user's,
// marked as what they are. Blank text is left out, which the API refuses.
std::string messages_body(const EngineRequest& request, const MessagesBodyOptions& options);

}  // namespace skein
