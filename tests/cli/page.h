// A page of the documentation, whose commands are run as they stand there.
//
//   ```console     "$ " before each command, "> " before the lines that continue it, and what it
//                  answers below; "…" there stands for anything, on a line of its own for any
//                  number of lines. A command whose answer begins with "skein: " must fail, all
//                  others not.
//   ```LANG FILE   a file that the reader makes
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "program.h"

namespace skein::test {

struct PageStep {
  std::string command;
  std::string output;  // as the page shows it
  bool is_file = false;
};

// Of a file of the repository, in order.
std::vector<PageStep> steps_of_page(const std::string& file);

// Runs all of it in one go, by the bash that `start` says, so that what one command sets the next
// can use, and expects what the page shows.
void expect_as_shown(const std::vector<PageStep>& steps, Start start);

}  // namespace skein::test
