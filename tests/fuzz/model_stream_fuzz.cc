// Streams of models: whatever comes, what is told is text, calls are whole or marked as malformed,
// and nothing is told after the end.

#include "engine/anthropic/messages_reader.h"
#include "engine/openai/chat_reader.h"
#include "fuzz/support/check.h"

namespace {

using namespace skein;

class Listener : public EngineSink {
 public:
  bool on_text(std::string_view piece) override {
    text += piece;
    return tell(piece);
  }
  bool on_thinking(std::string_view piece) override { return tell(piece); }
  bool on_narration(std::string_view) override { std::abort(); }
  bool on_tool_use(const ToolCall&) override { std::abort(); }
  bool on_tool_result(const ToolCall&, const ToolResult&) override { std::abort(); }

  std::string text;

 private:
  static bool tell(std::string_view piece) {
    FUZZ_CHECK(!piece.empty());
    FUZZ_CHECK(valid_utf8(piece));
    return true;
  }
};

void check_turn(const EngineTurn& turn, const Listener& listener) {
  FUZZ_CHECK(turn.text == listener.text);
  FUZZ_CHECK((turn.end == TurnEnd::kToolCalls) == !turn.calls.empty());
  for (const ToolCall& call : turn.calls) {
    FUZZ_CHECK(!call.id.empty() && !call.name.empty());
    FUZZ_CHECK(call.input.empty() == !call.malformed.empty());
    FUZZ_CHECK(call.input.empty() || call.input.kind() == Json::Kind::kObject);
  }
}

template <class Reader>
void read(std::string_view stream) {
  Listener listener;
  Reader reader(listener);
  SseParser parser(1 << 16);
  Result<bool> taken = true;
  const auto fed = parser.feed(stream, [&](const SseEvent& event) {
    taken = reader.take(event);
    return taken.has_value() && *taken;
  });
  if (!fed) return;
  if (!taken) {
    FUZZ_CHECK(valid_utf8(taken.error().message));
    return;
  }
  FUZZ_CHECK(reader.has_told() || listener.text.empty());
  if (!*taken) check_turn(reader.turn(), listener);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = fuzz::as_text(data, size);
  read<ChatReader>(text);
  read<MessagesReader>(text);
  return 0;
}
