// A model behind an endpoint that speaks OpenAI's /embeddings.
#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstdlib>
#include <optional>
#include <thread>

#include "core/http_client.h"
#include "core/json_array.h"
#include "core/json_fields.h"
#include "core/json_object.h"
#include "core/quote.h"
#include "core/text.h"
#include "core/try.h"
#include "core/url_host.h"
#include "recall/embedding/checks.h"

namespace skein {
namespace {

using std::chrono::milliseconds;

constexpr std::size_t kMaxUrlBytes = 256;
constexpr std::size_t kMaxModelBytes = 200;
constexpr std::size_t kMaxBatch = 2048;
constexpr std::size_t kMaxTries = 20;
constexpr std::size_t kMaxRequestBytes = std::size_t{256} << 10;  // of text
constexpr std::size_t kMaxAnswerBytes = std::size_t{256} << 20;
constexpr milliseconds kLongestWait{30'000};

// Endpoints refuse texts beyond their window, and empty ones. A token has at least one byte.
std::string_view shortened(std::string_view text, std::size_t max_bytes) {
  return text.empty() ? " " : beginning(text, max_bytes);
}

bool may_pass(int status) { return status == 429 || status >= 500; }

class EndpointEmbedder final : public Embedder {
 public:
  EndpointEmbedder(EndpointEmbedderOptions options, std::string key)
      : options_(std::move(options)), key_(std::move(key)) {
    know(options_.dimensions);
  }

  const std::string& model() const override { return id_; }
  std::size_t dimensions() const override { return dimensions_; }
  std::chrono::nanoseconds model_time() const override {
    return std::chrono::nanoseconds(model_ns_.load(std::memory_order_relaxed));
  }

  Result<std::vector<Vector>> embed(std::span<const std::string> texts, EmbedKind) override {
    SKEIN_TRY(check_texts(texts));
    std::vector<Vector> vectors;
    vectors.reserve(texts.size());
    while (vectors.size() < texts.size()) {
      std::vector<std::string_view> batch;
      std::size_t bytes = 0;
      for (const std::string& text : texts.subspan(vectors.size())) {
        const std::string_view part = shortened(text, options_.max_text_bytes);
        bytes += part.size();
        if (!batch.empty() && (batch.size() == options_.batch || bytes > kMaxRequestBytes)) break;
        batch.push_back(part);
      }
      SKEIN_ASSIGN(std::vector<Vector> more, request(batch));
      std::ranges::move(more, std::back_inserter(vectors));
    }
    return vectors;
  }

  // The dimensions of an endpoint that is not known yet.
  Result<void> ask_dimensions() {
    SKEIN_ASSIGN(const std::vector<Vector> vectors, request({"How long are your vectors?"}));
    know(vectors.front().size());
    return {};
  }

 private:
  void know(std::size_t dimensions) {
    dimensions_ = dimensions;
    id_ = "openai:" + options_.url + "#" + options_.model + "/" + std::to_string(dimensions);
  }

  HttpRequest make_request(const std::vector<std::string_view>& texts) const {
    std::vector<std::string> inputs;
    for (const std::string_view text : texts) append_json_string(inputs.emplace_back(), text);
    HttpRequest request;
    request.method = "POST";
    request.url = options_.url + "/embeddings";
    request.headers = {{"Content-Type", "application/json"}, {"Accept", "application/json"}};
    if (!key_.empty()) request.headers.push_back({"Authorization", "Bearer " + key_});
    request.body = JsonObject()
                       .add("model", options_.model)
                       .add_json("input", json_array_of(inputs))
                       .add("encoding_format", "float")
                       .str();
    request.idle_timeout = options_.timeout;
    request.total_timeout = options_.timeout;
    request.max_body_bytes = kMaxAnswerBytes;
    return request;
  }

  Result<std::vector<Vector>> request(const std::vector<std::string_view>& texts) {
    const HttpRequest request = make_request(texts);
    milliseconds wait = options_.first_wait;
    for (std::size_t attempt = 1;; ++attempt) {
      const auto begin = std::chrono::steady_clock::now();
      const Result<HttpResponse> response = client_.send(request);
      model_ns_ += std::chrono::nanoseconds(std::chrono::steady_clock::now() - begin).count();
      if (response.has_value() && response->ok()) return read_answer(response->body, texts.size());

      const bool again = response.has_value() ? may_pass(response->status)
                                              : response.error().code != ErrorCode::kInvalid;
      if (!again || attempt == options_.tries) return refusal(response, attempt);
      std::this_thread::sleep_for(std::max(wait, asked_wait(response)));
      wait = std::min(wait * 2, kLongestWait);
    }
  }

  static milliseconds asked_wait(const Result<HttpResponse>& response) {
    const std::string* header = response.has_value() ? response->header("Retry-After") : nullptr;
    std::int64_t seconds = 0;
    if (header != nullptr) {
      std::from_chars(header->data(), header->data() + header->size(), seconds);
    }
    return std::min(kLongestWait, milliseconds(1000 * std::clamp<std::int64_t>(seconds, 0, 3600)));
  }

  tl::unexpected<Error> refusal(const Result<HttpResponse>& response, std::size_t attempts) const {
    std::string message = response.has_value() ? options_.url + "/embeddings answered " +
                                                     std::to_string(response->status) + ": " +
                                                     quote(response->body, 300)
                                               : response.error().message;
    if (attempts > 1) message += " (tried " + std::to_string(attempts) + " times)";
    return failure(std::move(message));
  }

  // An endpoint may repeat what it was sent.
  tl::unexpected<Error> failure(std::string message) const {
    for (std::size_t at = 0; !key_.empty() && (at = message.find(key_, at)) != std::string::npos;) {
      message.replace(at, key_.size(), "[key]");
    }
    return fail(ErrorCode::kIo, std::move(message));
  }

  Result<std::vector<Vector>> read_answer(const std::string& body, std::size_t count) const {
    const std::string source = options_.url + "/embeddings";
    if (const auto valid = validate_json(body, source); !valid.has_value()) {
      return failure(valid.error().message);
    }
    JsonFields fields(body);
    const std::optional<RawJson> data = fields.take<RawJson>("data", json_to_array);
    if (!data) return failure(source + " answered without data: " + quote(body, 300));
    const std::vector<RawJson> entries = json_elements(*data);
    if (entries.size() != count) {
      return failure(source + " answered with " + std::to_string(entries.size()) + " vectors for " +
                     std::to_string(count) + " texts");
    }
    std::vector<Vector> vectors(count);
    for (std::size_t i = 0; i < count; ++i) {
      JsonFields entry(entries[i]);
      const std::int64_t index = entry.take_int("index").value_or(static_cast<std::int64_t>(i));
      const bool fits = index >= 0 && index < static_cast<std::int64_t>(count);
      if (!fits || !vectors[static_cast<std::size_t>(index)].empty()) {
        return failure(source + " answered with the index " + std::to_string(index) +
                       (fits ? " twice" : ""));
      }
      const std::optional<RawJson> numbers = entry.take<RawJson>("embedding", json_to_array);
      SKEIN_ASSIGN(vectors[static_cast<std::size_t>(index)],
                   read_vector(numbers.value_or("[]"), dimensions_, source));
    }
    return vectors;
  }

  Result<Vector> read_vector(RawJson numbers, std::size_t dimensions,
                             const std::string& source) const {
    const std::vector<RawJson> elements = json_elements(numbers);
    const bool wrong = dimensions != 0 && elements.size() != dimensions;
    if (wrong || elements.empty() || elements.size() > limits::kMaxDimensions) {
      return failure(source + " answered with " + std::to_string(elements.size()) +
                     " dimensions, where " +
                     (dimensions != 0 ? std::to_string(dimensions)
                                      : "1 to " + std::to_string(limits::kMaxDimensions)) +
                     " were expected");
    }
    Vector vector;
    for (const RawJson element : elements) {
      const std::optional<double> number = json_to_double(element);
      if (!number) return failure(source + " answered with a number that is " + excerpt(element));
      vector.push_back(static_cast<float>(*number));
    }
    if (!make_unit(vector)) return failure(source + " answered with a vector without a length");
    return vector;
  }

  const EndpointEmbedderOptions options_;
  const std::string key_;
  std::string id_;              // these two do not change once it is open
  std::size_t dimensions_ = 0;  // 0: not known yet
  std::atomic<std::int64_t> model_ns_ = 0;
  HttpClient client_;
};

Result<void> check_number(std::string_view what, std::size_t value, std::size_t most) {
  if (value >= 1 && value <= most) return {};
  return fail(ErrorCode::kInvalid, std::string(what) + " of an endpoint are 1 to " +
                                       std::to_string(most) + ", not " + std::to_string(value));
}

// OpenAI's own key is for OpenAI; for any other host its variable must be named.
Result<std::string> key_for(const EndpointEmbedderOptions& options) {
  constexpr std::string_view kProvider = "https://api.openai.com";
  const bool provider =
      options.url == kProvider || options.url.starts_with(std::string(kProvider) + "/");
  const bool named = !options.key_variable.empty();
  if (!named && !provider) return std::string();
  const char* key = std::getenv(named ? options.key_variable.c_str() : "OPENAI_API_KEY");
  if (key != nullptr && *key != '\0') return std::string(key);
  if (!named) return std::string();
  return fail(ErrorCode::kInvalid, "the environment variable " + options.key_variable +
                                       " is not set; it must hold the key for " + options.url);
}

}  // namespace

Result<void> check_endpoint(const EndpointEmbedderOptions& options) {
  const std::string_view url = options.url;
  const bool web = url.starts_with("http://") || url.starts_with("https://");
  if (!web || url.size() > kMaxUrlBytes ||
      url.find_first_of("?#@ \t\r\n") != std::string_view::npos) {
    // Not quoted from an @ on: what stands before it may be a password.
    return fail(ErrorCode::kInvalid,
                "the URL of an endpoint begins with http:// or https://, has at most " +
                    std::to_string(kMaxUrlBytes) + " bytes and none of ?, #, @ and white space" +
                    (url.find('@') == std::string_view::npos ? ": " + quote(url) : ""));
  }
  if (!has_plain_host(url)) {
    return fail(ErrorCode::kInvalid, "the URL of an endpoint " + std::string(kPlainHostRule));
  }
  if (options.model.empty() || options.model.size() > kMaxModelBytes) {
    return fail(ErrorCode::kInvalid, "the name of an endpoint's model has 1 to " +
                                         std::to_string(kMaxModelBytes) +
                                         " bytes: " + quote(options.model));
  }
  SKEIN_TRY(check_number("texts of a request", options.batch, kMaxBatch));
  SKEIN_TRY(check_number("tries", options.tries, kMaxTries));
  SKEIN_TRY(check_number("bytes of a text", options.max_text_bytes, kMaxRequestBytes));
  if (options.dimensions != 0) {
    SKEIN_TRY(check_number("dimensions", options.dimensions, limits::kMaxDimensions));
  }
  return {};
}

Result<std::unique_ptr<Embedder>> open_endpoint_embedder(const EndpointEmbedderOptions& options) {
  EndpointEmbedderOptions checked = options;
  while (checked.url.ends_with('/')) checked.url.pop_back();
  SKEIN_TRY(check_endpoint(checked));
  SKEIN_ASSIGN(std::string key, key_for(checked));
  auto embedder = std::make_unique<EndpointEmbedder>(std::move(checked), std::move(key));
  if (options.dimensions == 0) SKEIN_TRY(embedder->ask_dimensions());
  return embedder;
}

}  // namespace skein
