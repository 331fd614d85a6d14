#include "git/repository.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "core/json.h"
#include "support/expect.h"
#include "support/git_sandbox.h"

namespace skein::test {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::StartsWith;
using testing::UnorderedElementsAre;

Repository repository_of(const fs::path& folder) {
  auto found = must(Repository::find(folder.string()));
  if (!found) std::abort();
  return *found;
}

std::vector<std::string> subjects(const std::vector<Commit>& commits) {
  std::vector<std::string> out;
  for (const Commit& commit : commits) out.push_back(commit.subject);
  return out;
}

TEST(Repository, IsNothingWhereThereIsNone) {
  const TempDir folder;
  EXPECT_FALSE(must(Repository::find(folder.path().string())));
  EXPECT_TRUE(fails(Repository::find((folder.path() / "no").string()), ErrorCode::kNotFound));
}

TEST(Repository, WithoutCommitsHasABranchAndNoHead) {
  const GitSandbox sandbox;
  const RepositoryState state = must(repository_of(sandbox.path()).state());
  EXPECT_EQ(state.branch, "main");
  EXPECT_FALSE(state.head);
  EXPECT_EQ(state.remote_url, "");
  EXPECT_FALSE(state.dirty());
  EXPECT_THAT(must(repository_of(sandbox.path()).changed_since("HEAD", {})), IsEmpty());
}

TEST(Repository, TellsBranchHeadRemoteAndChanges) {
  const GitSandbox sandbox;
  const std::string id = sandbox.commit("a file.txt", "1", "feat: add MRR calculation");
  sandbox.run({"remote", "add", "origin", "git@github.com:user/repo.git"});
  fs::create_directories(sandbox.path() / "deep" / "er");
  const Repository repository = repository_of(sandbox.path() / "deep" / "er");
  EXPECT_EQ(fs::canonical(repository.root()), fs::canonical(sandbox.path()));
  RepositoryState state = must(repository.state());
  EXPECT_EQ(state.branch, "main");
  EXPECT_EQ(state.head->id, id);
  EXPECT_EQ(state.head->short_id, id.substr(0, 7));
  EXPECT_EQ(state.head->subject, "feat: add MRR calculation");
  EXPECT_EQ(state.remote_url, "git@github.com:user/repo.git");
  EXPECT_FALSE(state.dirty());

  put_file(sandbox.path() / "a file.txt", "2");
  put_file(sandbox.path() / "new" / "x", "");
  put_file(sandbox.path() / "tief\n\"ä\".txt", "");
  state = must(repository.state());
  EXPECT_TRUE(state.dirty());
  EXPECT_THAT(state.changed_files, ElementsAre("a file.txt", "new/x", "tief\n\"ä\".txt"));
}

TEST(Repository, LeavesOutWhatIsSetApart) {
  const GitSandbox sandbox;
  sandbox.commit("a", "1", "first");
  put_file(sandbox.path() / "workspace/threads/T-1.json", "{}");
  put_file(sandbox.path() / ".skein/skein.db", "");
  const Repository repository = repository_of(sandbox.path());
  EXPECT_TRUE(must(repository.state()).dirty());
  EXPECT_FALSE(must(repository.state({"workspace/threads", ".skein"})).dirty());
}

TEST(Repository, DetachedIsOnNoBranch) {
  const GitSandbox sandbox;
  sandbox.commit("a", "1", "first");
  sandbox.run({"checkout", "--quiet", "--detach"});
  EXPECT_EQ(must(repository_of(sandbox.path()).state()).branch, "HEAD");
}

TEST(Repository, OfALinkedWorkTreeIsThatTree) {
  const GitSandbox sandbox;
  const TempDir elsewhere;
  sandbox.commit("a", "1", "first");
  const fs::path linked = elsewhere.path() / "linked";
  sandbox.run({"worktree", "add", "--quiet", "-b", "side", linked.string()});
  put_file(linked / "a", "2");
  const Repository repository = repository_of(linked);
  EXPECT_EQ(fs::canonical(repository.root()), fs::canonical(linked));
  EXPECT_EQ(must(repository.state()).branch, "side");
  EXPECT_TRUE(must(repository.state()).dirty());
  EXPECT_FALSE(must(repository_of(sandbox.path()).state()).dirty());
}

TEST(Repository, ThatIsBareHasHeadAndBranchAndNoChanges) {
  const GitSandbox sandbox;
  const TempDir elsewhere;
  sandbox.commit("a", "1", "first");
  const fs::path bare = elsewhere.path() / "bare.git";
  sandbox.run({"clone", "--quiet", "--bare", sandbox.path().string(), bare.string()});
  const Repository repository = repository_of(bare);
  EXPECT_TRUE(repository.bare());
  const RepositoryState state = must(repository.state());
  EXPECT_EQ(state.branch, "main");
  EXPECT_EQ(state.head->subject, "first");
  EXPECT_FALSE(state.dirty());
}

TEST(Repository, InASubmoduleIsTheSubmodulesAndTheOuterSeesItsNewCommits) {
  const GitSandbox inner;
  const GitSandbox outer;
  inner.commit("a", "1", "inner first");
  outer.commit("b", "1", "outer first");
  outer.run({"submodule", "--quiet", "add", inner.path().string(), "sub"});
  outer.run({"commit", "--quiet", "-m", "with a submodule"});
  const Repository submodule = repository_of(outer.path() / "sub");
  EXPECT_EQ(must(submodule.state()).head->subject, "inner first");
  EXPECT_FALSE(must(repository_of(outer.path()).state()).dirty());
  commit_file(outer.path() / "sub", "a", "2", "inner second");
  EXPECT_THAT(must(repository_of(outer.path()).state()).changed_files, ElementsAre("sub"));
}

TEST(Repository, SeesWhatIsUncommittedInItsSubmodules) {
  const GitSandbox deep;
  const GitSandbox inner;
  const GitSandbox outer;
  deep.commit("d", "1", "deep");
  inner.commit("a", "1", "inner");
  inner.run({"submodule", "--quiet", "add", deep.path().string(), "deep"});
  inner.run({"commit", "--quiet", "-m", "with a submodule"});
  outer.commit("b", "1", "outer");
  outer.run({"submodule", "--quiet", "add", inner.path().string(), "lib/sub"});
  outer.run({"submodule", "--quiet", "update", "--init", "--recursive"});
  outer.run({"commit", "--quiet", "-m", "with a submodule"});
  EXPECT_FALSE(must(repository_of(outer.path()).state()).dirty());
  put_file(outer.path() / "lib/sub/a", "2");
  put_file(outer.path() / "lib/sub/new/x", "");
  put_file(outer.path() / "lib/sub/deep/d", "2");
  const RepositoryState state = must(repository_of(outer.path()).state());
  EXPECT_TRUE(state.dirty());
  EXPECT_THAT(state.changed_files,
              UnorderedElementsAre("lib/sub/a", "lib/sub/new/x", "lib/sub/deep/d"));
}

TEST(Repository, NamesTheSubmodulesThatItHadNoTimeFor) {
  const GitSandbox inner;
  const GitSandbox outer;
  inner.commit("a", "1", "inner");
  for (const char* path : {"one", "two"}) {
    outer.run({"submodule", "--quiet", "add", inner.path().string(), path});
  }
  outer.run({"commit", "--quiet", "-m", "with submodules"});
  put_file(outer.path() / "two/a", "2");
  const Repository repository = repository_of(outer.path());
  const RepositoryState hurried = must(repository.state({}, std::chrono::milliseconds(0)));
  EXPECT_FALSE(hurried.dirty());
  EXPECT_THAT(hurried.changed_files, testing::IsEmpty());
  EXPECT_THAT(hurried.not_examined, UnorderedElementsAre("one", "two"));
  EXPECT_THAT(not_examined_text(hurried),
              testing::AllOf(testing::HasSubstr("2 submodules"), testing::HasSubstr("\"one\"")));
  const RepositoryState whole = must(repository.state());
  EXPECT_THAT(whole.changed_files, UnorderedElementsAre("two/a"));
  EXPECT_THAT(whole.not_examined, testing::IsEmpty());
  EXPECT_EQ(not_examined_text(whole), "");
}

TEST(Repository, LooksForNoSubmoduleOutsideOrWhereNoneIs) {
  const GitSandbox elsewhere;
  elsewhere.commit("a", "1", "elsewhere");
  put_file(elsewhere.path() / "a", "2");
  const GitSandbox sandbox;
  put_file(sandbox.path() / ".gitmodules",
           "[submodule \"one\"]\n\tpath = ../" + elsewhere.path().filename().string() +
               "\n[submodule \"two\"]\n\tpath = link\n[submodule \"three\"]\n\tpath = plain\n");
  std::filesystem::create_directory_symlink(elsewhere.path(), sandbox.path() / "link");
  put_file(sandbox.path() / "plain/file", "1");
  sandbox.run({"add", "--all"});
  sandbox.run({"commit", "--quiet", "-m", "first"});
  EXPECT_FALSE(must(repository_of(sandbox.path()).state()).dirty());
}

TEST(Repository, ListsTheCommitsSinceAPointNewestFirst) {
  const GitSandbox sandbox;
  const std::string first = sandbox.commit("a", "1", "first");
  const Repository repository = repository_of(sandbox.path());
  EXPECT_THAT(must(repository.commits({.not_in = first})), IsEmpty());
  sandbox.commit("a", "2", "second");
  sandbox.commit("a", "3", "third\n\nwith a body");
  const std::vector<Commit> commits = must(repository.commits({.not_in = first}));
  EXPECT_THAT(subjects(commits), ElementsAre("third", "second"));
  EXPECT_THAT(subjects(must(repository.commits({.limit = 1}))), ElementsAre("third"));
  EXPECT_EQ(must(repository.count_commits(first, "HEAD")), 2u);
  EXPECT_EQ(must(repository.count_commits("HEAD", first)), 0u);
  const Timestamp tomorrow = {commits[0].committed_at.us + 86'400'000'000};
  EXPECT_THAT(must(repository.commits({.since = tomorrow})), IsEmpty());
  const Timestamp began = must(repository.commit(first))->committed_at;
  EXPECT_EQ(must(repository.commits({.since = began})).size(), 3u);
}

TEST(Repository, KnowsNoCommitThatIsNotThereAndTakesNoOptionForOne) {
  const GitSandbox sandbox;
  sandbox.commit("a", "1", "first");
  const Repository repository = repository_of(sandbox.path());
  EXPECT_FALSE(must(repository.commit("def5678")));
  EXPECT_FALSE(must(repository.commit("no-such-branch")));
  EXPECT_TRUE(must(repository.commit("HEAD")));
  EXPECT_TRUE(fails(repository.commits({.not_in = "def5678"}), ErrorCode::kInvalid, {"def5678"}));
  for (const char* hostile : {"--output=/tmp/x", "", "a..b", "HEAD:a", "a b", "*"}) {
    EXPECT_TRUE(fails(repository.commit(hostile), ErrorCode::kInvalid)) << hostile;
    EXPECT_TRUE(fails(repository.files_of({hostile}), ErrorCode::kInvalid)) << hostile;
  }
}

TEST(Repository, NamesTheFilesOfACommitTheFirstOneIncluded) {
  const GitSandbox sandbox;
  const std::string first = sandbox.commit("apps/function/src/mrr.ts", "1", "first");
  const std::string second = sandbox.commit("ü", "1", "second");
  const Repository repository = repository_of(sandbox.path());
  EXPECT_THAT(must(repository.files_of({first})), ElementsAre("apps/function/src/mrr.ts"));
  EXPECT_THAT(must(repository.files_of({second})), ElementsAre("ü"));
  EXPECT_THAT(must(repository.files_of({second, first})),
              ElementsAre("apps/function/src/mrr.ts", "ü"));
  EXPECT_THAT(must(repository.files_of({})), IsEmpty());
}

TEST(Repository, TellsWhichFilesAreNoLongerAsACommitHadThem) {
  const GitSandbox sandbox;
  sandbox.commit("same", "1", "one");
  sandbox.commit("committed", "1", "two");
  const std::string then = sandbox.commit("edited*", "1", "three");
  sandbox.commit("committed", "2", "four");
  put_file(sandbox.path() / "edited*", "2");
  put_file(sandbox.path() / "edited-other", "2");
  EXPECT_THAT(must(repository_of(sandbox.path())
                       .changed_since(then, {"same", "committed", "edited*", "never-there"})),
              ElementsAre("committed", "edited*"));
}

TEST(Repository, IsThatOfTheFolderWhateverTheEnvironmentSays) {
  const GitSandbox sandbox;
  const GitSandbox other;
  sandbox.commit("a", "1", "this one");
  other.commit("a", "1", "the other");
  ::setenv("GIT_DIR", (other.path() / ".git").c_str(), 1);
  ::setenv("GIT_WORK_TREE", other.path().c_str(), 1);
  const auto head = must(repository_of(sandbox.path()).commit("HEAD"));
  ::unsetenv("GIT_DIR");
  ::unsetenv("GIT_WORK_TREE");
  EXPECT_EQ(head->subject, "this one");
}

TEST(Repository, LeavesTheIndexAsItIs) {
  const GitSandbox sandbox;
  sandbox.commit("a", "1", "first");
  const auto before = fs::last_write_time(sandbox.path() / ".git/index");
  put_file(sandbox.path() / "a", "1");  // stale in the index, though equal
  EXPECT_FALSE(must(repository_of(sandbox.path()).state()).dirty());
  EXPECT_EQ(fs::last_write_time(sandbox.path() / ".git/index"), before);
  EXPECT_FALSE(fs::exists(sandbox.path() / ".git/index.lock"));
}

TEST(Repository, WithAMessageThatIsNoTextIsStillRead) {
  const GitSandbox sandbox;
  sandbox.run({"commit", "--quiet", "--allow-empty", "-m", "bad \xff byte"});
  const std::string subject = must(repository_of(sandbox.path()).commit("HEAD"))->subject;
  EXPECT_THAT(subject, StartsWith("bad "));
  EXPECT_TRUE(valid_utf8(subject));
}

TEST(Credentials, AreTakenOutOfRemoteUrls) {
  for (const auto& [url, expected] : std::vector<std::pair<std::string, std::string>>{
           {"https://host/x.git", "https://host/x.git"},
           {"https://user@host/x.git", "https://host/x.git"},
           {"https://user:password@host/x.git", "https://host/x.git"},
           {"https://ghp_token:x-oauth-basic@host:8443/x.git", "https://host:8443/x.git"},
           {"https://user:p@ss@host/x.git", "https://host/x.git"},
           {"https://user:pa/ss@host/x.git", "https://host/x.git"},
           {"https://host/@scope/x.git", "https://host/@scope/x.git"},
           {"https://host:8080/a@b", "https://host:8080/a@b"},
           {"https://host/x.git?access_token=abc#y", "https://host/x.git"},
           {"ssh://git@host/x.git", "ssh://git@host/x.git"},
           {"ssh://git:password@host:22/x.git", "ssh://git@host:22/x.git"},
           {"git@github.com:user/repo.git", "git@github.com:user/repo.git"},
           {"/srv/git/x@y.git", "/srv/git/x@y.git"},
           {"", ""}}) {
    EXPECT_EQ(without_credentials(url), expected) << url;
  }
}

TEST(Credentials, OfTheRemoteDoNotReachTheState) {
  const GitSandbox sandbox;
  sandbox.run({"remote", "add", "origin", "https://me:secret@example.org/x.git"});
  EXPECT_EQ(must(repository_of(sandbox.path()).state()).remote_url, "https://example.org/x.git");
}

}  // namespace
}  // namespace skein::test
