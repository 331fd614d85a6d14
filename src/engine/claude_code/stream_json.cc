#include "engine/claude_code/stream_json.h"

#include "core/json_array.h"
#include "core/json_fields.h"
#include "core/quote.h"
#include "core/redact.h"
#include "core/try.h"
#include "engine/ending.h"
#include "skein/engines.h"

namespace skein {
namespace {

constexpr std::size_t kMaxOpenCalls = 10'000;

std::optional<RawJson> anything(RawJson value) { return value; }

// Events of a subagent carry the call that started it.
bool is_subagents(JsonFields& fields) {
  return fields.take_string("parent_tool_use_id").has_value();
}

// Text, or a list of blocks of which some are text.
std::string text_of(RawJson content) {
  if (auto text = json_to_string(content)) return std::move(*text);
  std::string joined;
  for (const RawJson block : json_elements(content)) {
    if (!block.starts_with('{')) continue;
    JsonFields fields(block);
    const auto text = fields.take_string("text");
    const std::string kind = fields.take_string("type").value_or("?");
    joined += (joined.empty() ? "" : "\n") + (text ? *text : "[" + kind + "]");
  }
  return joined;
}

ErrorCode code_of(std::optional<std::int64_t> status) {
  if (!status) return ErrorCode::kIo;
  if (*status == 404) return ErrorCode::kNotFound;
  if (*status == 429 || *status >= 500) return ErrorCode::kBusy;
  return *status >= 400 ? ErrorCode::kInvalid : ErrorCode::kIo;
}

}  // namespace

Result<void> StreamJsonReader::take(std::string_view line) {
  if (!trim_json(line).starts_with('{') || ended_) return {};
  const auto object = Json::parse_object(line);
  if (!object) return {};
  JsonFields fields(object->text());
  const std::string type = fields.take_string("type").value_or("");
  if (type == "system") {
    take_system(object->text());
  } else if (type == "result") {
    take_result(object->text());
  } else if (is_subagents(fields)) {
    return {};
  } else if (type == "stream_event") {
    return take_stream_event(fields.take_object("event").value_or("{}"));
  } else if (type == "assistant") {
    return take_assistant(fields.take_object("message").value_or("{}"));
  } else if (type == "user") {
    return take_user(fields.take_object("message").value_or("{}"));
  }
  return {};
}

void StreamJsonReader::take_system(RawJson object) {
  JsonFields fields(object);
  if (fields.take_string("subtype") != "init") return;
  turn_.session_id = fields.take_string("session_id");
  turn_.model = fields.take_string("model").value_or("");
}

Result<void> StreamJsonReader::take_stream_event(RawJson event) {
  JsonFields fields(event);
  const std::string type = fields.take_string("type").value_or("");
  if (type == "message_start") streamed_ = false;
  if (type != "content_block_delta") return {};
  JsonFields delta(fields.take_object("delta").value_or("{}"));
  const std::string kind = delta.take_string("type").value_or("");
  if (kind == "text_delta") {
    streamed_ = true;
    return tell_text(delta.take_string("text").value_or(""));
  }
  if (kind == "thinking_delta") {
    const std::string piece = delta.take_string("thinking").value_or("");
    if (piece.empty()) return {};
    told_ = true;
    if (!sink_.on_thinking(piece)) return turn_refused();
  }
  return {};
}

Result<void> StreamJsonReader::take_assistant(RawJson message) {
  JsonFields fields(message);
  // What the program itself says in the model's place, such as an error.
  const bool synthetic = fields.take_string("model") == "<synthetic>";
  const auto content = fields.take<RawJson>("content", anything);
  for (const RawJson block : json_elements(content.value_or("[]"))) {
    SKEIN_TRY(take_block(block, synthetic));
  }
  return {};
}

Result<void> StreamJsonReader::take_block(RawJson block, bool synthetic) {
  if (!block.starts_with('{')) return {};
  JsonFields fields(block);
  const std::string type = fields.take_string("type").value_or("");
  if (type == "text" && !streamed_ && !synthetic) {
    return tell_text(fields.take_string("text").value_or(""));
  }
  if (type != "tool_use") return {};
  ToolCall call{.id = fields.take_string("id").value_or(""),
                .name = fields.take_string("name").value_or(""),
                .input = Json::trusted(std::string(fields.take_object("input").value_or("{}")))};
  if (call.id.empty() || call.name.empty()) return {};
  SKEIN_TRY(tell_narration());
  told_ = true;
  if (!sink_.on_tool_use(call)) return turn_refused();
  if (calls_.size() >= kMaxOpenCalls) {
    return fail(ErrorCode::kIo, "claude has too many tools under way");
  }
  calls_.insert_or_assign(call.id, std::move(call));
  return {};
}

Result<void> StreamJsonReader::take_user(RawJson message) {
  JsonFields fields(message);
  const auto content = fields.take<RawJson>("content", anything);
  for (const RawJson block : json_elements(content.value_or("[]"))) {
    SKEIN_TRY(take_tool_result(block));
  }
  return {};
}

Result<void> StreamJsonReader::take_tool_result(RawJson block) {
  if (!block.starts_with('{')) return {};
  JsonFields fields(block);
  if (fields.take_string("type") != "tool_result") return {};
  const auto found = calls_.find(fields.take_string("tool_use_id").value_or(""));
  if (found == calls_.end()) return {};
  const ToolCall call = std::move(found->second);
  calls_.erase(found);
  const ToolResult result{text_of(fields.take<RawJson>("content", anything).value_or("\"\"")),
                          fields.take_bool("is_error").value_or(false)};
  if (!sink_.on_tool_result(call, result)) return turn_refused();
  return {};
}

void StreamJsonReader::take_result(RawJson object) {
  JsonFields fields(object);
  ended_ = true;
  is_error_ = fields.take_bool("is_error").value_or(false);
  subtype_ = fields.take_string("subtype").value_or("");
  response_ = fields.take_string("result");
  api_status_ = fields.take_int("api_error_status");
  for (const auto& error : fields.take_strings("errors").value_or(std::vector<std::string>())) {
    errors_ += (errors_.empty() ? "" : "; ") + error;
  }
  if (auto session = fields.take_string("session_id")) turn_.session_id = std::move(session);
  const std::string reason = fields.take_string("stop_reason").value_or("");
  turn_.end = reason == "max_tokens" ? TurnEnd::kLength
              : reason == "refusal"  ? TurnEnd::kRefused
                                     : TurnEnd::kDone;
  take_usage(object);
}

void StreamJsonReader::take_usage(RawJson object) {
  JsonFields fields(object);
  EngineUsage& usage = turn_.usage;
  usage.turns = fields.take_int("num_turns");
  usage.cost_usd = fields.take<double>("total_cost_usd", json_to_double);
  // A resumed session counts its costs from its beginning; these are the turn's own.
  if (const auto models = fields.take_object("model_usage_since_last_result")) {
    double cost = 0;
    const JsonFields each(*models);
    for (const JsonFields::Field& model : each.others()) {
      if (!model.value.starts_with('{')) continue;
      cost += JsonFields(model.value).take<double>("costUSD", json_to_double).value_or(0);
    }
    usage.cost_usd = cost;
  }
  JsonFields tokens(fields.take_object("usage").value_or("{}"));
  if (const auto input = tokens.take_int("input_tokens")) {
    usage.input_tokens = *input + tokens.take_int("cache_creation_input_tokens").value_or(0);
  }
  usage.output_tokens = tokens.take_int("output_tokens");
  usage.cache_read_tokens = tokens.take_int("cache_read_input_tokens");
}

bool StreamJsonReader::session_may_be_dead() const {
  if (told_) return false;
  if (!ended_) return true;
  if (subtype_.starts_with("error_max_")) return false;
  // The provider refuses what is in the session, or the program has no such session. Any other
  // status would be the same without it.
  return !api_status_ || *api_status_ == 400 || *api_status_ == 413;
}

Result<EngineTurn> StreamJsonReader::finish() {
  if (is_error_ || (!subtype_.empty() && subtype_ != "success")) {
    std::string what = response_.value_or("");
    if (what.empty()) what = errors_;
    what = what.empty() ? subtype_ : excerpt(what, 1000);
    redact_text(what);
    if (turn_.usage.is_something()) sink_.on_spent(turn_.usage, turn_.model);
    return fail(code_of(api_status_), "claude: " + what);
  }
  if (pending_.empty() && response_ && !response_->empty()) SKEIN_TRY(tell_text(*response_));
  turn_.text = response_ ? std::move(*response_) : std::move(pending_);
  return std::move(turn_);
}

Result<void> StreamJsonReader::tell_text(std::string_view piece) {
  if (piece.empty()) return {};
  if (pending_.size() + piece.size() > limits::kMaxEngineTextBytes) {
    return fail(ErrorCode::kIo, "the response has more than " +
                                    std::to_string(limits::kMaxEngineTextBytes) + " bytes of text");
  }
  pending_ += piece;
  told_ = true;
  if (!sink_.on_text(piece)) return turn_refused();
  return {};
}

Result<void> StreamJsonReader::tell_narration() {
  if (pending_.empty()) return {};
  const std::string narration = std::exchange(pending_, {});
  if (!sink_.on_narration(narration)) return turn_refused();
  return {};
}

}  // namespace skein
