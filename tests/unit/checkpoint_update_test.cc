// Checkpoints that grow with the work: what an update records anew.
#include <gmock/gmock.h>

#include "checkpoints_fixture.h"
#include "core/confined_path.h"

namespace skein::test {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

using CheckpointUpdates = CheckpointsTest;

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (std::size_t at = text.find(from); at != std::string::npos;
       at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
  return text;
}

// The sample of the format: a worker starts at 14:30:52, commits, and completes at 14:35.
TEST_F(CheckpointUpdates, OfAWorkerGiveTheSampleOfTheFormat) {
  const fs::path& root = workspace();
  init_repository(root);
  git(root, {"remote", "add", "origin", "git@github.com:user/repo.git"});
  fs::create_directories(root / "repos/private/company");
  const std::string before = commit_file(root, ".gitignore", "knowledge/\n", "chore: begin");
  init_repository(root / "knowledge/ralph");
  const std::string known = commit_file(root / "knowledge/ralph", "k", "1", "k");

  NewCheckpoint started = wanted("mrr-report");
  started.title = "MRR Report Jan 2026";
  started.tags = {"finance", "company", "mrr"};
  started.folder = (root / "repos/private/company").string();
  started.worker.emplace();
  started.worker->id = "cfo-company";
  started.worker->skill = "mrr";
  started.worker->state = WorkerState::kExecuting;
  const std::vector<CheckpointsOptions::KnowledgeRepo> knowledge = {
      {"knowledge-ralph", "knowledge/ralph"}};
  const Checkpoint made = must(checkpoints(knowledge).create(started));
  EXPECT_EQ(made.git->current_commit, before.substr(0, 7));
  EXPECT_THAT(*made.git->commits_made, IsEmpty());

  const std::string after = commit_file(root, "workspace/reports/finance/2026-01-23-mrr.md",
                                        "45230", "feat: add MRR calculation");
  clock_.advance(4min);
  must(checkpoints(knowledge).update("mrr-report", {.worker_state = WorkerState::kVerifying}));
  clock_.advance(8s);
  const Checkpoint completed = must(checkpoints(knowledge).update(
      "mrr-report", {.summary = "Generated MRR report showing $45,230 current MRR with 3.2% growth",
                     .worker_state = WorkerState::kCompleted}));

  std::string sample =
      get_file(fs::path(SKEIN_SOURCE_DIR) / "tests/fixtures/checkpoints/full.json");
  sample = replaced(sample, "{company-1}", "company");
  sample = replaced(sample, "{company}", "company");
  sample = replaced(sample, ".000Z", ".123Z");  // as the clock of the test
  sample = replaced(sample, "~/Documents/HQ", completed.workspace_root);
  sample = replaced(sample, "def5678", after.substr(0, 7));
  sample = replaced(sample, "\"knowledge-ralph\": { \"commit\": \"abc1234\"",
                    "\"knowledge-ralph\": { \"commit\": \"" + known.substr(0, 7) + "\"");
  sample = replaced(sample, "abc1234", before.substr(0, 7));
  EXPECT_EQ(to_json(completed), sample);
  EXPECT_EQ(get_file(file(completed.id)), sample);
  EXPECT_THAT(notices_, IsEmpty());
}

TEST_F(CheckpointUpdates, AddWhatWasCommittedAndTouchedSince) {
  init_repository(workspace());
  const std::string before = commit_file(workspace(), "a", "1", "before");
  make("work");
  const std::string one = commit_file(workspace(), "a", "2", "one");
  put_file(workspace() / "open.txt", "1");
  Checkpoint updated =
      must(checkpoints().update("work", {.files_touched = {(workspace() / "named.txt").string()}}));
  EXPECT_EQ(updated.git->initial_commit, before.substr(0, 7));
  EXPECT_EQ(updated.git->current_commit, one.substr(0, 7));
  EXPECT_THAT(*updated.git->commits_made, ElementsAre(one.substr(0, 7) + ": one"));
  EXPECT_EQ(updated.git->dirty, true);
  EXPECT_THAT(updated.files_touched, ElementsAre("named.txt", "a", "open.txt"));

  const std::string two = commit_file(workspace(), "open.txt", "1", "two");
  updated = must(checkpoints().update("work", {}));
  EXPECT_THAT(*updated.git->commits_made,
              ElementsAre(one.substr(0, 7) + ": one", two.substr(0, 7) + ": two"));
  EXPECT_EQ(updated.git->dirty, false);
  EXPECT_FALSE(updated.git->uncommitted);
  EXPECT_TRUE(checkpoints().drift(updated).none());
}

TEST_F(CheckpointUpdates, DropCommitsThatWereAmendedAndKeepThoseOfAnotherBranch) {
  init_repository(workspace());
  commit_file(workspace(), "a", "1", "before");
  make("work");
  commit_file(workspace(), "a", "2", "wrong");
  must(checkpoints().update("work", {}));
  git(workspace(), {"commit", "--quiet", "--amend", "-m", "right"});
  const std::string right = git(workspace(), {"rev-parse", "HEAD"});
  Checkpoint updated = must(checkpoints().update("work", {}));
  EXPECT_THAT(*updated.git->commits_made, ElementsAre(right.substr(0, 7) + ": right"));

  git(workspace(), {"checkout", "--quiet", "-b", "side", "HEAD~1"});
  const std::string side = commit_file(workspace(), "b", "1", "side");
  updated = must(checkpoints().update("work", {}));
  EXPECT_THAT(*updated.git->commits_made,
              ElementsAre(right.substr(0, 7) + ": right", side.substr(0, 7) + ": side"));
}

TEST_F(CheckpointUpdates, LeaveTheStateOfAnotherRepositoryAsItWas) {
  init_repository(workspace());
  commit_file(workspace(), "a", "1", "here");
  put_file(file("T-1"),
           R"({"thread_id":"T-1","created_at":"2026-01-01T00:00:00Z","cwd":".","git":)"
           R"({"branch":"theirs","current_commit":"def5678","commits_made":["def5678: x"]}})");
  const Checkpoint updated = must(checkpoints().update("T-1", {.summary = "now"}));
  EXPECT_EQ(updated.summary, "now");
  EXPECT_EQ(updated.git->branch, "theirs");
  EXPECT_EQ(updated.git->current_commit, "def5678");
  EXPECT_THAT(notices_, ElementsAre(HasSubstr("def5678")));
}

TEST_F(CheckpointUpdates, OfAFolderOutsideTheWorkspaceAskNoOtherRepository) {
  const GitSandbox elsewhere;
  elsewhere.commit("secret", "1", "secret subject");
  put_file(file("T-1"), R"({"thread_id":"T-1","created_at":"2026-01-01T00:00:00Z","cwd":")" +
                            elsewhere.path().string() + R"("})");
  const Checkpoint updated = must(checkpoints().update("T-1", {}));
  EXPECT_FALSE(updated.git);
  EXPECT_THAT(notices_, ElementsAre(HasSubstr("outside the workspace")));
}

