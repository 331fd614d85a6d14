// Cuts text into the pieces that are encoded each for itself, as the regular expression of
// o200k_base does:
//
//   [^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?
//   |[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?
//   |\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+
//
// White space is what JavaScript takes for it, which differs from others in U+0085 and U+FEFF.
#pragma once

namespace skein {

// Where the piece that begins at `at` ends. `at` is before `end`. Every byte of any text is in a
// piece; bytes that are not UTF-8 count as symbols.
const char* piece_end(const char* at, const char* end);

}  // namespace skein
