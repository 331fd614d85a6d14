#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json/serialize.hpp>

#include "program.h"
#include "skein/clock.h"

namespace skein::test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

class ConversationCommands : public OnEveryBackend {
 protected:
  boost::json::value shown(const std::string& id) {
    return workspace_.run({"thread", "show", id, "--json"}).json();
  }
  std::vector<std::string> messages(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"thread", "messages"});
    arguments.emplace_back("--json");
    std::vector<std::string> texts;
    const auto array = workspace_.run(arguments).json();
    for (const auto& message : array.as_array()) texts.emplace_back(message.at("text").as_string());
    return texts;
  }
};

INSTANTIATE_ON_EVERY_BACKEND(ConversationCommands);

TEST_P(ConversationCommands, ALifeFromCreationToArchive) {
  const std::string id = workspace_.create({"--system", "Be brief.", "--message", "Hello"});
  EXPECT_THAT(messages({id}), ElementsAre("Be brief.", "Hello"));
  EXPECT_EQ(workspace_.run({"thread", "pause", id}).out, id + " is paused\n");
  workspace_.append(id, "while it is paused");
  EXPECT_EQ(workspace_.run({"thread", "resume", id}).out, id + " is active\n");
  const auto closed = workspace_
                          .run({"thread", "close", id, "--summary", "Said hello.", "--resolution",
                                "completed", "--json"})
                          .json();
  EXPECT_EQ(closed.at("status").as_string(), "closed");
  EXPECT_EQ(closed.at("summary").as_string(), "Said hello.");
  const auto archived = workspace_
                            .run({"thread", "archive", id, "--retention-days", "365", "--reason",
                                  "compliance", "--json"})
                            .json();
  EXPECT_EQ(archived.at("archive").at("retentionDays").as_int64(), 365);
  EXPECT_EQ(workspace_.run({"thread", "restore", id}).out, id + " is closed\n");
}

TEST_P(ConversationCommands, RefuseWhatTheStatusDoesNotAllowAndNameIt) {
  const std::string id = workspace_.create();
  EXPECT_EQ(workspace_.run({"thread", "close", id}).code, 0);
  for (const std::vector<std::string>& command :
       std::vector<std::vector<std::string>>{{"thread", "append", id, "--text", "x"},
                                             {"thread", "resume", id},
                                             {"thread", "pause", id}}) {
    const Ran ran = workspace_.run(command);
    EXPECT_EQ(ran.code, 4) << ran;
    EXPECT_THAT(ran.err, AllOf(HasSubstr("closed"), HasSubstr("fork")));
  }
  const Ran lines =
      workspace_.run({"thread", "append", id, "--jsonl"}, "{\"role\":\"user\",\"text\":\"x\"}\n");
  EXPECT_EQ(lines.code, 1);
  EXPECT_THAT(lines.out, HasSubstr("closed"));
  EXPECT_THAT(workspace_.texts(id), ElementsAre());
}

TEST_P(ConversationCommands, MessagesOfAllRolesByPageOrderAndRole) {
  const std::string id = workspace_.create();
  for (const std::string role : {"user", "assistant", "system", "tool"}) {
    EXPECT_EQ(workspace_
                  .run({"thread", "append", id, "--role", role, "--text", role, "--memory-type",
                        "conversation_turn"})
                  .code,
              0);
  }
  EXPECT_THAT(messages({id, "--order", "newest", "--limit", "2", "--offset", "1"}),
              ElementsAre("system", "assistant"));
  EXPECT_THAT(messages({id, "--role", "tool"}), ElementsAre("tool"));
  const Ran plain = workspace_.run({"thread", "messages", id, "--limit", "1"});
  EXPECT_THAT(plain.out,
              AllOf(HasSubstr("user"), HasSubstr("conversation_turn"), Not(HasSubstr("\x1b["))));
}

TEST_P(ConversationCommands, UpdateReplacesMetadataAndPinsStay) {
  const std::string id = workspace_.create({"--metadata", R"({"a":1})", "--message", "m"});
  EXPECT_EQ(workspace_.run({"thread", "update", id, "--metadata", R"({"b":2})"}).code, 0);
  EXPECT_EQ(boost::json::serialize(shown(id).at("metadata")), R"({"b":2})");
  EXPECT_EQ(workspace_.run({"thread", "pin", id, "1"}).code, 0);
  EXPECT_EQ(boost::json::serialize(shown(id).at("pins")), "[1]");
  EXPECT_EQ(workspace_.run({"thread", "unpin", id, "1"}).code, 0);
  EXPECT_FALSE(shown(id).as_object().contains("pins"));
  EXPECT_EQ(workspace_.run({"thread", "pin", id, "2"}).code, 1);
  EXPECT_EQ(workspace_.run({"thread", "update", id}).code, 2);
}

