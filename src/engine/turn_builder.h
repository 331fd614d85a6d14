// A turn as it grows from the pieces of a stream, within its limits.
#pragma once

#include <string>
#include <string_view>

#include "skein/engine.h"

namespace skein {

// Not thread-safe. Each step fails when the sink refuses or a limit is reached.
class TurnBuilder {
 public:
  explicit TurnBuilder(EngineSink& sink) : sink_(sink) {}

  Result<void> add_text(std::string_view piece);
  Result<void> add_thinking(std::string_view piece);
  // `input` is what the model wrote; nothing stands for an empty object.
  Result<void> add_call(std::string id, std::string name, std::string_view input);

  // Whether anything was told to the sink.
  bool has_told() const { return told_; }
  EngineTurn& turn() { return turn_; }

 private:
  EngineSink& sink_;
  EngineTurn turn_;
  std::size_t thinking_bytes_ = 0;
  bool told_ = false;
};

// For calls to which the provider gave no id.
std::string new_call_id();

}  // namespace skein
