#include "support/messages_api.h"

#include <sstream>

#include "support/expect.h"
#include "support/git_sandbox.h"

namespace skein::test {
namespace {

using namespace std::chrono_literals;

Subprocess start(const std::filesystem::path& folder, std::string_view script,
                 MessagesApi::Takers takers) {
  put_file(folder / "script.json", script);
  std::vector<std::string> argv = {"python3",
                                   "-B",
                                   SKEIN_SOURCE_DIR "/tests/support/messages_api.py",
                                   (folder / "script.json").string(),
                                   "--log",
                                   (folder / "requests").string()};
  if (takers == MessagesApi::Takers::kAll) argv.emplace_back("--all");
  return must(Subprocess::start({.argv = argv, .err = Spawn::Stream::kInherit}));
}

}  // namespace

MessagesApi::MessagesApi(std::string_view script, Takers takers)
    : process_(start(folder_.path(), script, takers)) {
  std::string line;
  while (!line.ends_with('\n')) {
    const auto chunk = must(process_.read(60s));
    if (chunk.out.empty()) must(Result<void>(fail(ErrorCode::kIo, "messages_api.py: " + line)));
    line += chunk.out;
  }
  port_ = line.substr(line.find(' ') + 1);
  port_.pop_back();
}

std::string MessagesApi::url() const { return "http://127.0.0.1:" + port_; }

std::vector<std::string> MessagesApi::requests() const {
  std::vector<std::string> lines;
  std::istringstream log(get_file(folder_.path() / "requests"));
  for (std::string line; std::getline(log, line);) lines.push_back(line);
  return lines;
}

}  // namespace skein::test
