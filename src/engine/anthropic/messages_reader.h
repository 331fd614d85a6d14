// Reads the stream of a message: blocks that begin, grow and end, between a start and a stop.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "core/json.h"
#include "engine/api_stream.h"
#include "engine/turn_builder.h"

namespace skein {

class MessagesReader : public StreamReader {
 public:
  explicit MessagesReader(EngineSink& sink) : builder_(sink) {}

  // Events and blocks of unknown kinds are passed over.
  Result<bool> take(const SseEvent& event) override;
  bool has_told() const override { return builder_.has_told(); }
  // Once the response is complete.
  EngineTurn& turn() { return builder_.turn(); }

 private:
  // A call of a tool whose input is still being written.
  struct Call {
    std::string id;
    std::string name;
    std::string input;  // its pieces
    std::string given;  // what stood there at the beginning, for when no piece comes
  };

  void take_message(RawJson message);
  void take_usage(RawJson usage);
  Result<void> begin_block(std::int64_t index, RawJson block);
  Result<void> grow_block(std::int64_t index, RawJson delta);
  Result<void> end_block(std::int64_t index);
  Result<bool> finish();

  TurnBuilder builder_;
  std::map<std::int64_t, Call> open_calls_;  // by the index of their block
  std::string stop_reason_;
};

// The code for a kind of error that the API names.
ErrorCode messages_error_code(std::string_view kind);

}  // namespace skein
