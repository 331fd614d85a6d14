// Repositories whose configuration names programs: none of them runs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>

#include "core/subprocess.h"
#include "git/repository.h"
#include "support/expect.h"
#include "support/git_sandbox.h"

namespace skein::test {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;
using Settings = std::vector<std::pair<std::string, std::string>>;

// A program outside the repository that leaves a mark when it runs.
class Trap {
 public:
  Trap() {
    put_file(program(), "#!/bin/sh\necho \"$0 $*\" >> '" + mark().string() + "'\n");
    fs::permissions(program(), fs::perms::owner_all);
    // As a folder of hooks.
    fs::create_directories(hooks());
    for (const char* hook : {"post-index-change", "pre-commit", "post-checkout", "fsmonitor"}) {
      fs::copy_file(program(), hooks() / hook);
    }
  }
  fs::path program() const { return folder_.path() / "trap"; }
  fs::path hooks() const { return folder_.path() / "hooks"; }
  bool sprung() const { return fs::exists(mark()); }
  std::string text() const { return get_file(mark()); }

 private:
  fs::path mark() const { return folder_.path() / "sprung"; }
  TempDir folder_;
};

// Runs git as a user would, whatever it ends with.
void run_unprotected(const fs::path& folder, std::vector<std::string> arguments) {
  Spawn spawn{.argv = {"git"},
              .folder = folder.string(),
              .environment = {{"GIT_CONFIG_GLOBAL", "/dev/null"},
                              {"GIT_CONFIG_NOSYSTEM", "1"},
                              {"GIT_TERMINAL_PROMPT", "0"},
                              {"GIT_EDITOR", std::nullopt},
                              {"VISUAL", std::nullopt},
                              {"EDITOR", std::nullopt},
                              {"GIT_AUTHOR_NAME", "A Tester"},
                              {"GIT_AUTHOR_EMAIL", "tester@example.org"},
                              {"GIT_COMMITTER_NAME", "A Tester"},
                              {"GIT_COMMITTER_EMAIL", "tester@example.org"}}};
  spawn.argv.insert(spawn.argv.end(), arguments.begin(), arguments.end());
  (void)run_program(spawn, {}, {});
}

// Everything that Skein asks of git. What a damaged repository answers does not matter here.
void ask_everything(const Repository& repository, const std::string& commit) {
  (void)repository.branch();
  (void)repository.state({".skein"});
  (void)repository.commit("HEAD");
  (void)repository.commits({.not_in = commit});
  (void)repository.commits({});
  (void)repository.count_commits(commit, "HEAD");
  (void)repository.files_of({commit});
  (void)repository.changed_since(commit, {"a.txt", "b.txt"});
}

void ask_everything(const fs::path& folder, const std::string& commit) {
  const auto found = Repository::find(folder.string());
  if (found && *found) ask_everything(**found, commit);
}

// Git's own syntax, for names that `git config` would take apart.
std::string section(const std::string& name, const std::string& part, const fs::path& program) {
  return "[" + name + " \"" + part + "\"]\n\tclean = " + program.string() +
         "\n\tsmudge = " + program.string() + "\n";
}

struct HostileSetting {
  std::string name;
  std::function<Settings(const Trap&)> settings;
  // A git command that runs the trap when git reads the setting; empty: needs a terminal, a
  // network or a submodule.
  std::vector<std::string> proof;
};

void PrintTo(const HostileSetting& setting, std::ostream* out) { *out << setting.name; }

class HostileSettings : public testing::TestWithParam<HostileSetting> {};

// A repository with two commits and a changed file that attributes give to the driver "evil".
std::string prepare(const GitSandbox& sandbox) {
  sandbox.commit(".gitattributes", "*.txt filter=evil diff=evil merge=evil\n", "attributes");
  const std::string first = sandbox.commit("a.txt", "1", "first");
  sandbox.commit("b.txt", "1", "second");
  put_file(sandbox.path() / "a.txt", "2");
  return first;
}

TEST_P(HostileSettings, RunNothing) {
  const GitSandbox sandbox;
  const Trap trap;
  const std::string first = prepare(sandbox);
  for (const auto& [name, value] : GetParam().settings(trap)) {
    sandbox.run({"config", name, value});
  }
  ask_everything(sandbox.path(), first);
  EXPECT_FALSE(trap.sprung()) << trap.text();
  const auto repository = must(Repository::find(sandbox.path().string()));
  EXPECT_THAT(must(repository->state()).changed_files, ElementsAre("a.txt"));
  if (GetParam().proof.empty()) return;
  run_unprotected(sandbox.path(), GetParam().proof);
  EXPECT_TRUE(trap.sprung()) << "nothing was proven: the trap is not one";
}

Settings one(const std::string& name, const std::string& value) { return {{name, value}}; }

std::vector<HostileSetting> hostile_settings() {
  const auto program = [](std::string name, std::vector<std::string> proof) {
    return HostileSetting{name,
                          [name](const Trap& trap) { return one(name, trap.program().string()); },
                          std::move(proof)};
  };
  const auto remote = [](std::string name, Settings more) {
    return HostileSetting{name,
                          [more](const Trap& trap) {
                            Settings settings = {{"protocol.allow", "always"}};
                            for (auto [key, value] : more) {
                              const std::size_t at = value.find("TRAP");
                              if (at != std::string::npos) {
                                value.replace(at, 4, trap.program().string());
                              }
                              settings.emplace_back(key, value);
                            }
                            return settings;
                          },
                          {"ls-remote", "origin"}};
  };
  return {
      program("filter.evil.clean", {"status"}),
      program("filter.evil.process", {"status"}),
      program("filter.evil.smudge", {"checkout", "--", "a.txt"}),
      {"filter.evil.required",
       [](const Trap& trap) {
         return Settings{{"filter.evil.clean", trap.program().string()},
                         {"filter.evil.required", "true"}};
       },
       {"status"}},
      program("core.fsmonitor", {"status"}),
      {"core.hooksPath",
       [](const Trap& trap) { return one("core.hooksPath", trap.hooks().string()); },
       {"add", "a.txt"}},
      program("diff.external", {"diff"}),
      program("diff.evil.command", {"diff"}),
      program("diff.evil.textconv", {"diff"}),
      {"merge.evil.driver",
       [](const Trap& trap) { return one("merge.evil.driver", trap.program().string()); },
       {}},
      program("core.editor", {"commit", "--allow-empty", "--amend"}),
      program("sequence.editor", {}),
      program("core.pager", {}),
      program("pager.status", {}),
      program("core.askPass", {}),
      program("core.sshCommand", {"ls-remote", "ssh://example.invalid/x"}),
      program("core.gitProxy", {"ls-remote", "git://127.0.0.1/x"}),
      program("core.alternateRefsCommand", {}),
      program("credential.helper", {}),
      program("uploadpack.packObjectsHook", {}),
      program("gpg.program", {"commit", "--allow-empty", "-S", "-m", "x"}),
      {"gpg.ssh.program",
       [](const Trap& trap) {
         return Settings{{"gpg.format", "ssh"},
                         {"user.signingKey", "key::ssh-ed25519 AAAA"},
                         {"log.showSignature", "true"},
                         {"gpg.ssh.defaultKeyCommand", trap.program().string()},
                         {"gpg.ssh.program", trap.program().string()}};
       },
       {"commit", "--allow-empty", "-S", "-m", "x"}},
      {"alias",
       [](const Trap& trap) {
         Settings settings;
         for (const char* name : {"status", "rev-parse", "rev-list", "config", "diff", "diff-tree",
                                  "symbolic-ref", "other"}) {
           settings.emplace_back(std::string("alias.") + name, "!" + trap.program().string());
         }
         return settings;
       },
       {"other"}},
      {"submodule.update",
       [](const Trap& trap) {
         return Settings{{"submodule.sub.url", "./sub"},
                         {"submodule.sub.active", "true"},
                         {"submodule.recurse", "true"},
                         {"submodule.sub.update", "!" + trap.program().string()}};
       },
       {}},
      remote("remote.ext", {{"remote.origin.url", "ext::TRAP"}}),
      remote("remote.vcs", {{"remote.origin.vcs", "ext"}, {"remote.origin.url", "TRAP"}}),
      remote("remote.uploadpack",
             {{"remote.origin.url", "."}, {"remote.origin.uploadpack", "TRAP"}}),
  };
}

INSTANTIATE_TEST_SUITE_P(Git, HostileSettings, testing::ValuesIn(hostile_settings()),
                         [](const auto& info) {
                           std::string name = info.param.name;
                           std::replace(name.begin(), name.end(), '.', '_');
                           return name;
                         });

Settings all_settings(const Trap& trap) {
  Settings all;
  for (const HostileSetting& setting : hostile_settings()) {
    for (auto& pair : setting.settings(trap)) all.push_back(std::move(pair));
  }
  return all;
}

TEST(HostileRepository, RunsNothingThatItsConfigurationIncludes) {
  const GitSandbox sandbox;
  const Trap trap;
  const std::string first = prepare(sandbox);
  const fs::path included = sandbox.path() / ".git/more";
  for (const auto& [name, value] : all_settings(trap)) {
    sandbox.run({"config", "--file", included.string(), name, value});
  }
  sandbox.run({"config", "include.path", "more"});
  ask_everything(sandbox.path(), first);
  sandbox.run({"config", "--unset", "include.path"});
  sandbox.run({"config", "includeIf.gitdir:**.path", "more"});
  ask_everything(sandbox.path(), first);
  EXPECT_FALSE(trap.sprung()) << trap.text();
  run_unprotected(sandbox.path(), {"status"});
  EXPECT_TRUE(trap.sprung());
}

TEST(HostileRepository, RunsNothingThatIsConfiguredAfterItWasFound) {
  const GitSandbox sandbox;
  const Trap trap;
  const std::string first = prepare(sandbox);
  const auto repository = must(Repository::find(sandbox.path().string()));
  for (const auto& [name, value] : all_settings(trap)) sandbox.run({"config", name, value});
  ask_everything(*repository, first);
  EXPECT_FALSE(trap.sprung()) << trap.text();
}

TEST(HostileRepository, RunsNoFilterWhateverItsName) {
  for (const std::string name : {"a.b", "UPPER", "A=B.c", "=", "x=y=z", "clean", "\xC3\xA4"}) {
    const GitSandbox sandbox;
    const Trap trap;
    const std::string first = prepare(sandbox);
    put_file(sandbox.path() / ".gitattributes", "*.txt filter=" + name + "\n");
    put_file(sandbox.path() / ".git/config",
             get_file(sandbox.path() / ".git/config") + section("filter", name, trap.program()));
    ask_everything(sandbox.path(), first);
    EXPECT_FALSE(trap.sprung()) << name << ": " << trap.text();
    run_unprotected(sandbox.path(), {"status"});
    EXPECT_TRUE(trap.sprung()) << name << ": nothing was proven";
  }
}

TEST(HostileRepository, RunsNoFilterThatItsOwnAttributesName) {
  const GitSandbox sandbox;
  const Trap trap;
  const std::string first = prepare(sandbox);
  sandbox.run({"config", "filter.hidden.clean", trap.program().string()});
  put_file(sandbox.path() / ".git/info/attributes", "*.txt filter=hidden\n");
  sandbox.run({"config", "core.attributesFile", (sandbox.path() / "more").string()});
  put_file(sandbox.path() / "more", "*.txt filter=hidden\n");
  ask_everything(sandbox.path(), first);
  EXPECT_FALSE(trap.sprung()) << trap.text();
  run_unprotected(sandbox.path(), {"status"});
  EXPECT_TRUE(trap.sprung());
}

TEST(HostileRepository, RunsNoFilterOfTheUserEither) {
  const GitSandbox sandbox;
  const Trap trap;
  const std::string first = prepare(sandbox);
  const TempDir home;
  const fs::path file = home.path() / "gitconfig";
  put_file(file, section("filter", "evil", trap.program()));
  ::setenv("GIT_CONFIG_GLOBAL", file.c_str(), 1);
  ask_everything(sandbox.path(), first);
  ::unsetenv("GIT_CONFIG_GLOBAL");
  EXPECT_FALSE(trap.sprung()) << trap.text();
}

TEST(HostileRepository, RunsNoConfigurationOfALinkedWorkTree) {
  const GitSandbox sandbox;
  const Trap trap;
  const TempDir elsewhere;
  const std::string first = prepare(sandbox);
  const fs::path linked = elsewhere.path() / "linked";
  sandbox.run({"worktree", "add", "--quiet", "-b", "side", linked.string()});
  sandbox.run({"config", "extensions.worktreeConfig", "true"});
  git(linked, {"config", "--worktree", "core.fsmonitor", trap.program().string()});
  put_file(linked / "a.txt", "2");
  ask_everything(linked, first);
  EXPECT_FALSE(trap.sprung()) << trap.text();
  EXPECT_THAT(must(must(Repository::find(linked.string()))->state()).changed_files,
              ElementsAre("a.txt"));
  run_unprotected(linked, {"status"});
  EXPECT_TRUE(trap.sprung());
}

TEST(HostileRepository, RunsNothingOfARepositoryThatGitFileNames) {
  const GitSandbox sandbox;
  const Trap trap;
  const std::string first = prepare(sandbox);
  fs::rename(sandbox.path() / ".git", sandbox.path() / "hidden");
  put_file(sandbox.path() / ".git", "gitdir: hidden\n");
  sandbox.run({"config", "core.fsmonitor", trap.program().string()});
  ask_everything(sandbox.path(), first);
  EXPECT_FALSE(trap.sprung()) << trap.text();
  run_unprotected(sandbox.path(), {"status"});
  EXPECT_TRUE(trap.sprung());
}

TEST(HostileRepository, RunsNothingOfItsSubmodules) {
  const GitSandbox inner;
  const GitSandbox outer;
  const Trap trap;
  inner.commit("a.txt", "1", "inner");
  const std::string first = outer.commit("a.txt", "1", "outer");
  outer.run({"submodule", "--quiet", "add", inner.path().string(), "sub"});
  outer.run({"commit", "--quiet", "-m", "with a submodule"});
  git(outer.path() / "sub", {"config", "core.fsmonitor", trap.program().string()});
  git(outer.path() / "sub", {"config", "filter.evil.clean", trap.program().string()});
  put_file(outer.path() / ".git/modules/sub/info/attributes", "*.txt filter=evil\n");
  put_file(outer.path() / "sub/a.txt", "2");
  outer.run({"config", "-f", ".gitmodules", "submodule.sub.ignore", "none"});
  ask_everything(outer.path(), first);
  ask_everything(outer.path() / "sub", first);
  EXPECT_THAT(must(must(Repository::find(outer.path().string()))->state()).changed_files,
              UnorderedElementsAre(".gitmodules", "sub/a.txt"));
  EXPECT_FALSE(trap.sprung()) << trap.text();
  run_unprotected(outer.path(), {"status"});
  EXPECT_TRUE(trap.sprung());
}

TEST(HostileRepository, FetchesNoMissingObjects) {
  const GitSandbox sandbox;
  const Trap trap;
  const std::string first = prepare(sandbox);
  const std::string tree = sandbox.run({"rev-parse", first + "^{tree}"});
  fs::remove(sandbox.path() / ".git/objects" / tree.substr(0, 2) / tree.substr(2));
  for (const auto& [name, value] :
       Settings{{"core.repositoryFormatVersion", "1"},
                {"extensions.partialClone", "origin"},
                {"remote.origin.url", "ext::" + trap.program().string()},
                {"remote.origin.promisor", "true"},
                {"protocol.allow", "always"}}) {
    sandbox.run({"config", name, value});
  }
  const auto repository = must(Repository::find(sandbox.path().string()));
  EXPECT_TRUE(fails(repository->files_of({first}), ErrorCode::kInvalid));
  ask_everything(*repository, first);
  EXPECT_FALSE(trap.sprung()) << trap.text();
  run_unprotected(sandbox.path(), {"diff-tree", "-r", first});
  EXPECT_TRUE(trap.sprung());
}

// A folder that looks like a bare repository, with a configuration of its own.
void put_bare_repository(const fs::path& folder, const Trap& trap, const fs::path& work_tree) {
  git(folder.parent_path(), {"init", "--quiet", "--bare", folder.filename().string()});
  put_file(folder / "config",
           "[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = " +
               work_tree.string() + "\n\tfsmonitor = " + trap.program().string() + "\n");
}

TEST(HostileRepository, EmbeddedAndBareIsAFolderOfTheOuterOne) {
  const GitSandbox sandbox;
  const Trap trap;
  const std::string first = prepare(sandbox);
  const fs::path assets = sandbox.path() / "assets";
  put_bare_repository(assets, trap, sandbox.path());
  for (const fs::path& folder : {assets, assets / "objects", sandbox.path() / ".git"}) {
    const auto repository = must(Repository::find(folder.string()));
    ASSERT_TRUE(repository);
    EXPECT_FALSE(repository->bare());
    EXPECT_EQ(repository->root(), fs::canonical(sandbox.path()).string());
    ask_everything(*repository, first);
  }
  EXPECT_FALSE(trap.sprung()) << trap.text();
  run_unprotected(assets, {"add", "../a.txt"});
  run_unprotected(assets, {"status"});
  EXPECT_TRUE(trap.sprung());
}

TEST(HostileRepository, BareAndAloneRunsNothing) {
  const TempDir folder;
  const Trap trap;
  const fs::path bare = folder.path() / "assets";
  put_file(folder.path() / "a.txt", "1");
  put_bare_repository(bare, trap, folder.path());
  ask_everything(bare, "HEAD");
  EXPECT_FALSE(trap.sprung()) << trap.text();
  run_unprotected(bare, {"add", "../a.txt"});
  run_unprotected(bare, {"status"});
  EXPECT_TRUE(trap.sprung());
}

TEST(HostileRepository, KeepsToTheFolderThatHoldsIt) {
  const GitSandbox sandbox;
  const TempDir elsewhere;
  prepare(sandbox);
  put_file(elsewhere.path() / "private", "x");
  sandbox.run({"config", "core.worktree", elsewhere.path().string()});
  const auto repository = must(Repository::find(sandbox.path().string()));
  EXPECT_EQ(repository->root(), fs::canonical(sandbox.path()).string());
  EXPECT_THAT(must(repository->state()).changed_files, ElementsAre("a.txt"));
}

TEST(HostileRepository, OfAnotherUserIsRefused) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root to give files to another user";
  const GitSandbox sandbox;
  prepare(sandbox);
  constexpr uid_t kOther = 12345;
  ASSERT_EQ(::lchown(sandbox.path().c_str(), kOther, kOther), 0);
  ASSERT_EQ(::lchown((sandbox.path() / ".git").c_str(), kOther, kOther), 0);
  EXPECT_TRUE(fails(Repository::find(sandbox.path().string()), ErrorCode::kInvalid, {"dubious"}));
}

