// Counting tokens: the byte pair encoding `o200k_base`, whose vocabulary is part of the library.
//
// The counts are those of OpenAI's models since 2024. Other models cut text differently, mostly
// into somewhat more tokens for the same text; whoever needs a margin for that takes it off the
// budget.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace skein {

// How many tokens the text has. Names of special tokens in it, such as <|endoftext|>, are text like
// any other. Thread-safe; takes time in proportion to the text, also for a single word of a
// megabyte.
std::size_t count_tokens(std::string_view text);

// The tokens themselves, in order.
std::vector<std::uint32_t> encode_tokens(std::string_view text);

}  // namespace skein
