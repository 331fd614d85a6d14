// The host of an address that a person reads and trusts.
#pragma once

#include <string_view>

namespace skein {

// Whether the host in the URL is written in ASCII and without escapes: other letters can look like
// those of a host that is known. A name in another script has its form in punycode ("xn--…").
bool has_plain_host(std::string_view url);

// What to say of one that has not.
inline constexpr std::string_view kPlainHostRule =
    "must have a host in ASCII; write a name in other letters in punycode (\"xn--…\")";

}  // namespace skein
