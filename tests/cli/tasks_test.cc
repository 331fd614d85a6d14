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
  EXPECT_EQ(tasks[0].at("status"), "done");
  EXPECT_EQ(tasks[0].at("title"), "Report");
  const std::string thread(tasks[0].at("threadId").as_string());
  EXPECT_EQ(workspace_.run({"thread", "show", thread, "--json"}).json().at("taskId"),
            boost::json::string(id));
  EXPECT_THAT(workspace_.run({"task", "list"}).out,
              AllOf(HasSubstr(id), HasSubstr("done"), HasSubstr("Report")));
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

}  // namespace
}  // namespace skein::test
