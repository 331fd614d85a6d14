// Texts as vectors, for finding what means the same in other words.
//
// An Embedder is a model behind a small interface: one that runs in this process (ONNX Runtime, on
// the CPU, offline), or an endpoint that speaks OpenAI's /embeddings. docs/recall.md says where the
// models come from.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "skein/error.h"

namespace skein {

namespace limits {
inline constexpr std::size_t kMaxEmbedTexts = 10'000;  // of one call of Embedder::embed
inline constexpr std::size_t kMaxEmbedThreads = 64;
inline constexpr std::size_t kMaxDimensions = 8192;
}  // namespace limits

// Some models put a question into other words than the passages that answer it.
enum class EmbedKind { kQuery, kPassage };

using Vector = std::vector<float>;

// Thread-safe: any number of calls at once. The same text and kind give the same vector, whatever
// else is asked for before, after or beside it (an endpoint gives what it gives).
class Embedder {
 public:
  virtual ~Embedder() = default;

  // Names the model, its weights and its dimensions, such as
  // "bge-small-en-v1.5/6c9c6101a956d62d/384": vectors may be compared if and only if these names
  // are equal. Store it beside every vector. At most 512 bytes. Does not load the model.
  virtual const std::string& model() const = 0;

  // Of every vector that embed() answers. Does not load the model.
  virtual std::size_t dimensions() const = 0;

  // One vector for each text, in order, each of length 1 (L2). A text without a word has a vector
  // too. What is beyond the model's window (512 word pieces or so) is not looked at.
  //
  // The first call loads the model: about a fifth of a second, and 100 MB. Each text is computed
  // alone, so that one call for many texts costs as much as many calls.
  //
  // kInvalid: a limit, or text that is not UTF-8. kDamaged: a file of the model is not what it has
  // to be; the message names it with both checksums. kNotFound: a file is gone. kIo: the runtime or
  // the endpoint failed; the message says how, and never a key. After any error, nothing was
  // answered, and the next call tries again from the start.
  virtual Result<std::vector<Vector>> embed(std::span<const std::string> texts, EmbedKind kind) = 0;

  // Time spent inside the model so far, all threads together: without cutting text into word
  // pieces, and without waiting. For an endpoint, the time of the requests. What indexing costs
  // beyond it is ours.
  virtual std::chrono::nanoseconds model_time() const = 0;

  // One vector.
  Result<Vector> embed_one(const std::string& text, EmbedKind kind);
};

// A model that runs here.
struct LocalEmbedderOptions {
  // "bge-small-en-v1.5" (384 dimensions, 512 word pieces) or "all-MiniLM-L6-v2" (384, 256).
  std::string model = "bge-small-en-v1.5";
  // Holds a folder for each model, named like it, with onnx/model_quantized.onnx and
  // tokenizer.json. Empty: $SKEIN_MODELS; else what tools/setup left in the user's cache.
  std::string models_folder;
  // The library of ONNX Runtime. Empty: $SKEIN_ONNXRUNTIME; else the system's, else what
  // tools/setup left in the user's cache.
  std::string runtime;
  // How many texts of one call are embedded at the same time. Each is computed by one thread, so
  // that this changes no vector.
  std::size_t threads = 1;
};

// Looks for the files without loading them. kNotFound names the one that is missing, and how
// to get it; kInvalid: no such model, or a limit.
Result<std::unique_ptr<Embedder>> open_local_embedder(const LocalEmbedderOptions& options);

// An endpoint that speaks OpenAI's POST /embeddings.
struct EndpointEmbedderOptions {
  // What comes before "/embeddings", such as https://api.openai.com/v1 or
  // http://127.0.0.1:11434/v1. http or https; a user or a password in it is refused.
  std::string url;
  std::string model;
  // The environment variable that holds the key for this URL, which is sent as a bearer token and
  // is never part of an error; it must be set then. Empty: OPENAI_API_KEY, if it is set, for
  // https://api.openai.com, and no key for any other host.
  std::string key_variable = {};
  // What the model answers with, if it is known; else the first answer tells, and open asks for
  // one.
  std::size_t dimensions = 0;
  // Texts of one request, and what is sent of each: endpoints refuse texts beyond their window, and
  // a token has at least one byte.
  std::size_t batch = 64;
  std::size_t max_text_bytes = 8000;
  std::chrono::milliseconds timeout{60'000};  // of one try
  // Tries of one request in all; 429, 5xx and failed connections are tried again, after a wait that
  // doubles, or that the endpoint asks for.
  std::size_t tries = 4;
  std::chrono::milliseconds first_wait{500};
};

// kInvalid: a limit, a rule about the URL, or a key variable that is not set. kIo: the endpoint did
// not answer (only where it had to be asked for its dimensions).
Result<std::unique_ptr<Embedder>> open_endpoint_embedder(const EndpointEmbedderOptions& options);

struct EmbedderOptions {
  LocalEmbedderOptions local;  // its `model` is what the choice says
  // Its `url`, `model` and `key_variable` are what the choice says.
  EndpointEmbedderOptions endpoint;
};

struct OpenedEmbedder {
  std::unique_ptr<Embedder> embedder;  // none, if there is none: search is by words alone then
  // Why it is not the first choice, for people; empty if it is. One line each.
  std::vector<std::string> notes;
};

// By what a user chose:
//
//   auto               bge-small if it is there, else MiniLM, else none; never a network. What was
//                      not there, or is damaged, is in the notes. This one verifies the weights at
//                      once (some 50 ms), so that a damaged file does not surprise later.
//   none               no embedder
//   bge-small          bge-small-en-v1.5, or an error
//   minilm             all-MiniLM-L6-v2, or an error
//   openai:URL#MODEL   an endpoint, as in openai:https://api.openai.com/v1#text-embedding-3-small
//   openai:URL?keyVariable=NAME#MODEL
//                      the same, with the key that the environment variable NAME holds
//
// kInvalid: none of these.
Result<OpenedEmbedder> open_embedder(std::string_view choice, const EmbedderOptions& options = {});
// kInvalid: none of these. Opens nothing, and does not look for files or variables.
Result<void> check_embedder_choice(std::string_view choice);

}  // namespace skein
