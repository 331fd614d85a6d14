#include "engine/openai/openai.h"

#include <optional>

#include "core/try.h"
#include "engine/openai/chat_body.h"
#include "engine/openai/chat_reader.h"
#include "engine/option_problems.h"

namespace skein {
namespace {

struct OpenAiOptions {
  ApiOptions api;
  ChatBodyOptions body;
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
  options.body.include_usage = fields.flag("includeUsage").value_or(true);
  // The newer name is OpenAI's own.
  options.body.max_tokens_field =
      fields.choice("maxTokensField", {"max_tokens", "max_completion_tokens"})
          .value_or(options.api.base_url == kUrl ? "max_completion_tokens" : "max_tokens");
  options.body.more = options.api.request;
  return options;
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
    ApiCall call{.path = "/chat/completions", .body = chat_body(request, options.body), .key = key};
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
