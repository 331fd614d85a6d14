#include "served.h"

#include <boost/json/parse.hpp>

#include "support/expect.h"

namespace skein::test {
namespace {

using namespace std::chrono_literals;

Spawn serve(const std::filesystem::path& workspace, const std::vector<std::string>& more) {
  Spawn spawn{
      .argv = {SKEIN_PROGRAM, "--workspace", workspace.string(), "serve", "--port", "0", "--json"},
      .folder = workspace.string(),
      .environment = {{"SKEIN_EMBEDDER", "none"},
                      {"SKEIN_STORE", std::nullopt},
                      {"SKEIN_WORKSPACE", std::nullopt}},
      .in = Spawn::Stream::kNull,
      .err = Spawn::Stream::kNull};
  spawn.argv.insert(spawn.argv.end(), more.begin(), more.end());
  return spawn;
}

}  // namespace

Served::Served(const std::filesystem::path& workspace, const std::vector<std::string>& more)
    : process_(must(Subprocess::start(serve(workspace, more)))) {
  std::string said;
  while (said.find('\n') == std::string::npos) {
    const auto chunk = must(process_.read(60s));
    said += chunk.out;
    if (chunk.ended) must(Result<void>(fail(ErrorCode::kIo, "no server: " + said)));
  }
  url_ = std::string(boost::json::parse(said.substr(0, said.find('\n'))).at("url").as_string());
}

}  // namespace skein::test
