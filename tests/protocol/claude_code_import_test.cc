// What the real Claude Code wrote down is imported.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "api/transfer/import.h"
#include "api/transfer/sources.h"
#include "claude_code.h"
#include "support/expect.h"
#include "support/git_sandbox.h"
#include "support/messages_api.h"

namespace skein::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

class ClaudeCodeImport : public testing::Test {
 protected:
  // Answers the session that it was.
  std::string claude(const MessagesApi& api, const std::string& prompt,
                     const std::vector<std::string>& more = {}) const {
    const Finished ran = run_claude(sandbox_.path(), home_.path(), api.url(), prompt, more);
    EXPECT_TRUE(ran.exit.ok()) << ran.out << ran.err;
    const std::string mark = R"("session_id":")";
    return ran.out.substr(ran.out.find(mark) + mark.size(), 36);
  }

  ImportSummary import() {
    const auto files = must(find_thread_files(home_.path() / ".claude"));
    return must(import_threads(*store_, files, {.problem = [](const FileProblem& problem) {
      ADD_FAILURE() << problem.message;
    }}));
  }

  std::vector<std::string> path_of(ThreadId id) {
    std::vector<std::string> all;
    must(store_->read(id, {.view = View::kPath}, [&](Event& event) {
      if (const auto* message = std::get_if<Message>(&event.payload)) {
        all.push_back(std::string(to_string(message->role)) + " " + message->text);
      } else if (const auto* use = std::get_if<ToolUse>(&event.payload)) {
        all.push_back("call " + use->name);
      } else if (const auto* said = std::get_if<AssistantText>(&event.payload)) {
        all.push_back("narration " + said->text);
      }
      return true;
    }));
    return all;
  }
  Manifest thread(const std::string& ref) {
    return *must(store_->get(must(ThreadRef::parse(ref))));
  }

  GitSandbox sandbox_;
  TempDir home_;
  std::unique_ptr<Store> store_ = must(open_store("memory:"));
};

TEST_F(ClaudeCodeImport, ASessionWithCallsAtOnceAndAFailureComesOverWholeAndGrowsWhenResumed) {
  const MessagesApi api(R"([
    {"content": ["I will look.", {"type": "tool_use", "name": "Bash", "input": {
      "command": "false", "description": "Fail"}}, {"type": "tool_use", "name": "Bash", "input": {
      "command": "echo two", "description": "Say"}}]},
    {"content": ["All done."], "usage": {"input_tokens": 11, "output_tokens": 7}},
    {"content": ["Still done."]}
  ])");
  const std::string session = claude(api, "Do your work.");
  const ImportSummary first = import();
  EXPECT_EQ(first.imported, 1u);
  const Manifest manifest = thread(session);
  EXPECT_EQ(manifest.session_id, session);
  auto path = path_of(manifest.id);
  ASSERT_THAT(path, SizeIs(7)) << "both results are on the path, whichever came first";
  std::sort(path.begin() + 4, path.begin() + 6);
  EXPECT_THAT(path,
              ElementsAre("user Do your work.", "narration I will look.", "call Bash", "call Bash",
                          HasSubstr("tool Exit code 1"), "tool two", "assistant All done."));
  EXPECT_THAT(manifest.metadata.text(), HasSubstr("\"cwd\":\"" + sandbox_.path().string() + "\""));
  std::string metadata;
  must(store_->read(manifest.id, {}, [&](Event& event) {
    metadata += event.metadata.text() + "\n";
    return true;
  }));
  EXPECT_THAT(metadata, HasSubstr(R"("tool_name":"Bash","is_error":true)"));
  EXPECT_THAT(metadata, HasSubstr(R"("tokens":{"input":11,"output":7)"));

  EXPECT_EQ(import().present, 1u);
  EXPECT_EQ(claude(api, "And now?", {"--resume", session}), session);
  const ImportSummary grown = import();
  EXPECT_EQ(grown.extended, 1u);
  EXPECT_EQ(grown.new_events, 2u);
  EXPECT_THAT(path_of(manifest.id), SizeIs(9));
  EXPECT_EQ(path_of(manifest.id).back(), "assistant Still done.");
}

TEST_F(ClaudeCodeImport, ASubagentIsAThreadOfItsOwn) {
  const MessagesApi api(R"([
    {"content": [{"type": "tool_use", "name": "Agent", "input": {"subagent_type": "general-purpose",
      "description": "count files", "prompt": "Count the files."}}]},
    {"content": ["An answer."]},
    {"content": ["An answer."]},
    {"content": ["An answer."]}
  ])");
  const std::string session = claude(api, "Delegate.", {"Agent"});
  EXPECT_EQ(import().imported, 2u);
  const Manifest main = thread(session);
  EXPECT_EQ(path_of(main.id)[1], "call Agent");
  ListQuery query;
  query.metadata = {{.key = "parent_thread", .value = Json::string(main.id.str())}};
  const auto page = must(store_->list(query));
  ASSERT_THAT(page.threads, SizeIs(1));
  EXPECT_EQ(page.threads[0].title, "count files");
  EXPECT_THAT(path_of(page.threads[0].id),
              ElementsAre("user Count the files.", "assistant An answer."));
}

}  // namespace
}  // namespace skein::test
