#include "recall/embedding/checks.h"

#include <cmath>

#include "core/json.h"
#include "core/quote.h"

namespace skein {

Result<void> check_texts(std::span<const std::string> texts) {
  if (texts.size() > limits::kMaxEmbedTexts) {
    return fail(ErrorCode::kInvalid, "at most " + std::to_string(limits::kMaxEmbedTexts) +
                                         " texts are embedded at once, not " +
                                         std::to_string(texts.size()));
  }
  for (const std::string& text : texts) {
    if (!valid_utf8(text)) {
      return fail(ErrorCode::kInvalid, "a text to embed has to be UTF-8: " + quote(text));
    }
  }
  return {};
}

bool make_unit(Vector& vector) {
  double squares = 0;
  for (const float value : vector) squares += double{value} * value;
  if (!(squares > 0) || !std::isfinite(squares)) return false;
  const double length = std::sqrt(squares);
  for (float& value : vector) value = static_cast<float>(value / length);
  return true;
}

}  // namespace skein
