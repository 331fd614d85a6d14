// What comes in from whoever runs the program: all of standard input, or an answer to a question.
#pragma once

#include <cstddef>
#include <string>

#include "cli/command.h"
#include "skein/error.h"

namespace skein {

// Reads to the end, or to one byte more than `limit`: the caller refuses what is longer.
Result<std::string> read_standard_input(std::size_t limit);

// Asks on standard error; only a "yes" is one. Wrong usage where nobody can answer, naming --yes
// and `purpose`, such as "to delete it".
tl::expected<bool, Failure> ask(const std::string& question, const std::string& purpose);

}  // namespace skein
