// The commands in the documentation, run as they stand there.
#include <gtest/gtest.h>

#include "page.h"

namespace skein::test {
namespace {

void expect_as_shown(const std::string& page) {
  const Workspace workspace;
  expect_as_shown(steps_of_page("docs/" + page), workspace.bash());
}

TEST(Documentation, TheCommandsAboutConversationsAnswerAsShown) {
  expect_as_shown("conversations.md");
}

TEST(Documentation, TheCommandsAboutAgentsAnswerAsShown) { expect_as_shown("agents.md"); }
TEST(Documentation, TheCommandsAboutCheckpointsAnswerAsShown) { expect_as_shown("checkpoints.md"); }
TEST(Documentation, TheCommandsAboutImportsAnswerAsShown) { expect_as_shown("import.md"); }
TEST(Documentation, TheCommandsAboutWorkspacesAnswerAsShown) { expect_as_shown("workspaces.md"); }
TEST(Documentation, TheCommandsAboutWorkItemsAnswerAsShown) { expect_as_shown("work-items.md"); }

}  // namespace
}  // namespace skein::test
