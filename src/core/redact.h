// Takes credentials out of text before it is kept.
#pragma once

#include <cstddef>
#include <string>

namespace skein {

// Replaces every well-known kind of credential by "[redacted:<kind>]" and returns how many there
// were: keys of OpenAI and its imitators, Anthropic, GitHub, Slack, AWS and Google, JSON web
// tokens, private keys in PEM, and bearer tokens of HTTP headers. Goes by shape alone, and rather
// leaves an odd credential than change what is none: lengths, prefixes and the mix of characters
// must all fit. The same text always becomes the same, and redacting it again changes nothing.
std::size_t redact_text(std::string& text);

// The same inside every string of a valid JSON text, which stays valid.
std::size_t redact_json(std::string& json);

}  // namespace skein
