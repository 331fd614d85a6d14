#include "claude_code.h"

#include <sys/utsname.h>

#include "support/expect.h"

namespace skein::test {
namespace {

using namespace std::chrono_literals;

}  // namespace

// The program is in the package for this machine; that of all machines only finds it.
std::string claude_program() {
  utsname machine{};
  ::uname(&machine);
  const bool arm = std::string(machine.machine) == "aarch64";
  const std::string path = std::string(SKEIN_SOURCE_DIR) +
                           "/tests/protocol/node_modules/@anthropic-ai/claude-code-linux-" +
                           (arm ? "arm64" : "x64") + "/claude";
  EXPECT_TRUE(std::filesystem::exists(path)) << "run tools/setup: there is no " << path;
  return path;
}

Finished run_claude(const std::filesystem::path& folder, const std::filesystem::path& home,
                    const std::string& api_url, const std::string& prompt,
                    const std::vector<std::string>& more) {
  Spawn spawn{.argv = {claude_program(), "-p", prompt, "--output-format", "json", "--allowedTools",
                       "Bash", "Write"},
              .folder = folder.string(),
              .environment = {{"HOME", home.string()},
                              {"XDG_CONFIG_HOME", std::nullopt},
                              {"CLAUDE_CONFIG_DIR", std::nullopt},
                              {"ANTHROPIC_BASE_URL", api_url},
                              {"ANTHROPIC_API_KEY", "a-key-for-tests"},
                              {"ANTHROPIC_AUTH_TOKEN", std::nullopt},
                              {"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"},
                              {"DISABLE_AUTOUPDATER", "1"},
                              {"SKEIN_WORKSPACE", std::nullopt},
                              {"SKEIN_STORE", std::nullopt},
                              {"GIT_AUTHOR_NAME", "A Tester"},
                              {"GIT_AUTHOR_EMAIL", "tester@example.org"},
                              {"GIT_COMMITTER_NAME", "A Tester"},
                              {"GIT_COMMITTER_EMAIL", "tester@example.org"}},
              .in = Spawn::Stream::kNull};
  spawn.argv.insert(spawn.argv.end(), more.begin(), more.end());
  return must(run_program(spawn, {}, {.time = 240s}));
}

}  // namespace skein::test
