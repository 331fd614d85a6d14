// Brief routes of the program, whose fibers share a thread: none of them may hold a mutex when it
// waits (preload/held_mutexes.cc ends the program where one does).
#include <gtest/gtest.h>

#include <cstdlib>
#include <thread>

#include "serving.h"

namespace skein::test {
namespace {

constexpr const char* kEcho = R"({"metadata":{"graph_id":"echo"}})";
constexpr const char* kHello =
    R"({"assistant_id":"echo","input":{"messages":[{"role":"user","content":"hello"}]}})";
constexpr const char* kUpdate = R"({"values":{"messages":[{"role":"user","content":"hi"}]}})";

class BriefRoutes : public testing::Test {
 protected:
  // For all programs that this process starts.
  BriefRoutes() { ::setenv("LD_PRELOAD", (in_build("libheld_mutexes.so")).c_str(), 1); }
  ~BriefRoutes() override { ::unsetenv("LD_PRELOAD"); }

  static std::string in_build(const std::string& name) {
    return std::string(SKEIN_TEST_BIN_DIR) + "/" + name;
  }
};

TEST_F(BriefRoutes, HoldNoMutexWhileOthersGoOn) {
  const Workspace workspace("sqlite");
  Serving server(workspace);
  const auto client = [&] {
    HttpConnection connection(server.port());
    for (int i = 0; i < 20; ++i) {
      const Answered made = connection.ask("POST", "/threads", kEcho);
      ASSERT_EQ(made.status, 200) << made;
      const std::string thread = "/threads/" + std::string(made.json().at("thread_id").as_string());
      EXPECT_EQ(connection.ask("POST", thread + "/runs/wait", kHello).status, 200);
      EXPECT_EQ(connection.ask("POST", thread + "/state", kUpdate).status, 200);
      EXPECT_EQ(connection.ask("POST", "/threads/search", "{}").status, 200);
    }
  };
  {
    std::vector<std::jthread> clients;
    for (int i = 0; i < 4; ++i) clients.emplace_back(client);
  }
  const Ran ran = server.stop();
  EXPECT_EQ(ran.code, 0) << ran;
}

TEST_F(BriefRoutes, ThatHoldOneWouldBeFound) {
  const TempDir folder;
  const auto run = [&](std::vector<std::string> arguments) {
    return Running({.folder = folder.path(),
                    .arguments = std::move(arguments),
                    .program = in_build("fiber_with_mutex")})
        .finish();
  };
  EXPECT_EQ(run({}).signal, SIGABRT);
  EXPECT_EQ(run({"lets go"}).code, 0);
}

}  // namespace
}  // namespace skein::test
