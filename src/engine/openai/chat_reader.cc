#include "engine/openai/chat_reader.h"

#include <algorithm>

#include "core/json_array.h"
#include "core/json_fields.h"
#include "core/quote.h"
#include "core/try.h"
#include "skein/engines.h"

namespace skein {
namespace {

// An error in the middle of a stream, which has no status.
tl::unexpected<Error> told_error(RawJson error, std::string_view event) {
  std::int64_t code = 0;
  std::string kind;
  if (error.starts_with('{')) {
    JsonFields fields(error);
    code = fields.take_int("code").value_or(0);
    kind = fields.take_string("type").value_or("") + fields.take_string("code").value_or("");
  }
  const bool busy = code == 429 || code >= 500 || kind.find("rate_limit") != std::string::npos ||
                    kind.find("overloaded") != std::string::npos;
  return fail(busy ? ErrorCode::kBusy : ErrorCode::kIo,
              "the provider ended its response with an error: " + provider_message(event));
}

std::optional<RawJson> anything(RawJson value) {
  return value == "null" ? std::nullopt : std::optional(value);
}

}  // namespace

Result<bool> ChatReader::take(const SseEvent& event) {
  if (trim_json(event.data) == "[DONE]") return finish();
  SKEIN_ASSIGN(const Json object, event_object(event));
  JsonFields fields(object.text());
  if (const auto error = fields.take<RawJson>("error", anything)) {
    return told_error(*error, object.text());
  }
  if (auto model = fields.take_string("model"); model && !model->empty()) {
    builder_.turn().model = std::move(*model);
  }
  if (const auto usage = fields.take_object("usage")) take_usage(*usage);
  if (const auto choices = fields.take<RawJson>("choices", anything)) {
    for (const RawJson choice : json_elements(*choices)) SKEIN_TRY(take_choice(choice));
  }
  return true;
}

void ChatReader::take_usage(RawJson usage) {
  JsonFields fields(usage);
  EngineUsage& turn = builder_.turn().usage;
  turn.input_tokens = fields.take_int("prompt_tokens");
  turn.output_tokens = fields.take_int("completion_tokens");
  const auto details = fields.take_object("prompt_tokens_details");
  const auto cached = details ? JsonFields(*details).take_int("cached_tokens") : std::nullopt;
  if (!cached || !turn.input_tokens || *cached < 0 || *cached > *turn.input_tokens) return;
  // What was read from a cache is counted apart.
  turn.input_tokens = *turn.input_tokens - *cached;
  turn.cache_read_tokens = cached;
}

Result<void> ChatReader::take_choice(RawJson choice) {
  if (!choice.starts_with('{')) return {};
  JsonFields fields(choice);
  if (fields.take_int("index").value_or(0) != 0) return {};
  if (const auto delta = fields.take_object("delta")) SKEIN_TRY(take_delta(*delta));
  if (auto reason = fields.take_string("finish_reason")) finish_reason_ = std::move(*reason);
  return {};
}

Result<void> ChatReader::take_delta(RawJson delta) {
  JsonFields fields(delta);
  for (const char* name : {"reasoning_content", "reasoning"}) {
    if (const auto piece = fields.take_string(name); piece && !piece->empty()) {
      SKEIN_TRY(builder_.add_thinking(*piece));
      break;
    }
  }
  if (const auto piece = fields.take_string("content")) SKEIN_TRY(builder_.add_text(*piece));
  if (const auto piece = fields.take_string("refusal"); piece && !piece->empty()) {
    refused_ = true;
    SKEIN_TRY(builder_.add_text(*piece));
  }
  if (const auto calls = fields.take<RawJson>("tool_calls", anything)) {
    for (const RawJson call : json_elements(*calls)) SKEIN_TRY(take_call(call));
  }
  return {};
}

Result<void> ChatReader::take_call(RawJson json) {
  if (!json.starts_with('{')) return {};
  JsonFields fields(json);
  const auto index = fields.take_int("index");
  const std::string id = fields.take_string("id").value_or("");
  const auto function = fields.take_object("function");
  JsonFields inside(function.value_or("{}"));
  const std::string name = inside.take_string("name").value_or("");
  if (calls_.size() > limits::kMaxEngineToolCalls) {
    return fail(ErrorCode::kIo, "the response has too many calls of tools");
  }
  Call& call = call_of(index, id, name);
  if (call.id.empty()) call.id = id;
  if (call.name.empty()) call.name = name;
  if (const auto piece = inside.take_string("arguments")) {
    call.input += *piece;
  } else if (const auto whole = inside.take_object("arguments")) {
    call.input = *whole;
  }
  if (call.input.size() <= limits::kMaxToolInputBytes) return {};
  return fail(ErrorCode::kIo, "the input for the tool " + quote(call.name) + " has more than " +
                                  std::to_string(limits::kMaxToolInputBytes) + " bytes");
}

// The call that a piece belongs to: by its id, else by its index, else the last one. A piece with
// another id, or with a name where there is a call with name and input, begins a new one.
ChatReader::Call& ChatReader::call_of(std::optional<std::int64_t> index, const std::string& id,
                                      const std::string& name) {
  const auto same_place = [&](const Call& call) { return !index || call.index == index; };
  if (!id.empty()) {
    const auto same_id = std::find_if(calls_.rbegin(), calls_.rend(),
                                      [&](const Call& call) { return call.id == id; });
    if (same_id != calls_.rend()) return *same_id;
  }
  const auto found = std::find_if(calls_.rbegin(), calls_.rend(), same_place);
  const bool fits = found != calls_.rend() && (id.empty() || found->id.empty()) &&
                    (name.empty() || found->name.empty() || found->input.empty());
  if (fits) return *found;
  calls_.push_back({.index = index, .id = {}, .name = {}, .input = {}});
  return calls_.back();
}

Result<bool> ChatReader::finish() {
  EngineTurn& turn = builder_.turn();
  turn.end = refused_ || finish_reason_ == "content_filter" ? TurnEnd::kRefused
             : finish_reason_ == "length"                   ? TurnEnd::kLength
                                                            : TurnEnd::kDone;
  // What a limit cut off is not to be carried out.
  if (turn.end != TurnEnd::kDone) return false;
  for (Call& call : calls_) {
    if (call.name.empty()) return fail(ErrorCode::kIo, "the response calls a tool without a name");
    SKEIN_TRY(builder_.add_call(std::move(call.id), std::move(call.name), call.input));
  }
  if (!turn.calls.empty()) turn.end = TurnEnd::kToolCalls;
  return false;
}

}  // namespace skein
