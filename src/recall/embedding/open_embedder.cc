#include "core/quote.h"
#include "core/try.h"
#include "skein/embedder.h"

namespace skein {

Result<Vector> Embedder::embed_one(const std::string& text, EmbedKind kind) {
  SKEIN_ASSIGN(std::vector<Vector> vectors, embed(std::span(&text, 1), kind));
  return std::move(vectors.front());
}

Result<OpenedEmbedder> open_embedder(std::string_view choice, const EmbedderOptions&) {
  if (choice == "none") return OpenedEmbedder{};
  if (choice == "auto")
    return OpenedEmbedder{.embedder = nullptr,
                          .notes = {"no model was found: search is by words alone"}};
  return fail(ErrorCode::kInvalid, "an embedder is auto or none, not " + quote(choice));
}

}  // namespace skein
