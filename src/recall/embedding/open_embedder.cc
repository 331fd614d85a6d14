#include <algorithm>

#include "core/quote.h"
#include "core/secret_names.h"
#include "core/try.h"
#include "recall/embedding/checks.h"
#include "recall/embedding/model_files.h"
#include "skein/embedder.h"

namespace skein {
namespace {

constexpr std::string_view kEndpoint = "openai:";
constexpr std::string_view kKeyVariable = "?keyVariable=";

Result<std::unique_ptr<Embedder>> open_known(const KnownModel& model,
                                             LocalEmbedderOptions options) {
  options.model = model.name;
  return open_local_embedder(options);
}

// The same, where every byte of the files was looked at.
Result<std::unique_ptr<Embedder>> open_verified(const KnownModel& model,
                                                const LocalEmbedderOptions& options) {
  SKEIN_ASSIGN(auto embedder, open_known(model, options));
  SKEIN_ASSIGN(const ModelFiles files, find_model_files(model, options));
  SKEIN_TRY(read_verified(files.tokenizer, model.tokenizer_sha256));
  SKEIN_TRY(read_verified(files.weights, model.weights_sha256));
  return embedder;
}

OpenedEmbedder open_best(const LocalEmbedderOptions& options) {
  OpenedEmbedder opened;
  for (const KnownModel& model : known_models()) {
    Result<std::unique_ptr<Embedder>> embedder = open_verified(model, options);
    if (embedder.has_value()) {
      opened.embedder = std::move(*embedder);
      if (!opened.notes.empty()) opened.notes.push_back("using " + std::string(model.name));
      return opened;
    }
    opened.notes.push_back(std::move(embedder).error().message);
  }
  opened.notes.emplace_back("there is no model: search is by words alone");
  return opened;
}

bool names(std::string_view choice, const KnownModel& model) {
  return choice == model.choice || choice == model.name;
}

struct EndpointChoice {
  std::string url;
  std::string key_variable;
  std::string model;
};

Result<EndpointChoice> parse_endpoint(std::string_view choice) {
  const std::size_t hash = choice.find('#');
  if (!choice.starts_with(kEndpoint) || hash == std::string_view::npos) {
    return fail(ErrorCode::kInvalid,
                "an embedder is auto, none, bge-small, minilm, openai:URL#MODEL or "
                "openai:URL?keyVariable=NAME#MODEL, not " +
                    quote(choice));
  }
  EndpointChoice endpoint;
  endpoint.model = choice.substr(hash + 1);
  endpoint.url = choice.substr(kEndpoint.size(), hash - kEndpoint.size());
  const std::size_t query = endpoint.url.find(kKeyVariable);
  if (query == std::string::npos) return endpoint;
  endpoint.key_variable = endpoint.url.substr(query + kKeyVariable.size());
  endpoint.url.resize(query);
  if (is_variable_name(endpoint.key_variable)) return endpoint;
  return fail(ErrorCode::kInvalid,
              "keyVariable of an embedder must be the name of an environment variable, and not the "
              "key");
}

Result<OpenedEmbedder> opened(Result<std::unique_ptr<Embedder>> embedder) {
  SKEIN_ASSIGN(auto made, std::move(embedder));
  return OpenedEmbedder{.embedder = std::move(made), .notes = {}};
}

}  // namespace

Result<Vector> Embedder::embed_one(const std::string& text, EmbedKind kind) {
  SKEIN_ASSIGN(std::vector<Vector> vectors, embed(std::span(&text, 1), kind));
  return std::move(vectors.front());
}

Result<OpenedEmbedder> open_embedder(std::string_view choice, const EmbedderOptions& options) {
  if (choice == "none") return OpenedEmbedder{};
  if (choice == "auto") return open_best(options.local);
  for (const KnownModel& model : known_models()) {
    if (names(choice, model)) return opened(open_known(model, options.local));
  }
  SKEIN_ASSIGN(const EndpointChoice named, parse_endpoint(choice));
  EndpointEmbedderOptions endpoint = options.endpoint;
  endpoint.url = named.url;
  endpoint.model = named.model;
  endpoint.key_variable = named.key_variable;
  return opened(open_endpoint_embedder(endpoint));
}

Result<void> check_embedder_choice(std::string_view choice) {
  if (choice == "none" || choice == "auto") return {};
  const auto models = known_models();
  if (std::any_of(models.begin(), models.end(),
                  [&](const KnownModel& model) { return names(choice, model); })) {
    return {};
  }
  SKEIN_ASSIGN(const EndpointChoice named, parse_endpoint(choice));
  EndpointEmbedderOptions endpoint;
  endpoint.url = named.url;
  endpoint.model = named.model;
  return check_endpoint(endpoint);
}

}  // namespace skein
