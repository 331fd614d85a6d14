#include "engine/turn_builder.h"

#include <fmt/format.h>

#include "engine/ending.h"
#include "skein/engines.h"
#include "skein/ids.h"

namespace skein {
namespace {

tl::unexpected<Error> too_much(std::string_view what, std::size_t limit) {
  return fail(ErrorCode::kIo, fmt::format("the response has more than {} {}", limit, what));
}

}  // namespace

Result<void> TurnBuilder::add_text(std::string_view piece) {
  if (piece.empty()) return {};
  if (turn_.text.size() + piece.size() > limits::kMaxEngineTextBytes) {
    return too_much("bytes of text", limits::kMaxEngineTextBytes);
  }
  turn_.text += piece;
  told_ = true;
  if (!sink_.on_text(piece)) return turn_refused();
  return {};
}

Result<void> TurnBuilder::add_thinking(std::string_view piece) {
  if (piece.empty()) return {};
  thinking_bytes_ += piece.size();
  if (thinking_bytes_ > limits::kMaxEngineThinkingBytes) {
    return too_much("bytes of thoughts", limits::kMaxEngineThinkingBytes);
  }
  told_ = true;
  if (!sink_.on_thinking(piece)) return turn_refused();
  return {};
}

Result<void> TurnBuilder::add_call(std::string id, std::string name, std::string_view input) {
  if (turn_.calls.size() >= limits::kMaxEngineToolCalls) {
    return too_much("calls of tools", limits::kMaxEngineToolCalls);
  }
  ToolCall call{.id = std::move(id), .name = std::move(name), .input = {}};
  if (call.id.empty()) call.id = new_call_id();
  const bool blank = input.find_first_not_of(" \t\r\n") == std::string_view::npos;
  auto object = Json::parse_object(blank ? "{}" : input);
  if (object) {
    call.input = std::move(*object);
  } else {
    call.malformed = input;
  }
  turn_.calls.push_back(std::move(call));
  return {};
}

std::string new_call_id() { return fmt::format("call_{:016x}", random_ids().next()); }

}  // namespace skein