TEST_F(CheckpointUpdates, OfAnAutomaticOneStayLight) {
  init_repository(workspace());
  commit_file(workspace(), "a", "1", "before");
  make("work", CheckpointType::kAuto);
  const std::string now = commit_file(workspace(), "a", "2", "now");
  const Checkpoint updated = must(checkpoints().update("work", {.summary = "x"}));
  EXPECT_EQ(updated.git->current_commit, now.substr(0, 7));
  EXPECT_FALSE(updated.git->commits_made);
  EXPECT_FALSE(updated.git->initial_commit);
}

TEST_F(CheckpointUpdates, NeedOneCheckpointThatIsMeant) {
  const std::string page = make("login-page").id;
  const std::string form = make("login-form").id;
  EXPECT_TRUE(fails(checkpoints().update("login", {}), ErrorCode::kConflict, {page, form}));
  const std::string exact = make("login").id;
  EXPECT_EQ(must(checkpoints().update("login", {})).id, exact);
}

TEST_F(CheckpointsTest, AreFoundByTheExactSlugThenTheNewestFullOne) {
  const std::string login = make("login").id;
  clock_.advance(1s);
  const std::string page = make("login-page").id;
  clock_.advance(1s);
  const std::string automatic = make("login", CheckpointType::kAuto).id;
  EXPECT_EQ(must(checkpoints().get("login")).id, login);
  EXPECT_EQ(must(checkpoints().get("LOGIN")).id, login);
  EXPECT_THAT(notices_, IsEmpty());
  EXPECT_EQ(must(checkpoints().get("logi")).id, page);
  EXPECT_THAT(notices_, ElementsAre(testing::AllOf(HasSubstr(login), HasSubstr("newest"))));
  clock_.advance(1s);
  const std::string again = make("login").id;
  EXPECT_EQ(must(checkpoints().get("login")).id, again);
  EXPECT_EQ(must(checkpoints().get("auto-login")).id, automatic);
  const std::string a = make("only-a", CheckpointType::kAuto).id;
  const std::string b = make("only-b", CheckpointType::kAuto).id;
  EXPECT_TRUE(fails(checkpoints().get("only"), ErrorCode::kConflict, {a, b}));
}

