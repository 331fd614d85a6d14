#include "skein/tokens.h"

#include "thread/tokens/bpe.h"
#include "thread/tokens/split.h"
#include "thread/tokens/vocabulary.h"

namespace skein {
namespace {

std::size_t encode(std::string_view text, std::vector<std::uint32_t>* out) {
  PieceEncoder encoder(Vocabulary::o200k_base());
  std::size_t tokens = 0;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (at < end) {
    const char* piece = at;
    at = piece_end(piece, end);
    tokens += encoder.encode(piece, static_cast<std::size_t>(at - piece), out);
  }
  return tokens;
}

}  // namespace

std::size_t count_tokens(std::string_view text) { return encode(text, nullptr); }

std::vector<std::uint32_t> encode_tokens(std::string_view text) {
  std::vector<std::uint32_t> tokens;
  encode(text, &tokens);
  return tokens;
}

}  // namespace skein
