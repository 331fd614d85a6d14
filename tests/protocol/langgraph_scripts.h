// The scripts in tests/protocol/langgraph.
#pragma once

#include <string>
#include <vector>

namespace skein::test {

struct ScriptEnd {
  bool ok = false;
  std::string out;
  std::string err;  // and how it ended
};

std::string langgraph_folder();

// `arguments` begin with the name of the script.
ScriptEnd run_langgraph_script(std::vector<std::string> arguments, const std::string& input = {});

}  // namespace skein::test
