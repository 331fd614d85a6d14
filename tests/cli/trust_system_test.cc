// Root decides for a service, whose workspace and secret belong to another user.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "program.h"

namespace skein::test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

constexpr uid_t kService = 54'321;

class TrustOfAService : public testing::Test {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "only root can decide for another user";
    ASSERT_EQ(::chmod(folder_.path().c_str(), 0755), 0);
    fs::create_directories(config_.parent_path());
    for (const fs::path& folder : {state_, workspace_}) give(folder);
    ASSERT_EQ(as_service("skein thread create").code, 0);
    ASSERT_EQ(as_service("skein key create --access admin").code, 0);
    fs::remove(state_ / "secret");  // what was signed is not any more
    give(workspace_ / "agents" / "helper");
    write(workspace_ / "agents/helper/agent.json",
          R"({"engine":"claude-code","options":{"program":"/bin/true"}})");
  }

  void give(const fs::path& folder) const {
    fs::create_directories(folder);
    ASSERT_EQ(::chown(folder.c_str(), kService, kService), 0);
  }
  void write(const fs::path& file, std::string_view text) const {
    std::ofstream(file) << text;
    ASSERT_EQ(::chown(file.c_str(), kService, kService), 0);
  }
  Ran shell(const std::string& script) const {
    return Running({.folder = folder_.path(),
                    .arguments = {"-c", script},
                    .environment = {"PATH=" + path_with_skein(),
                                    "CONFIGURATION_DIRECTORY=" + config_.string(),
                                    "STATE_DIRECTORY=" + state_.string(),
                                    "SKEIN_WORKSPACE=" + workspace_.string()},
                    .program = "/bin/bash"})
        .finish();
  }
  Ran as_service(const std::string& script) const {
    return shell("setpriv --reuid=54321 --regid=54321 --clear-groups " + script);
  }
  static struct stat status_of(const fs::path& file) {
    struct stat status{};
    EXPECT_EQ(::lstat(file.c_str(), &status), 0) << file;
    return status;
  }

  TempDir folder_;
  const fs::path config_ = folder_.path() / "etc" / "skein";
  const fs::path state_ = folder_.path() / "lib" / "skein";
  const fs::path workspace_ = state_ / "workspace";
};

TEST_F(TrustOfAService, IsReadAndUsedByTheService) {
  EXPECT_THAT(as_service("skein trust --print").out, HasSubstr("agent:helper"));
  const Ran printed = shell("skein trust --system --print");
  ASSERT_EQ(printed.code, 0) << printed;
  const std::string digest = printed.out.substr(printed.out.rfind("digest ") + 7, 64);
  const Ran trusted = shell("skein trust --system --trust=" + digest);
  ASSERT_EQ(trusted.code, 0) << trusted;
  const Ran after = as_service("skein trust --print");
  EXPECT_THAT(after.out, HasSubstr("nothing needs trust")) << after;
  EXPECT_THAT(as_service("skein key list").out, Not(HasSubstr("not signed")));
  // The decision is root's, and for the service to read; the rest stays the service's own.
  EXPECT_EQ(status_of(config_ / "trust.json").st_uid, 0U);
  EXPECT_EQ(status_of(config_ / "trust.json").st_mode & 0777U, 0644U);
  EXPECT_EQ(status_of(state_ / "secret").st_uid, kService);
  EXPECT_EQ(status_of(state_ / "secret").st_mode & 0777U, 0600U);
  for (const auto& entry : fs::directory_iterator(workspace_ / ".skein")) {
    EXPECT_EQ(status_of(entry.path()).st_uid, kService) << entry.path();
  }
  ASSERT_EQ(shell("skein trust revoke --system").code, 0);
  EXPECT_THAT(as_service("skein trust --print").out, HasSubstr("agent:helper"));
}

TEST_F(TrustOfAService, ReadsItsFilesWithItsRightsAlone) {
  const fs::path definition = workspace_ / "agents/helper/agent.json";
  ASSERT_EQ(::chown(definition.c_str(), 0, 0), 0);
  ASSERT_EQ(::chmod(definition.c_str(), 0600), 0);
  const Ran printed = shell("skein trust --system --print");
  EXPECT_THAT(printed.out + printed.err, HasSubstr("Permission denied"));
  EXPECT_THAT(printed.out, Not(HasSubstr("/bin/true")));
}

}  // namespace
}  // namespace skein::test