TEST_F(CheckpointsTest, OfTitlesInOtherScriptsAreFoundByThem) {
  NewCheckpoint checkpoint;
  checkpoint.title = "修复登录";
  const std::string id = must(checkpoints().create(checkpoint)).id;
  EXPECT_EQ(id, "T-20260123-143052-修复登录");
  EXPECT_EQ(must(checkpoints().get("登录")).id, id);
}

TEST_F(CheckpointsTest, ThatSomebodyAskedForAreNotNamedLikeAutomaticOnes) {
  EXPECT_TRUE(fails(checkpoints().create(wanted("auto-login")), ErrorCode::kInvalid, {"auto-"}));
  EXPECT_TRUE(fails(checkpoints().create(wanted("Auto: login")), ErrorCode::kInvalid, {"auto-"}));
  EXPECT_FALSE(fs::exists(workspace() / "workspace/threads"));
  NewCheckpoint titled;
  titled.title = "Auto: auto-login works";
  EXPECT_EQ(must(checkpoints().create(titled)).id, "T-20260123-143052-login-works");
  EXPECT_EQ(checkpoint_id(clock_.now(), "auto-save"), "T-20260123-143052-save");
  EXPECT_EQ(make("automatic").id, "T-20260123-143052-automatic");
}

// The workspace of a process is confined.
TEST_F(CheckpointsTest, BehindALinkAreReadAndRefusedBeforeAnythingIsWritten) {
  const std::string full = make("full").id;
  const std::string old = make("old", CheckpointType::kAuto).id;
  clock_.advance(24h * 15);
  fs::rename(workspace() / "workspace/threads", workspace() / "real");
  fs::create_directory_symlink("../real", workspace() / "workspace/threads");
  const ConfinedFolder confined(workspace().string());
  const std::string before = get_file(workspace() / "real" / (full + ".json"));
  EXPECT_EQ(ids().size(), 2u);
  EXPECT_TRUE(fails(checkpoints().create(wanted("x")), ErrorCode::kIo, {"symbolic link"}));
  EXPECT_TRUE(fails(checkpoints().update("full", {}), ErrorCode::kIo, {"symbolic link"}));
  EXPECT_TRUE(fails(checkpoints().purge({}), ErrorCode::kIo, {"symbolic link"}));
  EXPECT_EQ(must(checkpoints().purge({.dry_run = true})).size(), 1u);
  EXPECT_EQ(get_file(workspace() / "real" / (full + ".json")), before);
  EXPECT_TRUE(fs::exists(workspace() / "real" / (old + ".json")));
  EXPECT_FALSE(fs::exists(workspace() / ".skein/purged.jsonl"));
  EXPECT_EQ(ids().size(), 2u);
}

TEST_F(CheckpointsTest, ThatWerePurgedAreListed) {
  EXPECT_THAT(must(checkpoints().purged()), IsEmpty());
  const Checkpoint old = make("old", CheckpointType::kAuto);
  clock_.advance(24h * 15);
  must(checkpoints().purge({}));
  const auto gone = must(checkpoints().purged());
  ASSERT_EQ(gone.size(), 1u);
  EXPECT_EQ(gone[0].id, old.id);
  EXPECT_EQ(gone[0].title, "old");
  EXPECT_EQ(gone[0].created_at, old.created_at);
  EXPECT_EQ(gone[0].purged_at, clock_.now());
}

}  // namespace
}  // namespace skein::test
