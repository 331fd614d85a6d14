// Tasks and triggers, as a user meets them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "program.h"

namespace skein::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::MatchesRegex;

class TaskCommands : public OnEveryBackend {};
INSTANTIATE_ON_EVERY_BACKEND(TaskCommands);

TEST_P(TaskCommands, GiveAnAgentSomethingToDoAndShowHowItWent) {
  const Ran created = workspace_.run({"task", "create", "echo", "Write it", "--title", "Report"});
  ASSERT_EQ(created.code, 0) << created;
  EXPECT_THAT(created.out, HasSubstr("Write it"));
  const auto tasks = workspace_.run({"task", "list", "--json"}).json().as_array();
  ASSERT_EQ(tasks.size(), 1U);
  const std::string id(tasks[0].at("id").as_string());
  EXPECT_EQ(tasks[0].at("status"), "open") << "a good run does not end it";
  EXPECT_EQ(tasks[0].at("title"), "Report");
  const std::string thread(tasks[0].at("threadId").as_string());
  EXPECT_EQ(workspace_.run({"thread", "show", thread, "--json"}).json().at("taskId"),
            boost::json::string(id));
  EXPECT_THAT(workspace_.run({"task", "list"}).out,
              AllOf(HasSubstr(id), HasSubstr("open"), HasSubstr("Report")));
  EXPECT_THAT(workspace_.run({"task", "show", id}).out,
              AllOf(HasSubstr(id), HasSubstr("success"), HasSubstr("Write it")));
  EXPECT_THAT(workspace_.run({"task", "run", id, "Again"}).out, HasSubstr("Again"));
}

TEST_P(TaskCommands, NoteATaskForLaterAndCancelIt) {
  const Ran later = workspace_.run({"task", "create", "echo", "Later", "--later"});
  ASSERT_EQ(later.code, 0) << later;
  const std::string id = later.out_line();
  EXPECT_THAT(id, MatchesRegex("task-[0-9a-f]{16}"));
  EXPECT_EQ(workspace_.run({"task", "show", id, "--json"}).json().at("status"), "open");
  EXPECT_EQ(workspace_.run({"task", "cancel", id}).code, 0);
  EXPECT_EQ(workspace_.run({"task", "show", id, "--json"}).json().at("status"), "cancelled");
  const Ran refused = workspace_.run({"task", "run", id});
  EXPECT_EQ(refused.code, 4) << refused;
  EXPECT_THAT(refused.err, HasSubstr("cancelled"));
}

TEST_P(TaskCommands, SayWhatIsNotThere) {
  workspace_.create();
  EXPECT_EQ(workspace_.run({"task", "create", "nobody", "x"}).code, 3);
  EXPECT_EQ(workspace_.run({"task", "show", "task-0000000000000000"}).code, 3);
  EXPECT_EQ(workspace_.run({"task", "run", "task-0000000000000000"}).code, 3);
  EXPECT_EQ(workspace_.run({"task", "cancel", "nonsense"}).code, 3);
  EXPECT_EQ(workspace_.run({"task", "list", "--json"}).out, "[]\n");
}

TEST_P(TaskCommands, ListNoneWhereThereIsNoStoreYet) {
  for (const char* command : {"list", "history"}) {
    const Ran ran = workspace_.run({"task", command, "--json"});
    EXPECT_EQ(ran.code, 0) << ran;
    EXPECT_EQ(ran.out, "[]\n");
  }
  EXPECT_EQ(workspace_.run({"task", "show", "task-0000000000000000"}).code, 3);
}

class TriggerCommands : public OnEveryBackend {};
INSTANTIATE_ON_EVERY_BACKEND(TriggerCommands);

TEST_P(TriggerCommands, AddListAndRemove) {
  const Ran added = workspace_.run({"trigger", "add", "echo", "0 9 * * MON-FRI", "Good morning",
                                    "--zone", "Europe/Berlin", "--name", "morning"});
  ASSERT_EQ(added.code, 0) << added;
  const std::string id = added.out_line();
  EXPECT_THAT(id, MatchesRegex("trigger-[0-9a-f]{16}"));
  EXPECT_THAT(added.err, HasSubstr("due next at 2"));
  EXPECT_THAT(workspace_.run({"trigger", "list"}).out,
              AllOf(HasSubstr(id), HasSubstr("morning"), HasSubstr("0 9 * * MON-FRI"),
                    HasSubstr("Europe/Berlin")));
  const auto listed = workspace_.run({"trigger", "list", "--json"}).json().as_array();
  ASSERT_EQ(listed.size(), 1U);
  EXPECT_EQ(listed[0].at("text"), "Good morning");
  EXPECT_EQ(listed[0].at("overdue"), 0);
  EXPECT_EQ(workspace_.run({"trigger", "remove", id}).code, 0);
  EXPECT_EQ(workspace_.run({"trigger", "list", "--json"}).out, "[]\n");
  EXPECT_EQ(workspace_.run({"trigger", "remove", id}).code, 3);
}