TEST_P(ConversationCommands, KeepToTheConfiguredNumberOfActiveThreads) {
  workspace_.write("config.json", R"({"maxActiveThreads":{"user_id":1}})");
  const std::vector<std::string> create = {"--config", "config.json", "thread",
                                           "create",   "--metadata",  R"({"user_id":"u"})"};
  EXPECT_EQ(workspace_.run(create).code, 0);
  const Ran refused = workspace_.run(create);
  EXPECT_EQ(refused.code, 4) << refused;
  EXPECT_THAT(refused.err, AllOf(HasSubstr("user_id"), HasSubstr("\"u\""), HasSubstr("is 1")));
  workspace_.write("config.json", R"({"maxActiveThreads":{"user_id":"many"}})");
  EXPECT_EQ(workspace_.run(create).code, 2);
}

TEST_P(ConversationCommands, CleanUpWhatIsDueAfterSayingSoAndKeepARecord) {
  const std::string due = workspace_.create({"--agent", "support"});
  const std::string kept = workspace_.create();
  EXPECT_EQ(
      workspace_.run({"thread", "archive", due, "--retention-days", "0", "--reason", "test"}).code,
      0);
  EXPECT_EQ(workspace_.run({"thread", "archive", kept}).code, 0);
  const Ran dry = workspace_.run({"cleanup", "--dry-run"});
  EXPECT_THAT(dry.out, AllOf(HasSubstr(due), HasSubstr("is due"), HasSubstr("0 days (test)"),
                             HasSubstr("1 due; nothing was removed"), Not(HasSubstr(kept))));
  EXPECT_EQ(workspace_.run({"thread", "show", due}).code, 0);
  const auto done = workspace_.run({"cleanup", "--json"}).json();
  ASSERT_EQ(done.as_array().size(), 1U);
  EXPECT_EQ(done.at(0).at("outcome").as_string(), "removed");
  EXPECT_EQ(workspace_.run({"thread", "show", due}).code, 3);
  EXPECT_EQ(workspace_.run({"thread", "show", kept}).code, 0);
  EXPECT_THAT(workspace_.run({"cleanup", "--history"}).out,
              AllOf(HasSubstr(due), HasSubstr("support"), HasSubstr("test")));
  EXPECT_EQ(workspace_.run({"cleanup", "--json"}).out, "[]\n");
}

TEST_P(ConversationCommands, OnATerminalAreColouredRelativeAndWrapped) {
  const std::string words =
      "word word word word word word word word word word word word word "
      "word word word word word word";
  const std::string id = workspace_.create({"--message", words});
  const Ran list = workspace_.run_on_terminal({"thread", "list"});
  EXPECT_THAT(list.out, AllOf(HasSubstr("just now"), HasSubstr("\x1b[32mactive")));
  const Ran shown = workspace_.run_on_terminal({"thread", "messages", id});
  EXPECT_THAT(shown.out,
              AllOf(HasSubstr("\x1b[36muser"), HasSubstr("      word"), Not(HasSubstr(words))));
  const Ran piped = workspace_.run({"thread", "messages", id});
  EXPECT_THAT(piped.out, AllOf(HasSubstr(words), Not(HasSubstr("\x1b"))));
}

TEST_P(ConversationCommands, OnATerminalHonourNoColor) {
  const std::string id = workspace_.create({"--message", "x"});
  const Ran shown = workspace_.run_on_terminal({"thread", "messages", id}, {}, {"NO_COLOR=1"});
  EXPECT_THAT(shown.out, AllOf(HasSubstr("just now"), Not(HasSubstr("\x1b["))));
}

TEST(Terminal, TellsHowLongAgoAndBreaksWideText) {
  const Workspace workspace("jsonl");
  const std::int64_t now_us = system_clock().now().us;
  const auto write_thread = [&](const std::string& id, std::int64_t seconds_ago,
                                const std::string& text) {
    const std::string time = Timestamp{now_us - seconds_ago * 1'000'000}.str();
    workspace.write("store/a/threads/" + id + ".jsonl",
                    R"({"agentId":"a","createdAt":")" + time + R"(","updatedAt":")" + time +
                        "\"}\n" + R"({"type":"message","role":"user","text":")" + text +
                        R"(","timestamp":")" + time + "\"}\n");
  };
  write_thread("00000000000a", 5 * 60 + 30, "x");
  write_thread("00000000000b", 3 * 3600 + 60, "x");
  write_thread("00000000000c", 30 * 3600, "x");
  write_thread("00000000000d", 5 * 86400 + 60, "x");
  write_thread("00000000000e", 400 * 86400, "x");
  const std::string list = workspace.run_on_terminal({"thread", "list"}).out;
  for (const char* said : {"5 min ago", "3 h ago", "1 day ago", "5 days ago"}) {
    EXPECT_THAT(list, HasSubstr(said));
  }
  EXPECT_THAT(list, HasSubstr(Timestamp{now_us - 400 * 86400 * 1'000'000LL}.str().substr(0, 10)));

  std::string wide;
  for (int i = 0; i < 50; ++i) wide += "漢";  // 100 columns without a space, on 80
  write_thread("00000000000f", 1, wide);
  const std::string shown = workspace.run_on_terminal({"thread", "messages", "00000000000f"}).out;
  EXPECT_THAT(shown,
              HasSubstr("      " + wide.substr(0, 37 * 3) + "\r\n      " + wide.substr(37 * 3)));
}

}  // namespace
}  // namespace skein::test
