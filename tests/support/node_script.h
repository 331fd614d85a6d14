// Programs of others, as scripts for node.
#pragma once

#include <string>
#include <vector>

namespace skein::test {

// Hands the texts to tests/support/SCRIPT as JSON strings, one a line, and gives the lines that it
// answers with. A script that fails ends the test program.
std::vector<std::string> run_node_script(const std::string& script,
                                         const std::vector<std::string>& arguments,
                                         const std::vector<std::string>& texts);

// The lines of a file, or of a program's output, without their ends.
std::vector<std::string> lines_of(const std::string& text);

}  // namespace skein::test
