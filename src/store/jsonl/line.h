// What can be told of a line without taking its JSON apart.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "skein/ids.h"
#include "store/line.h"

namespace skein::jsonl {

// The value of the last `,"name":` in a verified line, if it is a whole number.
std::optional<std::uint64_t> trailing_number(std::string_view line, std::string_view name);

// The position that a verified line claims.
std::optional<Seq> line_seq(std::string_view line);

// Whether a line at that offset of its file can have the position: each line before it takes two
// bytes at least, and a file may have lost a million. One line can claim any position; this bounds
// how many missing events a file of a given size has.
bool may_be_at(Seq claimed, std::uint64_t offset);

// Without the carriage return of programs that write one.
std::string_view without_cr(std::string_view line);
bool is_blank(std::string_view text);

}  // namespace skein::jsonl