// What the private configuration must keep.

TEST(SealedRepository, ReadsSha256AndSplitIndexes) {
  const TempDir folder;
  git(folder.path(), {"init", "--quiet", "--initial-branch=main", "--object-format=sha256"});
  commit_file(folder.path(), "a", "1", "first");
  git(folder.path(), {"update-index", "--split-index"});
  const std::string second = commit_file(folder.path(), "b", "1", "second");
  put_file(folder.path() / "b", "2");
  const RepositoryState state = must(must(Repository::find(folder.path().string()))->state());
  EXPECT_EQ(state.head->id, second);
  EXPECT_EQ(state.head->id.size(), 64u);
  EXPECT_THAT(state.changed_files, ElementsAre("b"));
}

TEST(SealedRepository, ReadsPackedRefsShallowHistoryAndALinkedHead) {
  const GitSandbox origin;
  const TempDir elsewhere;
  origin.commit("a", "1", "first");
  origin.commit("a", "2", "second");
  git(elsewhere.path(),
      {"clone", "--quiet", "--depth=1", "file://" + origin.path().string(), "shallow"});
  const fs::path clone = elsewhere.path() / "shallow";
  git(clone, {"pack-refs", "--all"});
  fs::remove(clone / ".git/HEAD");
  fs::create_symlink("refs/heads/main", clone / ".git/HEAD");
  const auto repository = must(Repository::find(clone.string()));
  EXPECT_EQ(must(repository->branch()), "main");
  EXPECT_EQ(must(repository->commits({})).size(), 1u);
  EXPECT_FALSE(must(repository->state()).dirty());
}

