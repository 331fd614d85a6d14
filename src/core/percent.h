// Percent-encoding of text in URLs and URIs (RFC 3986).
#pragma once

#include <string>
#include <string_view>

namespace skein {

// Letters, digits, "-", ".", "_" and "~" stay; every other byte becomes "%XX".
std::string percent_encoded(std::string_view text);

// The bytes that "%XX" stand for; what is no such escape stays.
std::string percent_decoded(std::string_view text);

}  // namespace skein
