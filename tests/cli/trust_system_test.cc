// Root decides for a service, whose workspace and secret belong to another user.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

#include "program.h"

namespace skein::test {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
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
  // With an /etc of its own, and with a user's settings instead of a service's. `user_script` is
  // run by the service's user afterwards.
  Ran in_own_etc(const std::string& script, const std::string& user_script = "") const {
    const std::string trust_all =
        "trust_all() { skein trust $1 --trust=$(skein trust $1 --print | sed -n 's/^digest //p'); "
        "}\n";
    const fs::path user_file = folder_.path() / "user.sh";
    write(user_file, trust_all + user_script);
    write(folder_.path() / "root.sh",
          "mount -t tmpfs none /etc && mkdir /etc/skein\n"
          "unset CONFIGURATION_DIRECTORY STATE_DIRECTORY\n"
          "export HOME=" +
              home_.string() + " XDG_CONFIG_HOME=" + home_.string() + "\n" + trust_all + script +
              "\nsetpriv --reuid=54321 --regid=54321 --clear-groups bash " + user_file.string());
    return shell("exec unshare --mount bash " + (folder_.path() / "root.sh").string());
  }
  static bool has_own_mounts() {
    return std::system("unshare --mount true 2> /dev/null") == 0;  // NOLINT: no input in it
  }
  static struct stat status_of(const fs::path& file) {
    struct stat status{};
    EXPECT_EQ(::lstat(file.c_str(), &status), 0) << file;
    return status;
  }

  TempDir folder_;
  const fs::path home_ = folder_.path() / "home";
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

TEST_F(TrustOfAService, RevokeOfAUserNamesTheDecisionThatStillCounts) {
  if (!has_own_mounts()) GTEST_SKIP() << "there are no mount namespaces";
  give(home_);
  const Ran revoked = in_own_etc("trust_all --system > /dev/null", "skein trust revoke");
  EXPECT_EQ(revoked.code, 3) << revoked;
  EXPECT_THAT(revoked.err, AllOf(HasSubstr("nothing was trusted"),
                                 HasSubstr("/etc/skein/trust.json still trusts"),
                                 HasSubstr("skein trust revoke --system")));
}

TEST_F(TrustOfAService, DecisionsThatAUserMayNotReadLeaveTheirOwnInEffect) {
  if (!has_own_mounts()) GTEST_SKIP() << "there are no mount namespaces";
  give(home_);
  const Ran after =
      in_own_etc("chmod 700 /etc/skein", "trust_all > /dev/null; skein trust --print");
  EXPECT_EQ(after.code, 0) << after;
  EXPECT_THAT(after.out, HasSubstr("nothing needs trust")) << after;
}

TEST_F(TrustOfAService, DecisionsThatAUserMayNotReadAreNoErrorWithoutTheirOwn) {
  if (!has_own_mounts()) GTEST_SKIP() << "there are no mount namespaces";
  give(home_);
  const Ran after = in_own_etc("chmod 700 /etc/skein",
                               "export XDG_CONFIG_HOME=$SKEIN_WORKSPACE/config\n"
                               "skein trust --print");
  EXPECT_EQ(after.code, 0) << after;
  EXPECT_THAT(after.out, HasSubstr("agent:helper (new")) << after;
}

TEST_F(TrustOfAService, RevokeSucceedsWhateverTheAdministratorsFileIs) {
  if (!has_own_mounts()) GTEST_SKIP() << "there are no mount namespaces";
  give(home_);
  // The user owns the folder here, to break the file between two commands.
  const Ran after = in_own_etc("chown 54321 /etc/skein",
                               "trust_all > /dev/null\n"
                               "echo nonsense > /etc/skein/trust.json\n"
                               "skein trust revoke; echo code $?\n"
                               "rm /etc/skein/trust.json\n"
                               "skein trust list");
  EXPECT_THAT(after.out, AllOf(HasSubstr("code 0"), HasSubstr("no workspace has trusted")))
      << after;
  EXPECT_THAT(after.err, HasSubstr("the decisions of the administrator are unknown")) << after;
}

TEST_F(TrustOfAService, ReviewsNoFolderThatIsMissing) {
  for (const char* path : {"missing", "missing/folder"}) {
    const Ran ran = shell(std::string("skein trust --system --print ") + path);
    EXPECT_EQ(ran.code, 3) << ran;
    EXPECT_THAT(ran.err, AllOf(HasSubstr("cannot open missing"), HasSubstr("No such file")));
    EXPECT_FALSE(fs::exists(folder_.path() / "missing"));
  }
}

TEST_F(TrustOfAService, RevokesAFolderThatIsGone) {
  const Ran printed = shell("skein trust --system --print");
  const std::string digest = printed.out.substr(printed.out.rfind("digest ") + 7, 64);
  ASSERT_EQ(shell("skein trust --system --trust=" + digest).code, 0);
  fs::remove_all(workspace_);
  const Ran ran = shell("skein trust revoke --system " + workspace_.string());
  EXPECT_EQ(ran.code, 0) << ran;
}

TEST_F(TrustOfAService, FailsWithoutTheRightToChangeGroups) {
  for (const char* capability : {"-setgid", "-setuid"}) {
    const Ran refused = shell(std::string("setpriv --bounding-set=") + capability +
                              " skein trust --system --print");
    EXPECT_EQ(refused.signal, 0) << refused;
    EXPECT_EQ(refused.code, 1) << refused;
    EXPECT_THAT(refused.err, AllOf(HasSubstr("54321"), HasSubstr("not permitted"),
                                   HasSubstr("run \"skein trust\" as that user")));
  }
}

}  // namespace
}  // namespace skein::test
