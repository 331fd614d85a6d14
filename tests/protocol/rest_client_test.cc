// The server as its own description, and a client made from it, know it:
// tests/protocol/rest/driver.mjs.
#include <gtest/gtest.h>

#include "core/subprocess.h"
#include "support/expect.h"
#include "support/temp_dir.h"
#include "tool_servers.h"

namespace skein::test {
namespace {

void drive(const std::string& step) {
  const TempDir folder;
  const Finished finished = must(
      run_program({.argv = {node_program(), SKEIN_SOURCE_DIR "/tests/protocol/rest/driver.mjs",
                            step, SKEIN_PROGRAM, folder.path().string()}},
                  "", {.time = std::chrono::minutes(4), .output_bytes = std::size_t{4} << 20}));
  EXPECT_TRUE(finished.exit.ok()) << finished.exit.str() << "\n" << finished.out << finished.err;
}

TEST(RestClient, TheDocumentIsOpenApi) { drive("document"); }

TEST(RestClient, TheTypesAreThoseThatTheDocumentMakes) { drive("types"); }

TEST(RestClient, EveryAnswerIsAsTheDocumentSays) { drive("client"); }

TEST(RestClient, StreamsGoOnAfterARestartWithoutAGapOrARepeat) { drive("restart"); }

}  // namespace
}  // namespace skein::test
