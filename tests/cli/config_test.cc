#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json/parse.hpp>
#include <filesystem>

#include "program.h"
#include "support/git_sandbox.h"
#include "support/temp_dir.h"

namespace skein::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class ConfigCommands : public testing::Test {
 protected:
  // With a configuration folder of the user's own, outside the workspace: inside it has no effect.
  Ran run(const std::string& words) const { return shell("skein config " + words); }
  Ran shell(const std::string& script) const {
    return workspace_.shell("export XDG_CONFIG_HOME='" + home_.path().string() + "'; " + script);
  }
  std::string user_file() const { return get_file(home_.path() / "skein" / "config.json"); }

  TempDir home_;
  Workspace workspace_;
};

TEST_F(ConfigCommands, SetGetAndUnsetASettingOfTheWorkspace) {
  const Ran set = run("set embedder none");
  ASSERT_EQ(set.code, 0) << set;
  EXPECT_THAT(set.out, HasSubstr(".skein/config.json"));
  EXPECT_EQ(workspace_.read(".skein/config.json"), "{\n  \"embedder\": \"none\"\n}\n");
  EXPECT_EQ(run("get embedder").out, "none\n");
  const auto got = run("get embedder --json").json();
  EXPECT_EQ(got.at("value").as_string(), "none");
  EXPECT_EQ(got.at("source").as_string(), "file");
  EXPECT_THAT(got.at("from").as_string().c_str(), HasSubstr(".skein/config.json"));
  ASSERT_EQ(run("unset embedder").code, 0);
  EXPECT_EQ(run("get embedder --json").json().at("source").as_string(), "default");
  EXPECT_EQ(run("unset embedder").code, 3);
}

TEST_F(ConfigCommands, ShowWhereEachValueComesFrom) {
  std::filesystem::create_directory(workspace_.path() / "x");
  workspace_.write(".skein/config.json", R"({"project": "p", "knowledgeRepos": {"a.b": "x"}})");
  const Ran all = run("get");
  EXPECT_THAT(all.out, AllOf(HasSubstr("store"), HasSubstr("default"), HasSubstr("project")));
  EXPECT_EQ(run("get knowledgeRepos.a.b").out, "x\n");
  const Ran environment = shell("SKEIN_EMBEDDER=minilm skein config get embedder --json");
  EXPECT_EQ(environment.json().at("source").as_string(), "environment");
  EXPECT_EQ(environment.json().at("from").as_string(), "SKEIN_EMBEDDER");
  const Ran flag = run("get store --store jsonl:x --json");
  EXPECT_EQ(flag.json().at("source").as_string(), "flag");
  EXPECT_EQ(run("get server.port").code, 3);
  EXPECT_EQ(run("get nothing").code, 1);
}

TEST_F(ConfigCommands, KeepServerSettingsInTheUsersFile) {
  const Ran refused = run("set server.port 8080");
  EXPECT_EQ(refused.code, 1) << refused;
  EXPECT_THAT(refused.err, AllOf(HasSubstr("server"), HasSubstr("--user")));
  EXPECT_EQ(workspace_.read(".skein/config.json"), "");
  ASSERT_EQ(run("set server.port 8080 --user").code, 0);
  EXPECT_EQ(user_file(), "{\n  \"server\": {\n    \"port\": 8080\n  }\n}\n");
  EXPECT_EQ(run("get server.port").out, "8080\n");
  const Ran wrong = run("set server.port 99999 --user");
  EXPECT_EQ(wrong.code, 1);
  EXPECT_THAT(wrong.err, HasSubstr("server.port"));
  EXPECT_EQ(run("get server.port").out, "8080\n");
  EXPECT_EQ(run("set project p --user").code, 1);

  workspace_.write(".skein/config.json", R"({"server": {"port": 1, "address": "0.0.0.0"}})");
  EXPECT_EQ(run("get server.port").out, "8080\n") << "a workspace's does not count";
  EXPECT_EQ(run("unset server").code, 0);
}

// As Home Manager and stow leave it.
TEST_F(ConfigCommands, FollowALinkOfTheUsersFile) {
  const TempDir home;
  const auto in_home = [&](const std::string& words) {
    return workspace_.shell("XDG_CONFIG_HOME=" + home.path().string() + " skein config " + words);
  };
  ASSERT_EQ(in_home("set server.port 8080 --user").code, 0);
  const auto file = home.path() / "skein/config.json";
  std::filesystem::rename(file, home.path() / "dotfiles.json");
  std::filesystem::create_symlink(home.path() / "dotfiles.json", file);
  const Ran listed = in_home("get");
  EXPECT_EQ(listed.code, 0) << listed;
  EXPECT_EQ(in_home("get server.port").out, "8080\n");
  ASSERT_EQ(in_home("set server.port 8081 --user").code, 0);
  EXPECT_EQ(in_home("get server.port").out, "8081\n");
  EXPECT_TRUE(std::filesystem::is_symlink(file));
}

