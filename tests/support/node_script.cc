#include "support/node_script.h"

#include <sstream>

#include "core/json.h"
#include "core/subprocess.h"
#include "support/expect.h"

namespace skein::test {

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

std::vector<std::string> run_node_script(const std::string& script,
                                         const std::vector<std::string>& arguments,
                                         const std::vector<std::string>& texts) {
  std::string input;
  for (const std::string& text : texts) {
    append_json_string(input, text);
    input += '\n';
  }
  std::vector<std::string> argv = {"node", SKEIN_SOURCE_DIR "/tests/support/" + script};
  argv.insert(argv.end(), arguments.begin(), arguments.end());
  const Finished finished =
      must(run_program({.argv = std::move(argv)}, input,
                       {.time = std::chrono::minutes(4), .output_bytes = std::size_t{256} << 20}));
  if (!finished.exit.ok()) {
    must(Result<void>(fail(ErrorCode::kIo, script + ": " + finished.exit.str() + finished.err)));
  }
  return lines_of(finished.out);
}

}  // namespace skein::test
