#include "langgraph_scripts.h"

#include <filesystem>

#include "core/subprocess.h"
#include "support/expect.h"
#include "tool_servers.h"

namespace skein::test {

std::string langgraph_folder() { return SKEIN_SOURCE_DIR "/tests/protocol/langgraph"; }

ScriptEnd run_langgraph_script(std::vector<std::string> arguments, const std::string& input) {
  EXPECT_TRUE(std::filesystem::exists(langgraph_folder() + "/node_modules")) << "run tools/setup";
  arguments.front() = langgraph_folder() + "/" + arguments.front();
  arguments.insert(arguments.begin(), {node_program(), "--no-warnings"});
  const Finished finished =
      must(run_program({.argv = std::move(arguments)}, input,
                       {.time = std::chrono::minutes(4), .output_bytes = std::size_t{64} << 20}));
  return {finished.exit.ok(), finished.out, finished.err + finished.exit.str()};
}

}  // namespace skein::test