TEST_F(ConfigCommands, WriteNothingThatWouldBeRefused) {
  workspace_.write(".skein/config.json", R"({"project": "p"})");
  for (const char* words :
       {"set embedder gpt", "set embedder 3", "set project 7", "set defaultAgent ../x",
        "set maxActiveThreads.topic many", "set redact.mine '('", "set project.x y",
        "set agents.helper.engine magic", "set nothing 1", "set . 1"}) {
    EXPECT_EQ(run(words).code, 1) << words;
    EXPECT_EQ(workspace_.read(".skein/config.json"), R"({"project": "p"})") << words;
  }
  EXPECT_EQ(run("set maxActiveThreads.to.pic 3").code, 0);
  EXPECT_EQ(run("set agents.helper '{\"engine\": \"echo\"}'").code, 0);
  EXPECT_EQ(run("set redact.mine 'ticket-[0-9]+'").code, 0);
  EXPECT_EQ(workspace_.run({"agent", "show", "helper"}).code, 0);
  EXPECT_EQ(run("get maxActiveThreads").out, "{\n    \"to.pic\": 3\n  }\n");
}

TEST_F(ConfigCommands, EditTheFileThatConfigNames) {
  workspace_.write("other.json", R"({"project": "q"})");
  ASSERT_EQ(run("set server.port 8081 --config other.json").code, 0);
  EXPECT_THAT(workspace_.read("other.json"), AllOf(HasSubstr("8081"), HasSubstr("\"q\"")));
  EXPECT_EQ(run("get server.port --config other.json").out, "8081\n");
}

TEST_F(ConfigCommands, ShowNoPassword) {
  const Ran got = run("get store --store postgres://me:secret@host/db");
  EXPECT_EQ(got.code, 0) << got;
  EXPECT_THAT(got.out, AllOf(HasSubstr("host/db"), Not(HasSubstr("secret"))));
}

TEST_F(ConfigCommands, ShowWhatIsNotTrustedAsWithoutEffect) {
  workspace_.write(".skein/config.json",
                   R"({"embedder": "openai:http://evil/v1#m", "store": "postgres://a:pw@evil/x"})");
  EXPECT_THAT(run("get embedder").out, Not(HasSubstr("evil")));
  const Ran store = run("get store");
  EXPECT_EQ(store.code, 3) << store;
  EXPECT_THAT(store.err, AllOf(HasSubstr("not trusted"), HasSubstr("skein trust")));
  const Ran all = run("get --json");
  EXPECT_THAT(all.out, Not(HasSubstr("pw")));
  std::size_t untrusted = 0;
  const auto values = all.json();
  for (const auto& value : values.as_array()) {
    untrusted += value.at("source").as_string() == "untrusted" ? 1 : 0;
  }
  EXPECT_EQ(untrusted, 2U) << all;
}

TEST_F(ConfigCommands, RefuseAFileThatIsTooLarge) {
  workspace_.write(".skein/config.json", "{\"project\": \"" + std::string(2 << 20, 'x') + "\"}");
  const Ran got = run("get");
  EXPECT_EQ(got.code, 2);
  EXPECT_THAT(got.err, HasSubstr("more than the limit"));
}

TEST_F(ConfigCommands, WriteThroughNoLinkThatLeavesTheWorkspace) {
  namespace fs = std::filesystem;
  const TempDir elsewhere;
  fs::remove_all(workspace_.path() / ".skein");
  fs::create_directory_symlink(elsewhere.path(), workspace_.path() / ".skein");
  EXPECT_NE(run("set embedder none").code, 0);
  EXPECT_TRUE(fs::is_empty(elsewhere.path()));
  fs::remove(workspace_.path() / ".skein");
  fs::create_directory(workspace_.path() / ".skein");
  fs::create_symlink(elsewhere.path() / "victim", workspace_.path() / ".skein/config.json");
  EXPECT_NE(run("set embedder none").code, 0);
  EXPECT_TRUE(fs::is_empty(elsewhere.path()));
}

}  // namespace
}  // namespace skein::test
