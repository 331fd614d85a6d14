// Values inside error messages, and text that may not be text.
#pragma once

#include <string>
#include <string_view>

namespace skein {

// The text as a JSON string, cut after `max_bytes`; bytes that are not UTF-8 show as U+FFFD. Safe
// to print and to put into JSON.
std::string quote(std::string_view text, std::size_t max_bytes = 80);

// The text as valid UTF-8: bytes that are not become U+FFFD.
std::string mended_utf8(std::string_view text);

// Valid JSON text as it is, cut likewise.
std::string excerpt(std::string_view json, std::size_t max_bytes = 80);

// Valid JSON text on one line, with each string as it reads: "\u0065vil" is "evil". For people who
// decide by what they read.
std::string plain_json(std::string_view json);

// A path, or any other text, as one word of a shell command.
std::string shell_quoted(const std::string& word);

}  // namespace skein
