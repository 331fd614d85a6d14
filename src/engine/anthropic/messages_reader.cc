#include "engine/anthropic/messages_reader.h"

#include "core/json_fields.h"
#include "core/quote.h"
#include "core/try.h"
#include "skein/engines.h"

namespace skein {
namespace {

tl::unexpected<Error> told_error(RawJson error, std::string_view event) {
  const std::string kind = JsonFields(error).take_string("type").value_or("");
  return fail(messages_error_code(kind),
              "the provider ended its response with an error: " + provider_message(event) +
                  (kind.empty() ? "" : " (" + kind + ")"));
}

}  // namespace

ErrorCode messages_error_code(std::string_view kind) {
  if (kind == "overloaded_error" || kind == "rate_limit_error" || kind == "api_error" ||
      kind == "timeout_error") {
    return ErrorCode::kBusy;
  }
  if (kind == "not_found_error") return ErrorCode::kNotFound;
  return kind.ends_with("_error") ? ErrorCode::kInvalid : ErrorCode::kIo;
}

Result<bool> MessagesReader::take(const SseEvent& event) {
  SKEIN_ASSIGN(const Json object, event_object(event));
  JsonFields fields(object.text());
  const std::string type = fields.take_string("type").value_or(event.type);
  if (type == "error") {
    return told_error(fields.take_object("error").value_or("{}"), object.text());
  }
  if (type == "message_stop") return finish();
  const std::int64_t index = fields.take_int("index").value_or(0);
  if (type == "message_start") {
    take_message(fields.take_object("message").value_or("{}"));
  } else if (type == "content_block_start") {
    SKEIN_TRY(begin_block(index, fields.take_object("content_block").value_or("{}")));
  } else if (type == "content_block_delta") {
    SKEIN_TRY(grow_block(index, fields.take_object("delta").value_or("{}")));
  } else if (type == "content_block_stop") {
    SKEIN_TRY(end_block(index));
  } else if (type == "message_delta") {
    JsonFields delta(fields.take_object("delta").value_or("{}"));
    if (auto reason = delta.take_string("stop_reason")) stop_reason_ = std::move(*reason);
    take_usage(fields.take_object("usage").value_or("{}"));
  }
  return true;
}

void MessagesReader::take_message(RawJson message) {
  JsonFields fields(message);
  builder_.turn().model = fields.take_string("model").value_or("");
  take_usage(fields.take_object("usage").value_or("{}"));
}

// Comes at the start, and once more at the end with what is final.
void MessagesReader::take_usage(RawJson usage) {
  JsonFields fields(usage);
  EngineUsage& turn = builder_.turn().usage;
  if (const auto input = fields.take_int("input_tokens")) {
    turn.input_tokens = *input + fields.take_int("cache_creation_input_tokens").value_or(0);
  }
  if (const auto output = fields.take_int("output_tokens")) turn.output_tokens = output;
  if (const auto read = fields.take_int("cache_read_input_tokens")) turn.cache_read_tokens = read;
}

Result<void> MessagesReader::begin_block(std::int64_t index, RawJson block) {
  JsonFields fields(block);
  const std::string type = fields.take_string("type").value_or("");
  if (type == "text") return builder_.add_text(fields.take_string("text").value_or(""));
  if (type == "thinking") return builder_.add_thinking(fields.take_string("thinking").value_or(""));
  if (type != "tool_use") return {};
  if (open_calls_.size() > limits::kMaxEngineToolCalls) {
    return fail(ErrorCode::kIo, "the response has too many calls of tools");
  }
  Call call{.id = fields.take_string("id").value_or(""),
            .name = fields.take_string("name").value_or(""),
            .input = {},
            .given = std::string(fields.take_object("input").value_or(""))};
  if (call.name.empty()) return fail(ErrorCode::kIo, "the response calls a tool without a name");
  open_calls_.insert_or_assign(index, std::move(call));
  return {};
}

Result<void> MessagesReader::grow_block(std::int64_t index, RawJson delta) {
  JsonFields fields(delta);
  const std::string type = fields.take_string("type").value_or("");
  if (type == "text_delta") return builder_.add_text(fields.take_string("text").value_or(""));
  if (type == "thinking_delta") {
    return builder_.add_thinking(fields.take_string("thinking").value_or(""));
  }
  const auto call = open_calls_.find(index);
  if (type != "input_json_delta" || call == open_calls_.end()) return {};
  call->second.input += fields.take_string("partial_json").value_or("");
  if (call->second.input.size() <= limits::kMaxToolInputBytes) return {};
  return fail(ErrorCode::kIo, "the input for the tool " + quote(call->second.name) +
                                  " has more than " + std::to_string(limits::kMaxToolInputBytes) +
                                  " bytes");
}

Result<void> MessagesReader::end_block(std::int64_t index) {
  const auto found = open_calls_.find(index);
  if (found == open_calls_.end()) return {};
  Call call = std::move(found->second);
  open_calls_.erase(found);
  return builder_.add_call(std::move(call.id), std::move(call.name),
                           call.input.empty() ? call.given : call.input);
}

Result<bool> MessagesReader::finish() {
  EngineTurn& turn = builder_.turn();
  const bool too_long =
      stop_reason_ == "max_tokens" || stop_reason_ == "model_context_window_exceeded";
  turn.end = too_long                    ? TurnEnd::kLength
             : stop_reason_ == "refusal" ? TurnEnd::kRefused
             : turn.calls.empty()        ? TurnEnd::kDone
                                         : TurnEnd::kToolCalls;
  // What a limit cut off is not to be carried out.
  if (turn.end != TurnEnd::kToolCalls) turn.calls.clear();
  return false;
}

}  // namespace skein
