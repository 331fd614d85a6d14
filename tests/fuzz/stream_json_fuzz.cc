// What a program prints in the place of Claude Code: never more than it said is told, and no line
// is too odd.

#include "core/json.h"
#include "core/line_buffer.h"
#include "engine/claude_code/stream_json.h"
#include "fuzz/support/check.h"

namespace {

using namespace skein;

class Listener : public EngineSink {
 public:
  bool on_text(std::string_view piece) override { return tell(piece); }
  bool on_thinking(std::string_view piece) override { return tell(piece); }
  bool on_narration(std::string_view text) override { return tell(text); }
  bool on_tool_use(const ToolCall& call) override {
    FUZZ_CHECK(!call.id.empty() && !call.name.empty());
    FUZZ_CHECK(call.input.kind() == Json::Kind::kObject);
    FUZZ_CHECK(validate_json(call.input.text(), "input").has_value());
    return true;
  }
  bool on_tool_result(const ToolCall& call, const ToolResult& result) override {
    FUZZ_CHECK(!call.id.empty());
    FUZZ_CHECK(valid_utf8(result.text));
    return true;
  }

 private:
  static bool tell(std::string_view text) {
    FUZZ_CHECK(!text.empty());
    FUZZ_CHECK(valid_utf8(text));
    return true;
  }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view text = fuzz::as_text(data, size);
  Listener listener;
  StreamJsonReader reader(listener);
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    FUZZ_CHECK(reader.take(text.substr(0, end)).has_value());
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  if (!reader.has_ended()) return 0;
  const auto turn = reader.finish();
  FUZZ_CHECK(valid_utf8(turn ? turn->text : turn.error().message));
  return 0;
}
