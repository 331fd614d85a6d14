// For calls of an engine beside runs, of which only the response counts.
#pragma once

#include "skein/engine.h"

namespace skein {

// Hears nothing.
class QuietSink : public EngineSink {
 public:
  bool on_text(std::string_view /*piece*/) override { return true; }
  bool on_thinking(std::string_view /*piece*/) override { return true; }
  bool on_narration(std::string_view /*text*/) override { return true; }
  bool on_tool_use(const ToolCall& /*call*/) override { return true; }
  bool on_tool_result(const ToolCall& /*call*/, const ToolResult& /*result*/) override {
    return true;
  }
};

}  // namespace skein
