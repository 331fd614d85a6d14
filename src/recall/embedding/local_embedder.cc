// A model in this process: word pieces, ONNX Runtime, one vector of them all.
#include <atomic>
#include <cmath>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>

#include "core/json.h"
#include "core/quote.h"
#include "core/try.h"
#include "recall/embedding/bert_tokenizer.h"
#include "recall/embedding/checks.h"
#include "recall/embedding/model_files.h"
#include "recall/embedding/onnx_session.h"

namespace skein {
namespace {

struct LoadedModel {
  BertTokenizer tokenizer;
  std::unique_ptr<OnnxSession> session;
};

Vector pool(std::span<const float> rows, const KnownModel& model) {
  Vector vector(rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(model.dimensions));
  if (model.pooling == Pooling::kMean) {
    for (std::size_t i = model.dimensions; i < rows.size(); ++i) {
      vector[i % model.dimensions] += rows[i];
    }
  }
  return vector;  // a sum will do for a mean: its length is made 1
}

class LocalEmbedder final : public Embedder {
 public:
  LocalEmbedder(const KnownModel& model, ModelFiles files, std::vector<std::string> runtimes,
                std::size_t threads)
      : model_(model),
        files_(std::move(files)),
        runtimes_(std::move(runtimes)),
        threads_(threads),
        id_(std::string(model.name) + "/" + std::string(model.weights_sha256.substr(0, 16)) + "/" +
            std::to_string(model.dimensions)) {}

  const std::string& model() const override { return id_; }
  std::size_t dimensions() const override { return model_.dimensions; }
  std::chrono::nanoseconds model_time() const override {
    return std::chrono::nanoseconds(model_ns_.load(std::memory_order_relaxed));
  }

  Result<std::vector<Vector>> embed(std::span<const std::string> texts, EmbedKind kind) override {
    SKEIN_TRY(check_texts(texts));
    SKEIN_ASSIGN(const LoadedModel* loaded, load());
    std::vector<Vector> vectors(texts.size());
    std::atomic<std::size_t> next = 0;
    std::atomic<bool> failed = false;
    std::mutex failing;
    std::optional<Error> error;
    const auto work = [&] {
      for (std::size_t i = next++; i < texts.size() && !failed; i = next++) {
        Result<Vector> vector = embed_text(*loaded, texts[i], kind);
        if (vector.has_value()) {
          vectors[i] = std::move(*vector);
          continue;
        }
        const std::lock_guard lock(failing);
        if (!failed.exchange(true)) error = std::move(vector).error();
      }
    };
    run_on_threads(std::min(threads_, texts.size()), work);
    if (error) return tl::unexpected(std::move(*error));
    return vectors;
  }

 private:
  // This thread is one of them; where the system has no more, there are fewer.
  static void run_on_threads(std::size_t count, const std::function<void()>& work) {
    std::vector<std::jthread> others;
    try {
      while (others.size() + 1 < count) others.emplace_back(work);
    } catch (const std::system_error&) {
    }
    work();
  }

  Result<const LoadedModel*> load() {
    const std::lock_guard lock(loading_);
    if (!loaded_) {
      SKEIN_ASSIGN(const std::string json,
                   read_verified(files_.tokenizer, model_.tokenizer_sha256));
      SKEIN_ASSIGN(BertTokenizer tokenizer, BertTokenizer::parse(json, files_.tokenizer));
      SKEIN_ASSIGN(const std::string weights, read_verified(files_.weights, model_.weights_sha256));
      SKEIN_ASSIGN(auto session, OnnxSession::open(runtimes_, weights));
      loaded_.emplace(std::move(tokenizer), std::move(session));
    }
    return &*loaded_;
  }

  Result<Vector> embed_text(const LoadedModel& loaded, const std::string& text, EmbedKind kind) {
    std::vector<std::int64_t> ids =
        kind == EmbedKind::kQuery && !model_.query_prefix.empty()
            ? loaded.tokenizer.encode(std::string(model_.query_prefix) + text, model_.max_tokens)
            : loaded.tokenizer.encode(text, model_.max_tokens);
    Vector vector;
    const auto begin = std::chrono::steady_clock::now();
    SKEIN_TRY(loaded.session->run(ids, [&](std::span<const float> rows) {
      if (rows.size() == ids.size() * model_.dimensions) vector = pool(rows, model_);
    }));
    model_ns_ += std::chrono::nanoseconds(std::chrono::steady_clock::now() - begin).count();
    if (!make_unit(vector)) {
      return fail(ErrorCode::kIo, id_ + " answered with no vector for " + quote(text));
    }
    return vector;
  }

  const KnownModel& model_;
  const ModelFiles files_;
  const std::vector<std::string> runtimes_;
  const std::size_t threads_;
  const std::string id_;
  std::atomic<std::int64_t> model_ns_ = 0;

  std::mutex loading_;                 // what is below; it stays as it is once it is there
  std::optional<LoadedModel> loaded_;  // from the first use
};

}  // namespace

Result<std::unique_ptr<Embedder>> open_local_embedder(const LocalEmbedderOptions& options) {
  const KnownModel* model = find_model(options.model);
  if (model == nullptr) {
    std::string names;
    for (const KnownModel& known : known_models()) {
      names += (names.empty() ? "" : " or ") + std::string(known.name);
    }
    return fail(ErrorCode::kInvalid, "a model is " + names + ", not " + quote(options.model));
  }
  if (options.threads == 0 || options.threads > limits::kMaxEmbedThreads) {
    return fail(ErrorCode::kInvalid, "a model runs on 1 to " +
                                         std::to_string(limits::kMaxEmbedThreads) +
                                         " threads, not " + std::to_string(options.threads));
  }
  SKEIN_ASSIGN(ModelFiles files, find_model_files(*model, options));
  SKEIN_ASSIGN(std::vector<std::string> runtimes, find_runtimes(options));
  return std::make_unique<LocalEmbedder>(*model, std::move(files), std::move(runtimes),
                                         options.threads);
}

}  // namespace skein