TEST(SealedRepository, KeepsHowFilesAreCompared) {
  const GitSandbox sandbox;
  sandbox.run({"config", "core.autocrlf", "true"});
  sandbox.run({"config", "core.fileMode", "false"});
  sandbox.commit("lines", "1\r\n2\r\n", "first");
  put_file(sandbox.path() / "lines", "1\r\n2\r\n");
  fs::permissions(sandbox.path() / "lines", fs::perms::owner_all);
  EXPECT_FALSE(must(must(Repository::find(sandbox.path().string()))->state()).dirty());
}

TEST(SealedRepository, KeepsIgnoreRulesOfRepositoryAndUser) {
  const GitSandbox sandbox;
  const TempDir home;
  put_file(home.path() / "ignore", "*.swp\n");
  put_file(home.path() / "gitconfig",
           "[core]\n\texcludesFile = \"" + (home.path() / "ignore").string() + "\"\n");
  put_file(sandbox.path() / ".git/info/exclude", "*.log\n");
  put_file(sandbox.path() / "a.swp", "");
  put_file(sandbox.path() / "a.log", "");
  put_file(sandbox.path() / "a.txt", "");
  ::setenv("GIT_CONFIG_GLOBAL", (home.path() / "gitconfig").c_str(), 1);
  const auto state = must(Repository::find(sandbox.path().string()))->state();
  ::unsetenv("GIT_CONFIG_GLOBAL");
  EXPECT_THAT(must(state).changed_files, ElementsAre("a.txt"));
}

TEST(SealedRepository, FindsFoldersWithOddNames) {
  const TempDir folder;
  const fs::path odd = folder.path() / "line\nfeed \"quoted\" \\ =x";
  init_repository(odd);
  commit_file(odd, "a", "1", "first");
  const auto repository = must(Repository::find(odd.string()));
  EXPECT_EQ(repository->root(), fs::canonical(odd).string());
  EXPECT_FALSE(must(repository->state()).dirty());
}

}  // namespace
}  // namespace skein::test
