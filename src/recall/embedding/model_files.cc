#include "recall/embedding/model_files.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <system_error>

#include "core/file.h"
#include "core/sha256.h"
#include "core/try.h"
#include "recall/embedding/onnx_session.h"

namespace skein {
namespace {

constexpr std::size_t kMaxModelBytes = std::size_t{256} << 20;

constexpr std::array<KnownModel, 2> kModels = {{
    {.name = "bge-small-en-v1.5",
     .choice = "bge-small",
     .weights_sha256 = "6c9c6101a956d62dfb5e7190c538226c0c5bb9cb27b651234b6df063ee7dbfe4",
     .tokenizer_sha256 = "d241a60d5e8f04cc1b2b3e9ef7a4921b27bf526d9f6050ab90f9267a1f9e5c66",
     .cached = SKEIN_CACHED_BGE_SMALL,
     .query_prefix = "Represent this sentence for searching relevant passages: ",
     .dimensions = 384,
     .max_tokens = 512,
     .pooling = Pooling::kFirst},
    {.name = "all-MiniLM-L6-v2",
     .choice = "minilm",
     .weights_sha256 = "afdb6f1a0e45b715d0bb9b11772f032c399babd23bfc31fed1c170afc848bdb1",
     .tokenizer_sha256 = "aa5777dd801854afc1818a8e20820806261c9497db9593a220b646bedfbc0fef",
     .cached = SKEIN_CACHED_MINILM,
     .query_prefix = "",
     .dimensions = 384,
     .max_tokens = 256,
     .pooling = Pooling::kMean},
}};

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// Where tools/setup leaves what it downloads; empty if nobody says where caches are. A path that is
// not absolute would lead into whatever folder we are in.
std::string cache_folder() {
  const std::string cache = variable("XDG_CACHE_HOME");
  if (cache.starts_with('/')) return cache + "/skein";
  const std::string home = variable("HOME");
  return home.starts_with('/') ? home + "/.cache/skein" : "";
}

// Whether the system would look for libraries in the folder that we are in, or below it. An element
// that is empty means just that. An absolute path of a library does not help: those that it needs
// itself are looked up as well.
bool libraries_come_from_here() {
  const std::string set = variable("LD_LIBRARY_PATH");
  if (set.empty()) return false;
  std::string_view folders = set;
  while (folders.starts_with('/')) {
    const auto end = folders.find_first_of(":;");
    if (end == std::string_view::npos) return false;
    folders.remove_prefix(end + 1);
  }
  return true;
}

std::string first_set(const std::string& option, const char* name) {
  return option.empty() ? variable(name) : option;
}

bool is_file(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::is_regular_file(path, ignored);
}

}  // namespace

std::span<const KnownModel> known_models() { return kModels; }

const KnownModel* find_model(std::string_view name) {
  const auto found = std::ranges::find(kModels, name, &KnownModel::name);
  return found == kModels.end() ? nullptr : &*found;
}

Result<ModelFiles> find_model_files(const KnownModel& model, const LocalEmbedderOptions& options) {
  const std::string chosen = first_set(options.models_folder, "SKEIN_MODELS");
  const std::string folder = chosen.empty() ? cache_folder() + "/" + std::string(model.cached)
                                            : chosen + "/" + std::string(model.name);
  const ModelFiles files{.weights = folder + "/onnx/model_quantized.onnx",
                         .tokenizer = folder + "/tokenizer.json"};
  for (const std::string& path : {files.weights, files.tokenizer}) {
    if (is_file(path)) continue;
    return fail(ErrorCode::kNotFound, "the model " + std::string(model.name) + " lacks the file " +
                                          path +
                                          ": tools/setup downloads it, or SKEIN_MODELS names "
                                          "the folder that holds " +
                                          std::string(model.name) + "/");
  }
  return files;
}

Result<std::vector<std::string>> find_runtimes(const LocalEmbedderOptions& options) {
  const std::string chosen = first_set(options.runtime, "SKEIN_ONNXRUNTIME");
  if (!chosen.empty()) {
    if (is_file(chosen)) return std::vector{std::filesystem::absolute(chosen).string()};
    return fail(ErrorCode::kNotFound, "there is no library of ONNX Runtime at " + chosen);
  }
  std::vector<std::string> runtimes = {"libonnxruntime.so.1", "libonnxruntime.so"};
  const bool unsafe = libraries_come_from_here();
  if (unsafe) runtimes.clear();
  const std::string cached = cache_folder() + "/" SKEIN_CACHED_ONNXRUNTIME;
  if (is_file(cached)) {
    runtimes.push_back(cached);
    return runtimes;
  }
  // The system's, or none: only loading it tells.
  std::erase_if(runtimes, [](const std::string& name) { return !OnnxSession::can_load(name); });
  if (!runtimes.empty()) return runtimes;
  return fail(
      ErrorCode::kNotFound,
      (unsafe ? "LD_LIBRARY_PATH has an element that is not an absolute path (an empty one, as "
                "after a colon at its end, is the working folder), so that the system's "
                "ONNX Runtime is not used until that element is removed, and there is none at "
              : "ONNX Runtime is neither a library of the system nor at ") +
          cached + ": tools/setup downloads it, or SKEIN_ONNXRUNTIME names the library");
}

Result<std::string> read_verified(const std::string& path, std::string_view sha256) {
  // Models may be links into somebody's cache.
  std::error_code ignored;
  const std::filesystem::path real = std::filesystem::canonical(path, ignored);
  SKEIN_ASSIGN(std::optional<std::string> bytes,
               read_file(ignored ? path : real.string(), kMaxModelBytes));
  if (!bytes) return fail(ErrorCode::kNotFound, "there is no file " + path);
  const std::string found = sha256_hex(*bytes);
  if (found == sha256) return std::move(*bytes);
  return fail(ErrorCode::kDamaged, path + " has the sha256 " + found + ", where " +
                                       std::string(sha256) +
                                       " was expected: remove it and run tools/setup");
}

}  // namespace skein
