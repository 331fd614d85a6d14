// Bytes as text, by RFC 4648 with padding.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace skein {

void append_base64(std::string& out, std::string_view bytes);
// Nothing, if the text is not base64.
std::optional<std::string> decode_base64(std::string_view text);

}  // namespace skein
