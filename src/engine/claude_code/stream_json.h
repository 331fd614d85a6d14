// Reads what Claude Code prints with --output-format stream-json: a JSON object a line.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "core/json.h"
#include "skein/engine.h"

namespace skein {

// Tells a sink what happens, and keeps how it ended. Lines that are not JSON, and of kinds that are
// not known, are passed over, and so is what subagents do among themselves. Not thread-safe.
class StreamJsonReader {
 public:
  explicit StreamJsonReader(EngineSink& sink) : sink_(sink) {}

  // Fails when the sink refuses or the response is too large.
  Result<void> take(std::string_view line);

  // Of a turn that failed: whether a new session may help. Nothing was told to the sink then.
  bool session_may_be_dead() const;
  // Whether the last line of a turn came.
  bool has_ended() const { return ended_; }

  // After the end: the turn, or the error that the program reports. Tells the response first, if it
  // has not been told in pieces.
  Result<EngineTurn> finish();

 private:
  void take_system(RawJson object);
  Result<void> take_stream_event(RawJson event);
  Result<void> take_assistant(RawJson message);
  Result<void> take_block(RawJson block, bool synthetic);
  Result<void> take_user(RawJson message);
  Result<void> take_tool_result(RawJson block);
  void take_result(RawJson object);
  void take_usage(RawJson object);

  Result<void> tell_text(std::string_view piece);
  Result<void> tell_narration();

  EngineSink& sink_;
  EngineTurn turn_;
  std::map<std::string, ToolCall> calls_;  // under way, by id
  std::string pending_;    // text since the last tool: the response, or narration before the next
  bool streamed_ = false;  // the text of the message at hand came in pieces
  bool told_ = false;
  bool ended_ = false;

  // Of the last line.
  std::optional<std::string> response_;
  std::optional<std::int64_t> api_status_;
  std::string subtype_;
  std::string errors_;
  bool is_error_ = false;
};

}  // namespace skein
