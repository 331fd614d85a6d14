// Work items and working sessions of workspaces that are repositories.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "program.h"

namespace skein::test {
namespace {

namespace json = boost::json;
using testing::SizeIs;

std::string text_at(const json::value& value, std::string_view name) {
  return std::string(value.at(name).as_string());
}

class ItemsInRepositories : public testing::Test {
 protected:
  void git(const std::string& folder, const std::string& arguments) const {
    const std::string command =
        "cd '" + (workspace_.path() / folder).string() +
        "' && git -c user.name=n -c user.email=e -c init.defaultBranch=main " + arguments +
        " >/dev/null 2>&1";
    ASSERT_EQ(std::system(command.c_str()), 0) << command;
  }
  json::value in(const std::string& folder, std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), {"--workspace", (workspace_.path() / folder).string()});
    arguments.emplace_back("--json");
    const Ran ran = workspace_.run(arguments);
    EXPECT_EQ(ran.code, 0) << ran;
    return ran.json();
  }

  const Workspace workspace_{"sqlite"};
};

TEST_F(ItemsInRepositories, AStartTellsWhatChangedSinceTheLastSession) {
  workspace_.write("one/file", "1");
  git("one", "init");
  git("one", "add .");
  git("one", "commit -m first");
  json::value started = in("one", {"session", "start"});
  EXPECT_EQ(text_at(started.at("repository"), "branch"), "main");
  EXPECT_THAT(started.at("repository").at("commits_since").as_array(), SizeIs(0));
  in("one", {"session", "close"});
  git("one", "commit --allow-empty -m second");
  workspace_.write("one/file", "2");
  started = in("one", {"session", "start"});
  const json::value& news = started.at("repository");
  ASSERT_THAT(news.at("commits_since").as_array(), SizeIs(1));
  EXPECT_EQ(text_at(news.at("commits_since").as_array()[0], "subject"), "second");
  EXPECT_EQ(news.at("changed_files").as_int64(), 1);

  const std::string id = text_at(in("one", {"item", "create", "x"}).at("thread"), "id");
  const json::value shown = in("one", {"item", "show", id});
  EXPECT_EQ(shown.at("opened_by").at("commit"), news.at("head")) << "the one that is checked out";
}

TEST_F(ItemsInRepositories, ClonesOfOneRepositoryAreOneProjectWhateverTheirFolders) {
  for (const std::string folder : {"one", "two", "three"}) {
    workspace_.write(folder + "/file", "1");
    git(folder, "init");
    git(folder, "remote add origin git@example.org:team/" +
                    std::string(folder == "three" ? "other" : "skein") + ".git");
  }
  in("one", {"session", "start"});
  in("one", {"item", "create", "Of skein"});
  in("one", {"session", "close"});
  const json::value two = in("two", {"session", "start"});
  EXPECT_EQ(text_at(two.at("session"), "project"), "skein");
  EXPECT_THAT(two.at("open_threads").as_array(), SizeIs(1));
  EXPECT_THAT(in("three", {"session", "start"}).at("open_threads").as_array(), SizeIs(0));
}

}  // namespace
}  // namespace skein::test
