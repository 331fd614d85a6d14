#include "engine/openai/openai.h"

#include <optional>

#include "core/json_array.h"
#include "core/json_object.h"
#include "core/try.h"
#include "engine/conversation.h"
#include "engine/openai/chat_reader.h"
#include "engine/option_problems.h"

namespace skein {
namespace {

struct OpenAiOptions {
  ApiOptions api;
  bool own_endpoint = false;  // not that of OpenAI
  bool include_usage = true;
  std::optional<std::string> max_tokens_field;
};

OpenAiOptions parse_options(const Json& json, std::string_view path,
                            std::vector<FieldProblem>& problems) {
  constexpr std::string_view kUrl = "https://api.openai.com/v1";
  OpenAiOptions options;
  CheckedFields fields(options_text(json), std::string(path), into_problems(problems));
  options.api = take_api_options(
      fields, {.base_url = kUrl,
               .key_variable = "OPENAI_API_KEY",
               .reserved = {"model", "messages", "stream", "stream_options", "tools"}});
  options.own_endpoint = options.api.base_url != kUrl;
  options.include_usage = fields.flag("includeUsage").value_or(true);
  options.max_tokens_field =
      fields.choice("maxTokensField", {"max_tokens", "max_completion_tokens"});
  return options;
}

std::string call_json(const ToolCall& call) {
  // What the model wrote goes back as it was, right or wrong.
  const std::string_view input = call.malformed.empty() ? input_object(call) : call.malformed;
  return JsonObject()
      .add_json("id", json_text(call.id))
      .add("type", "function")
      .add_json("function", JsonObject()
                                .add_json("name", json_text(call.name))
                                .add_json("arguments", json_text(input))
                                .str())
      .str();
}

std::string message_json(const EngineMessage& message) {
  JsonObject object;
  object.add("role", to_string(message.role));
  if (!message.calls.empty()) {
    std::vector<std::string> calls;
    for (const ToolCall& call : message.calls) calls.push_back(call_json(call));
    object.add_json("content", message.text.empty() ? "null" : json_text(message.text));
    object.add_json("tool_calls", json_array_of(calls));
    return object.str();
  }
  object.add_json("content", json_text(message.text));
  if (message.role == Role::kTool) object.add_json("tool_call_id", json_text(message.tool_call_id));
  return object.str();
}

std::string tool_json(const ToolDefinition& tool) {
  return JsonObject()
      .add("type", "function")
      .add_json("function", JsonObject()
                                .add_json("name", json_text(tool.name))
                                .add_json("description", json_text(tool.description))
                                .add_json("parameters", input_schema(tool))
                                .str())
      .str();
}

std::string body_of(const EngineRequest& request, const OpenAiOptions& options) {
  std::vector<std::string> messages;
  if (!request.system.empty()) {
    messages.push_back(message_json({.role = Role::kSystem, .text = request.system}));
  }
  for (const EngineMessage& message : well_formed(request.messages)) {
    messages.push_back(message_json(message));
  }
  JsonObject body;
  body.add_json("model", json_text(request.model));
  body.add_json("messages", json_array_of(messages));
  body.add("stream", true);
  if (options.include_usage) {
    body.add_json("stream_options", JsonObject().add("include_usage", true).str());
  }
  if (!request.tools.empty()) {
    std::vector<std::string> tools;
    for (const ToolDefinition& tool : request.tools) tools.push_back(tool_json(tool));
    body.add_json("tools", json_array_of(tools));
  }
  if (request.max_output_tokens) {
    // The newer name is OpenAI's own.
    const std::string usual = options.own_endpoint ? "max_tokens" : "max_completion_tokens";
    body.add(options.max_tokens_field.value_or(usual),
             static_cast<std::uint64_t>(*request.max_output_tokens));
  }
  add_members(body, options.api.request);
  return body.str();
}

class OpenAiEngine : public Engine {
 public:
  std::string_view name() const override { return "openai"; }
  bool is_agent() const override { return false; }

  Result<EngineTurn> run(const EngineRequest& request, EngineSink& sink,
                         std::stop_token stop) override {
    std::vector<FieldProblem> problems;
    const OpenAiOptions options = parse_options(request.options, "options", problems);
    SKEIN_TRY(no_problems(problems));
    if (request.model.empty()) return fail(ErrorCode::kInvalid, "openai needs a model");
    SKEIN_ASSIGN(const std::string key, key_from(options.api.key_variable, options.api.base_url));
    ApiCall call{.path = "/chat/completions", .body = body_of(request, options), .key = key};
    if (!key.empty()) call.headers.push_back({"authorization", "Bearer " + key});
    return stream_turn<ChatReader>(client_, options.api, call, sink, stop);
  }

 private:
  HttpClient client_;
};

}  // namespace

std::shared_ptr<Engine> make_openai_engine() { return std::make_shared<OpenAiEngine>(); }

std::vector<FieldProblem> check_openai_options(const Json& options, std::string_view path) {
  std::vector<FieldProblem> problems;
  parse_options(options, path, problems);
  return problems;
}

}  // namespace skein