TEST_P(TriggerCommands, RefuseWhatMakesNoSense) {
  const auto refused = [&](std::vector<std::string> arguments, std::string_view mention) {
    arguments.insert(arguments.begin(), {"trigger", "add"});
    const Ran ran = workspace_.run(arguments);
    EXPECT_NE(ran.code, 0) << ran;
    EXPECT_THAT(ran.err, HasSubstr(mention));
  };
  refused({"nobody", "@daily", "x"}, "nobody");
  refused({"echo", "61 * * * *", "x"}, "minute");
  refused({"echo", "0 0 30 2 *", "x"}, "never");
  refused({"echo", "@daily", "x", "--zone", "Mars/Base"}, "Mars/Base");
}

TEST_P(TriggerCommands, ListNoneWhereThereIsNoStoreYet) {
  const Ran ran = workspace_.run({"trigger", "list", "--json"});
  EXPECT_EQ(ran.code, 0) << ran;
  EXPECT_EQ(ran.out, "[]\n");
}

TEST_P(TaskCommands, KeepAPlanAnOwnerAndAHistory) {
  const std::string id = workspace_
                             .run({"task", "create", "echo", "Write it", "--step", "Read", "--step",
                                   "Write", "--owner", "user"})
                             .out_line();
  ASSERT_THAT(id, MatchesRegex("task-[0-9a-f]{16}"));
  EXPECT_EQ(workspace_.run({"task", "run", id}).code, 4) << "a person's to do";
  const Ran part = workspace_.run(
      {"task", "create", "echo", "Part", "--part-of", id, "--of-step", "2", "--later"});
  ASSERT_EQ(part.code, 0) << part;
  const auto updated =
      workspace_.run({"task", "update", id, "--done", "1", "--owner", "echo", "--json"}).json();
  EXPECT_EQ(updated.at_pointer("/steps/0/done"), true);
  EXPECT_EQ(updated.at_pointer("/steps/1/taskId"), boost::json::string(part.out_line()));
  EXPECT_EQ(updated.at("owner"), "echo");
  EXPECT_THAT(workspace_.run({"task", "show", id}).out,
              AllOf(HasSubstr("1. [x] Read"), HasSubstr("2. [ ] Write")));
  EXPECT_EQ(workspace_.run({"task", "update", id}).code, 2);
  EXPECT_EQ(workspace_.run({"task", "update", id, "--done", "7"}).code, 1);
  EXPECT_EQ(workspace_.run({"task", "complete", part.out_line()}).code, 0);
  EXPECT_EQ(workspace_.run({"task", "complete", id, "--note", "Sent"}).code, 0);
  EXPECT_EQ(workspace_.run({"task", "list", "--open", "--json"}).out, "[]\n");
  EXPECT_EQ(workspace_.run({"task", "list", "--json"}).json().as_array().size(), 2U);
  const auto history = workspace_.run({"task", "history", "--json"}).json().as_array();
  ASSERT_EQ(history.size(), 2U);
  EXPECT_EQ(history[0].at("id"), boost::json::string(id));
  EXPECT_EQ(history[0].at("status"), "done");
  EXPECT_EQ(history[0].at("note"), "Sent");
  const Ran refused = workspace_.run({"task", "run", id});
  EXPECT_EQ(refused.code, 4) << refused;
  EXPECT_THAT(refused.err, HasSubstr("completed"));
}

TEST_P(TriggerCommands, EditEnableAndDisable) {
  const std::string id =
      workspace_.run({"trigger", "add", "echo", "@daily", "Hi", "--zone", "UTC"}).out_line();
  const Ran edited = workspace_.run(
      {"trigger", "edit", id, "--cron", "0 9 * * *", "--text", "Ho", "--zone", "Europe/Berlin"});
  ASSERT_EQ(edited.code, 0) << edited;
  EXPECT_THAT(edited.err, HasSubstr("zone Europe/Berlin"));
  EXPECT_EQ(workspace_.run({"trigger", "disable", id}).code, 0);
  EXPECT_THAT(workspace_.run({"trigger", "list"}).out,
              AllOf(HasSubstr("disabled"), HasSubstr("0 9 * * *"), HasSubstr("Europe/Berlin")));
  EXPECT_EQ(workspace_.run({"trigger", "list", "--json"}).json().at(0).at("enabled"), false);
  const Ran enabled = workspace_.run({"trigger", "enable", id, "--json"});
  EXPECT_EQ(enabled.json().at("enabled"), true);
  EXPECT_EQ(enabled.json().at("text"), "Ho");
  EXPECT_EQ(workspace_.run({"trigger", "edit", id}).code, 2);
  EXPECT_EQ(workspace_.run({"trigger", "edit", id, "--text", ""}).code, 1);
  EXPECT_EQ(workspace_.run({"trigger", "disable", "trigger-0000000000000000"}).code, 3);
}

TEST_P(TriggerCommands, RefuseAnEmptyPromptAndTakeTheZoneOfTheSystem) {
  EXPECT_EQ(workspace_.run({"trigger", "add", "echo", "@daily", ""}).code, 1);
  EXPECT_EQ(workspace_.run({"trigger", "add", "echo", "@daily", "  "}).code, 1);
  const Ran added = workspace_.shell("TZ=Asia/Kathmandu skein trigger add echo @daily Hi");
  ASSERT_EQ(added.code, 0) << added;
  EXPECT_THAT(added.err, HasSubstr("zone Asia/Kathmandu"));
  EXPECT_EQ(workspace_.run({"trigger", "list", "--json"}).json().at(0).at("zone"),
            "Asia/Kathmandu");
}

}  // namespace
}  // namespace skein::test
