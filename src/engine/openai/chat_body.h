// A request as the Chat Completions API wants it.
#pragma once

#include <string>

#include "skein/engine.h"

namespace skein {

struct ChatBodyOptions {
  bool include_usage = true;                    // asks for the tokens that a turn used
  std::string max_tokens_field = "max_tokens";  // what the limit of a response is called
  Json more{};                                  // further fields; an object, or absent
};

std::string chat_body(const EngineRequest& request, const ChatBodyOptions& options);

}  // namespace skein
