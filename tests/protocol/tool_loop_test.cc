// An agent that uses real servers of tools, through the program.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <fstream>

#include "core/subprocess.h"
#include "support/expect.h"
#include "support/messages_api.h"
#include "support/temp_dir.h"
#include "tool_servers.h"

namespace skein::test {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::HasSubstr;

std::string quoted(const std::string& text) { return Json::string(text).text(); }

std::string server_json(const ToolServer& server) {
  std::string args;
  for (std::size_t i = 1; i < server.command.size(); ++i) {
    args += (args.empty() ? "" : ",") + quoted(server.command[i]);
  }
  return R"({"command":)" + quoted(server.command[0]) + R"(,"args":[)" + args + "]}";
}

// A workspace with an agent "helper", whose model is a script.
class ToolLoop : public testing::Test {
 protected:
  void define(const MessagesApi& api, const std::string& capabilities) {
    const auto folder = workspace_.path() / "agents" / "helper";
    std::filesystem::create_directories(folder);
    std::ofstream(folder / "agent.json")
        << R"({"engine":"anthropic","model":"some-model","capabilities":)" << capabilities
        << R"(,"options":{"baseUrl":)" << quoted(api.url()) << "}}" << std::flush;
    const auto review = boost::json::parse(run({"trust", "--print", "--json"}).out);
    run({"trust", "--trust", std::string(review.at("digest").as_string())});
  }
  Finished run(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), SKEIN_PROGRAM);
    return must(run_program({.argv = std::move(arguments),
                             .folder = workspace_.path().string(),
                             .environment = {{"SKEIN_STORE", std::nullopt},
                                             {"SKEIN_WORKSPACE", workspace_.path().string()}}},
                            {}, {.time = 120s}));
  }

  TempDir workspace_;
};

TEST_F(ToolLoop, ReadsAFileThroughTheFilesystemServerAndAnswers) {
  std::ofstream(workspace_.path() / "note.txt") << "the answer is 42";
  const std::string path = (workspace_.path() / "note.txt").string();
  const MessagesApi api(R"([{"content":[{"type":"text","text":"I look."},)"
                        R"({"type":"tool_use","name":"files__read_text_file","input":{"path":)" +
                        quoted(path) +
                        R"(}},)"
                        R"({"type":"tool_use","name":"files__read_text_file",)"
                        R"("input":{"path":"/etc/passwd"}}]},{"content":"It says 42."}])");
  define(api, R"({"mcpServers":{"files":)" +
                  server_json(filesystem_server(workspace_.path().string())) +
                  R"(},"allow":["files__read_*"]})");
  const Finished ran = run({"run", "helper", "What does the note say?", "--json"});
  ASSERT_TRUE(ran.exit.ok()) << ran.out << ran.err;
  const auto outcome = boost::json::parse(ran.out);
  EXPECT_EQ(outcome.at("response"), "It says 42.");
  // What the model was given back.
  const auto requests = api.requests();
  ASSERT_GE(requests.size(), 2U);
  EXPECT_THAT(requests[0], AllOf(HasSubstr("files__read_text_file"),
                                 testing::Not(HasSubstr("files__write_file"))));
  EXPECT_THAT(requests[1], AllOf(HasSubstr("the answer is 42"), HasSubstr("denied")));
  const std::string thread(outcome.at("threadId").as_string());
  const Finished events = run({"thread", "events", thread});
  EXPECT_THAT(events.out, AllOf(HasSubstr("files__read_text_file"), HasSubstr("the answer is 42"),
                                HasSubstr("It says 42.")));
}

TEST_F(ToolLoop, AsksAnotherAgentInAThreadOfItsOwn) {
  const MessagesApi api(
      R"([{"content":[{"type":"tool_use","name":"ask_agent",)"
      R"("input":{"agent":"echo","message":"Say hello"}},)"
      R"({"type":"tool_use","name":"ask_agent","input":{"agent":"helper","message":"Myself"}},)"
      R"({"type":"tool_use","name":"create_work_item","input":{"text":"Check the echo"}}]},)"
      R"({"content":"It said hello."}])");
  define(api, R"({"builtin":["ask_agent","work_items"]})");
  const Finished ran = run({"run", "helper", "Ask echo", "--json"});
  ASSERT_TRUE(ran.exit.ok()) << ran.out << ran.err;
  const auto requests = api.requests();
  ASSERT_GE(requests.size(), 2U);
  EXPECT_THAT(requests[1], AllOf(HasSubstr("Say hello"), HasSubstr("Check the echo")));
  const auto threads =
      boost::json::parse(run({"thread", "list", "--agent", "echo", "--json"}).out).as_array();
  ASSERT_EQ(threads.size(), 1U);
  EXPECT_EQ(threads[0].at_pointer("/metadata/askedBy"), "helper");
  // Nobody asks themselves.
  EXPECT_EQ(boost::json::parse(run({"thread", "list", "--agent", "helper", "--json"}).out)
                .as_array()
                .size(),
            1U);
  EXPECT_THAT(run({"item", "list"}).out, HasSubstr("Check the echo"));
}

TEST_F(ToolLoop, WarnsOfANameInConfirmThatItsServerDoesNotOffer) {
  const MessagesApi api(R"([{"content":"Hello."}])");
  define(api, R"({"mcpServers":{"odd":)" +
                  server_json({.name = "odd",
                               .command = {"python3",
                                           SKEIN_SOURCE_DIR "/tests/support/odd_mcp_server.py"}}) +
                  R"(},"confirm":["odd__t0","odd__t9"]})");
  const Finished ran = run({"run", "helper", "Hello"});
  EXPECT_TRUE(ran.exit.ok()) << ran.err;
  EXPECT_THAT(ran.err,
              AllOf(HasSubstr("\"confirm\" has \"odd__t9\""), testing::Not(HasSubstr("odd__t0"))));
}

TEST_F(ToolLoop, NamesAServerThatDoesNotStart) {
  const MessagesApi api("[]");
  define(api, R"({"mcpServers":{"gone":{"command":"no-such-program-here"}}})");
  const Finished ran = run({"run", "helper", "Hello"});
  EXPECT_FALSE(ran.exit.ok());
  EXPECT_THAT(ran.err, AllOf(HasSubstr("gone"), HasSubstr("no-such-program-here")));
}

}  // namespace
}  // namespace skein::test
