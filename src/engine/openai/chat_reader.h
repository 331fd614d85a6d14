// Reads the stream of a chat completion.
//
// The servers that speak this differ: calls of tools come in pieces or whole, with or without
// index and id, several of them under one index; usage comes at the end or never; thoughts are
// called by two names. What they agree on is "[DONE]": a stream without it was cut off.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/json.h"
#include "engine/api_stream.h"
#include "engine/turn_builder.h"

namespace skein {

class ChatReader : public StreamReader {
 public:
  explicit ChatReader(EngineSink& sink) : builder_(sink) {}

  Result<bool> take(const SseEvent& event) override;
  bool has_told() const override { return builder_.has_told(); }
  // Once the response is complete.
  EngineTurn& turn() { return builder_.turn(); }

 private:
  struct Call {
    std::optional<std::int64_t> index;
    std::string id;
    std::string name;
    std::string input;
  };

  void take_usage(RawJson usage);
  Result<void> take_choice(RawJson choice);
  Result<void> take_delta(RawJson delta);
  Result<void> take_call(RawJson json);
  Call& call_of(std::optional<std::int64_t> index, const std::string& id, const std::string& name);
  Result<bool> finish();

  TurnBuilder builder_;
  std::vector<Call> calls_;
  std::string finish_reason_;
  bool refused_ = false;
};

}  // namespace skein
