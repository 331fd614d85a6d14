#include "node_programs.h"

#include "support/expect.h"
#include "tool_servers.h"

namespace skein::test {

using namespace std::chrono_literals;

Finished run_node(const std::vector<std::string>& words, const std::string& folder) {
  std::vector<std::string> argv = {node_program()};
  argv.insert(argv.end(), words.begin(), words.end());
  return must(run_program({.argv = argv,
                           .folder = folder,
                           .environment = {{"SKEIN_EMBEDDER", "none"},
                                           {"SKEIN_STORE", std::nullopt},
                                           {"SKEIN_WORKSPACE", std::nullopt}},
                           .in = Spawn::Stream::kNull},
                          {}, {.time = 240s}));
}

}  // namespace skein::test
