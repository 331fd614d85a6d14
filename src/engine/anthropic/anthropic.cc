#include "engine/anthropic/anthropic.h"

#include "core/try.h"
#include "engine/anthropic/messages_body.h"
#include "engine/anthropic/messages_reader.h"
#include "engine/option_problems.h"

namespace skein {
namespace {

struct AnthropicOptions {
  ApiOptions api;
  bool cache = true;
};

AnthropicOptions parse_options(const Json& json, std::string_view path,
                               std::vector<FieldProblem>& problems) {
  AnthropicOptions options;
  CheckedFields fields(options_text(json), std::string(path), into_problems(problems));
  options.api = take_api_options(
      fields, {.base_url = "https://api.anthropic.com",
               .key_variable = "ANTHROPIC_API_KEY",
               .reserved = {"model", "messages", "stream", "system", "tools", "max_tokens"}});
  options.cache = fields.flag("cache").value_or(true);
  return options;
}

class AnthropicEngine : public Engine {
 public:
  std::string_view name() const override { return "anthropic"; }
  bool is_agent() const override { return false; }

  Result<EngineTurn> run(const EngineRequest& request, EngineSink& sink,
                         std::stop_token stop) override {
    std::vector<FieldProblem> problems;
    const AnthropicOptions options = parse_options(request.options, "options", problems);
    SKEIN_TRY(no_problems(problems));
    if (request.model.empty()) return fail(ErrorCode::kInvalid, "anthropic needs a model");
    SKEIN_ASSIGN(const std::string key, key_from(options.api.key_variable, options.api.base_url));
    ApiCall call{
        .path = "/v1/messages",
        .headers = {{"anthropic-version", "2023-06-01"}},
        .body = messages_body(request, {.cache = options.cache, .more = options.api.request}),
        .key = key};
    if (!key.empty()) call.headers.push_back({"x-api-key", key});
    return stream_turn<MessagesReader>(client_, options.api, call, sink, stop);
  }

 private:
  HttpClient client_;
};

}  // namespace

std::shared_ptr<Engine> make_anthropic_engine() { return std::make_shared<AnthropicEngine>(); }

std::vector<FieldProblem> check_anthropic_options(const Json& options, std::string_view path) {
  std::vector<FieldProblem> problems;
  parse_options(options, path, problems);
  return problems;
}

}  // namespace skein
