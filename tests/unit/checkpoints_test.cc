#include "skein/checkpoints.h"

#include <gmock/gmock.h>

#include <thread>

#include "checkpoints_fixture.h"
#include "core/json.h"

namespace skein::test {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

TEST_F(CheckpointsTest, HaveIdsOfTheirTimeInUtcAndTheirSlug) {
  EXPECT_EQ(make("MRR report").id, "T-20260123-143052-mrr-report");
  EXPECT_EQ(make("x", CheckpointType::kAuto).id, "T-20260123-143052-auto-x");
}

TEST_F(CheckpointsTest, OfOneSecondAndSlugGetDistinctIds) {
  EXPECT_EQ(make("x").id, "T-20260123-143052-x");
  EXPECT_EQ(make("x").id, "T-20260123-143052-x-2");
  EXPECT_EQ(make("x").id, "T-20260123-143052-x-3");
}

TEST_F(CheckpointsTest, MadeAtOnceAreAllThere) {
  {
    std::vector<std::jthread> makers;
    for (int i = 0; i < 8; ++i) {
      makers.emplace_back([&] {
        Checkpoints own({.workspace = workspace().string(), .clock = &clock_});
        for (int j = 0; j < 5; ++j) EXPECT_TRUE(ok(own.create(wanted("same"))));
      });
    }
  }
  EXPECT_EQ(ids().size(), 40u);
  EXPECT_THAT(index(), HasSubstr("40 in all"));
}

TEST_F(CheckpointsTest, AreFilesThatComeBackAsTheyWereWritten) {
  NewCheckpoint checkpoint = wanted("report");
  checkpoint.title = "A \"title\"";
  checkpoint.summary = "Several\nlines, ümläute";
  checkpoint.next_steps = {"one", "two"};
  checkpoint.tags = {"finance"};
  checkpoint.worker.emplace();
  checkpoint.worker->id = "cfo";
  checkpoint.worker->skill = "mrr";
  checkpoint.worker->state = WorkerState::kCompleted;
  const Checkpoint made = must(checkpoints().create(checkpoint));
  EXPECT_EQ(get_file(file(made.id)), to_json(made));
  EXPECT_EQ(to_json(must(checkpoints().get(made.id))), to_json(made));
  EXPECT_EQ(made.worker->started_at, made.created_at);
  EXPECT_EQ(made.worker->completed_at, made.created_at);
  EXPECT_EQ(made.cwd, ".");
  EXPECT_FALSE(made.git) << "there is no repository";
  EXPECT_THAT(notices_, IsEmpty());
}

TEST_F(CheckpointsTest, OfWorkInARepositoryTellWhatGitKnows) {
  const fs::path repository = workspace() / "repos/private/company";
  init_repository(repository);
  const std::string first = commit_file(repository, "a.txt", "1", "first");
  git(repository, {"remote", "add", "origin", "https://me:secret@example.org/x.git"});
  const std::string second = commit_file(repository, "src/mrr.ts", "1", "feat: add MRR");
  put_file(repository / "dirty.txt", "");
  const fs::path knowledge = workspace() / "knowledge/ralph";
  init_repository(knowledge);
  const std::string known = commit_file(knowledge, "k", "1", "k");

  NewCheckpoint checkpoint = wanted("x");
  checkpoint.folder = repository.string();
  checkpoint.session_began = clock_.now();
  checkpoint.initial_commit = first;
  checkpoint.files_touched = {(workspace() / "workspace/reports/mrr.md").string(),
                              (repository / "b.txt").string()};
  const Checkpoint made =
      must(checkpoints({{"knowledge-ralph", "knowledge/ralph"}}).create(checkpoint));
  EXPECT_EQ(made.cwd, "repos/private/company");
  ASSERT_TRUE(made.git);
  EXPECT_EQ(made.git->branch, "main");
  EXPECT_EQ(made.git->remote_url, "https://example.org/x.git");
  EXPECT_EQ(made.git->initial_commit, first.substr(0, 7));
  EXPECT_EQ(made.git->current_commit, second.substr(0, 7));
  EXPECT_THAT(*made.git->commits_made, ElementsAre(second.substr(0, 7) + ": feat: add MRR"));
  EXPECT_EQ(made.git->dirty, true);
  EXPECT_THAT(made.files_touched,
              ElementsAre("workspace/reports/mrr.md", "b.txt", "src/mrr.ts", "dirty.txt"));
  EXPECT_THAT(to_json(made), HasSubstr("\"knowledge-ralph\": { \"commit\": \"" +
                                       known.substr(0, 7) + "\", \"dirty\": false }"));
}

TEST_F(CheckpointsTest, LookAtEachKnowledgeRepositoryOnceWhateverItsNames) {
  init_repository(workspace());
  init_repository(workspace() / "known");
  const std::string id = commit_file(workspace() / "known", "k", "1", "k").substr(0, 7);
  const Checkpoint made =
      must(checkpoints({{"a", "known"}, {"b", "./known"}, {"c", "no/such"}, {"d", "no/./such"}})
               .create(wanted("x")));
  EXPECT_THAT(to_json(made), HasSubstr("\"a\": { \"commit\": \"" + id));
  EXPECT_THAT(to_json(made), HasSubstr("\"b\": { \"commit\": \"" + id));
  EXPECT_THAT(notices_, ElementsAre(HasSubstr("knowledge repository \"c\"")));
}

TEST_F(CheckpointsTest, LeaveOutKnowledgeRepositoriesThatComeTooLate) {
  init_repository(workspace());
  init_repository(workspace() / "known");
  Checkpoints slow(
      {.workspace = workspace().string(),
       .knowledge_repos = {{"a", "known"}, {"b", "no/such"}, {"c", "."}, {"d", "known"}},
       .clock = &clock_,
       .notice = [this](const std::string& what) {
         notices_.push_back(what);
         clock_.advance(1min);  // the repository took so long
       }});
  const Checkpoint made = must(slow.create(wanted("x")));
  ASSERT_TRUE(made.git && made.git->knowledge_repos);
  std::vector<std::string> names;
  for (const auto& known : *made.git->knowledge_repos) names.push_back(known.name);
  EXPECT_THAT(names, ElementsAre("a", "d")) << "what is known costs no time";
  EXPECT_THAT(notices_, ElementsAre(HasSubstr("\"b\""),
                                    testing::AllOf(HasSubstr("left out"), HasSubstr("\"c\""))));
}

TEST_F(CheckpointsTest, ThatAreAutomaticAreLightAndInNoList) {
  init_repository(workspace());
  commit_file(workspace(), "a", "1", "first");
  NewCheckpoint checkpoint = wanted("", CheckpointType::kAuto);
  checkpoint.title = "Auto: MRR commit";
  checkpoint.trigger = "git-commit";
  checkpoint.next_steps = {"ignored"};
  const Checkpoint made = must(checkpoints().create(checkpoint));
  EXPECT_EQ(made.id, "T-20260123-143052-auto-mrr-commit");
  EXPECT_THAT(made.tags, ElementsAre("auto-checkpoint"));
  const std::string json = get_file(file(made.id));
  for (const char* absent : {"initial_commit", "commits_made", "remote_url", "knowledge_repos",
                             "worker", "next_steps"}) {
    EXPECT_THAT(json, Not(HasSubstr(absent)));
  }
  EXPECT_FALSE(fs::exists(workspace() / "workspace/threads/INDEX.md"));
  make("full");
  EXPECT_THAT(index(), Not(HasSubstr("auto")));
}

TEST_F(CheckpointsTest, ThemselvesMakeNoRepositoryDirty) {
  init_repository(workspace());
  commit_file(workspace(), "a", "1", "first");
  EXPECT_EQ(make("one").git->dirty, false);
  EXPECT_EQ(make("two").git->dirty, false);
  put_file(workspace() / "b", "");
  EXPECT_EQ(make("three").git->dirty, true);
}

TEST_F(CheckpointsTest, OfARepositoryWithIgnoredFilesAreClean) {
  init_repository(workspace());
  commit_file(workspace(), ".gitignore", "scratch/\n", "first");
  put_file(workspace() / "scratch/notes", "1");
  const Checkpoint made = make("clean");
  EXPECT_EQ(made.git->dirty, false);
  EXPECT_THAT(made.files_touched, IsEmpty());
}

TEST_F(CheckpointsTest, SayThatMoreFilesWereTouchedThanTheyName) {
  init_repository(workspace());
  commit_file(workspace(), "a", "1", "first");
  for (int i = 0; i < 1000; ++i) put_file(workspace() / "gen" / std::to_string(i), "");
  EXPECT_EQ(make("as many as it can").files_touched.size(), 1000u);
  EXPECT_THAT(notices_, IsEmpty());
  put_file(workspace() / "one-more", "");
  EXPECT_EQ(make("one more").files_touched.size(), 1000u);
  EXPECT_THAT(notices_, ElementsAre(HasSubstr("1000")));
}

TEST_F(CheckpointsTest, AreListedInAnIndexAndTheNewestFifteenInFull) {
  for (int i = 0; i < 20; ++i) {
    NewCheckpoint checkpoint = wanted("number " + std::to_string(i));
    checkpoint.next_steps = {"step | of " + std::to_string(i)};
    must(checkpoints().create(checkpoint));
    clock_.advance(1min);
  }
  EXPECT_THAT(index(), HasSubstr("20 in all"));
  EXPECT_THAT(index(), HasSubstr("[T-20260123-143052-number-0](T-20260123-143052-number-0.json)"));
  EXPECT_THAT(recent(), HasSubstr("- [ ] step \\| of 19\n"));
  EXPECT_THAT(recent(), HasSubstr("## number 5\n"));
  EXPECT_THAT(recent(), Not(HasSubstr("## number 4\n")));
  EXPECT_LT(recent().find("number 19"), recent().find("number 18"));
  make("handing over", CheckpointType::kHandoff);
  EXPECT_THAT(index(), HasSubstr("handoff: handing over"));
}

TEST_F(CheckpointsTest, AreFoundByPartsOfTheirIds) {
  const std::string report = make("mrr-report").id;
  clock_.advance(1s);
  const std::string login = make("login").id;
  make("login-page");
  EXPECT_EQ(must(checkpoints().get("report")).id, report);
  EXPECT_EQ(must(checkpoints().get("t-20260123-143052")).id, report);
  EXPECT_EQ(must(checkpoints().get(login)).id, login) << "a whole id is no part of another";
  EXPECT_TRUE(fails(checkpoints().get("nothing"), ErrorCode::kNotFound, {"nothing"}));
  EXPECT_TRUE(fails(checkpoints().get("../login"), ErrorCode::kNotFound));
  EXPECT_TRUE(fails(checkpoints().get(""), ErrorCode::kInvalid));
}

TEST_F(CheckpointsTest, AreSearchedByWordsTagsWorkerTypeAndTime) {
  NewCheckpoint checkpoint = wanted("finance");
  checkpoint.summary = "Generated MRR report, Umsätze übertragen";
  checkpoint.tags = {"Finance"};
  checkpoint.next_steps = {"mail it to 田中さん"};
  checkpoint.worker.emplace();
  checkpoint.worker->id = "cfo";
  checkpoint.worker->skill = "mrr";
  const std::string finance = must(checkpoints().create(checkpoint)).id;
  clock_.advance(24h);
  const std::string login = make("login").id;
  const std::string automatic = make("login", CheckpointType::kAuto).id;

  EXPECT_THAT(ids(), ElementsAre(login, automatic, finance));
  const auto search = [this](std::string words) { return ids({.words = std::move(words)}); };
  EXPECT_THAT(search("mrr"), ElementsAre(finance));
  EXPECT_THAT(search("MRR rep"), ElementsAre(finance));
  EXPECT_THAT(search("UMSÄTZE"), ElementsAre(finance));
  EXPECT_THAT(search("田中"), ElementsAre(finance));
  EXPECT_THAT(search("login"), ElementsAre(login, automatic));
  EXPECT_THAT(search("mrr login"), IsEmpty());
  EXPECT_THAT(search("eport"), IsEmpty());
  EXPECT_THAT(search("\" OR 1=1 *"), IsEmpty());
  EXPECT_THAT(search("***"), IsEmpty()) << "nothing to look for is not everything";
  EXPECT_THAT(ids({.tags = {"finance"}}), ElementsAre(finance));
  EXPECT_THAT(ids({.tags = {"finance", "other"}}), IsEmpty());
  EXPECT_THAT(ids({.worker = "cfo"}), ElementsAre(finance));
  EXPECT_THAT(ids({.worker = "MRR"}), ElementsAre(finance));
  EXPECT_THAT(ids({.worker = "cf"}), IsEmpty());
  EXPECT_THAT(ids({.types = {CheckpointType::kAuto}}), ElementsAre(automatic));
  EXPECT_THAT(ids({.since = clock_.now()}), ElementsAre(login, automatic));
  EXPECT_THAT(ids({.until = Timestamp::from_ms(clock_.now().ms() - 1)}), ElementsAre(finance));
  EXPECT_THAT(ids({.limit = 1}), ElementsAre(login));
}

TEST_F(CheckpointsTest, ThatOthersWriteChangeOrRemoveAreSeen) {
  const std::string id = make("mine").id;
  EXPECT_THAT(ids({.words = "foreign"}), IsEmpty());
  put_file(file("T-20260124-000000-theirs"),
           R"({"thread_id":"T-20260124-000000-theirs","created_at":"2026-01-24T00:00:00Z",)"
           R"("type":"checkpoint","conversation_summary":"foreign work"})");
  EXPECT_THAT(ids({.words = "foreign"}), ElementsAre("T-20260124-000000-theirs"));
  Checkpoint changed = must(checkpoints().get(id));
  changed.summary = "foreign too";
  put_file(file(id), to_json(changed));
  EXPECT_EQ(ids({.words = "foreign"}).size(), 2u);
  fs::remove(file(id));
  EXPECT_EQ(ids().size(), 1u);
}

TEST_F(CheckpointsTest, ThatAreNoneAreReportedAndStopNothing) {
  const std::string id = make("good").id;
  put_file(file("T-1-broken"), "{\"thread_id\": ");
  put_file(file("T-2-huge"), std::string(2 << 20, ' '));
  put_file(workspace() / "workspace/threads/notes.txt", "not ours");
  fs::create_symlink("/etc/passwd", file("T-3-link"));
  EXPECT_THAT(ids(), ElementsAre(id));
  EXPECT_THAT(notices_, ElementsAre(HasSubstr("T-2-huge"), HasSubstr("T-1-broken")));
  EXPECT_TRUE(fails(checkpoints().get("broken"), ErrorCode::kDamaged, {"T-1-broken"}));
  EXPECT_EQ(get_file(file("T-1-broken")), "{\"thread_id\": ");
}

TEST_F(CheckpointsTest, SurviveACacheThatIsDamagedOrCannotBeWritten) {
  const std::string id = make("x").id;
  const fs::path cache = workspace() / ".skein/checkpoints.cache";
  clock_.advance(1s);
  EXPECT_THAT(ids(), ElementsAre(id));
  std::string bytes = get_file(cache);
  ASSERT_FALSE(bytes.empty());
  for (const std::size_t at : {bytes.size() / 3, bytes.size() / 2, bytes.size() - 1}) {
    std::string damaged = bytes;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x55);
    put_file(cache, damaged);
    EXPECT_THAT(ids(), ElementsAre(id));
    put_file(cache, bytes.substr(0, at));
    EXPECT_THAT(ids(), ElementsAre(id));
  }
  fs::remove(cache);
  fs::create_directory(cache);
  EXPECT_THAT(ids(), ElementsAre(id));
}

TEST_F(CheckpointsTest, OfTheOlderFolderAreReadAndNeverWritten) {
  const fs::path older = workspace() / "workspace/checkpoints/email-worker-fix.json";
  const std::string text =
      R"({"task_id":"email-worker-fix","created_at":"2025-12-01T10:00:00Z","summary":"Fixed it",)"
      R"("files_touched":["a.ts"],"recent_commits":["abc1234: fix"],"next_steps":["deploy"],)"
      R"("notes":"mind the gap"})";
  put_file(older, text);
  EXPECT_THAT(ids({.words = "fixed"}), ElementsAre("email-worker-fix"));
  const Checkpoint read = must(checkpoints().get("email"));
  EXPECT_TRUE(read.older);
  EXPECT_EQ(read.created_at, must(Timestamp::parse("2025-12-01T10:00:00Z")));
  EXPECT_EQ(read.summary, "Fixed it");
  EXPECT_THAT(read.files_touched, ElementsAre("a.ts"));
  EXPECT_THAT(*read.next_steps, ElementsAre("deploy"));
  EXPECT_THAT(*read.git->commits_made, ElementsAre("abc1234: fix"));
  EXPECT_THAT(read.extra.text(), HasSubstr("mind the gap"));
  EXPECT_TRUE(fails(checkpoints().update("email", {}), ErrorCode::kInvalid, {"only read"}));
  make("newer");
  EXPECT_EQ(get_file(older), text);
  EXPECT_THAT(index(), Not(HasSubstr("email")));
}

TEST_F(CheckpointsTest, AreUpdatedAlongTheWorkersMachine) {
  NewCheckpoint checkpoint = wanted("job");
  checkpoint.worker.emplace();
  checkpoint.worker->id = "w";
  checkpoint.worker->state = WorkerState::kIdle;
  must(checkpoints().create(checkpoint));
  const auto move = [&](WorkerState state) {
    clock_.advance(1s);
    return checkpoints().update("job", {.worker_state = state});
  };
  EXPECT_TRUE(fails(move(WorkerState::kExecuting), ErrorCode::kConflict, {"idle", "executing"}));
  EXPECT_TRUE(fails(move(WorkerState::kError), ErrorCode::kConflict, {"idle", "error"}));
  EXPECT_TRUE(ok(move(WorkerState::kLoading)));
  const Checkpoint executing = must(move(WorkerState::kExecuting));
  EXPECT_EQ(executing.worker->started_at, clock_.now());
  EXPECT_TRUE(ok(move(WorkerState::kVerifying)));
  EXPECT_TRUE(fails(move(WorkerState::kError), ErrorCode::kConflict, {"verifying", "error"}));
  const Checkpoint completed = must(move(WorkerState::kCompleted));
  EXPECT_EQ(completed.worker->completed_at, clock_.now());
  EXPECT_EQ(completed.updated_at, clock_.now());
  EXPECT_TRUE(fails(move(WorkerState::kIdle), ErrorCode::kConflict, {"completed is the end"}));
  make("other");
  EXPECT_TRUE(fails(checkpoints().update("other", {.worker_state = WorkerState::kIdle}),
                    ErrorCode::kInvalid, {"no worker"}));
}

TEST_F(CheckpointsTest, ThatAreUpdatedKeepWhatOthersPutIn) {
  put_file(file("T-1"), R"({"thread_id":"T-1","created_at":"2026-01-24T00:00:00Z","mood":"good"})");
  must(checkpoints().update("T-1", {.summary = "now", .next_steps = {"a"}, .tags = {"t"}}));
  must(checkpoints().update("T-1", {.next_steps = {"a", "b"}}));
  const Checkpoint read = must(checkpoints().get("T-1"));
  EXPECT_EQ(read.summary, "now");
  EXPECT_THAT(*read.next_steps, ElementsAre("a", "b"));
  EXPECT_THAT(read.extra.text(), HasSubstr("good"));
}

TEST_F(CheckpointsTest, ThatAreAutomaticArePurgedAfterFourteenDays) {
  const std::string old = make("old", CheckpointType::kAuto).id;
  const std::string full = make("full-auto-named").id;
  clock_.advance(24h * 10);
  const std::string young = make("young", CheckpointType::kAuto).id;
  clock_.advance(24h * 4);

  const auto due = must(checkpoints().purge({.dry_run = true}));
  ASSERT_EQ(due.size(), 1u);
  EXPECT_EQ(due[0].id, old);
  EXPECT_TRUE(fs::exists(file(old)));
  EXPECT_FALSE(fs::exists(workspace() / ".skein/purged.jsonl"));

  EXPECT_EQ(must(checkpoints().purge({})).size(), 1u);
  EXPECT_THAT(ids(), ElementsAre(young, full));
  const std::string record = get_file(workspace() / ".skein/purged.jsonl");
  EXPECT_THAT(record, HasSubstr("\"thread_id\":\"" + old + "\""));
  EXPECT_TRUE(ok(Json::parse_object(record)));
  EXPECT_THAT(must(checkpoints().purge({})), IsEmpty());
}

TEST_F(CheckpointsTest, TakeThePlaceOfAnAutomaticOneWithItsFiles) {
  NewCheckpoint automatic = wanted("a", CheckpointType::kAuto);
  automatic.files_touched = {"src/a.ts"};
  const std::string before = must(checkpoints().create(automatic)).id;
  const std::string other = make("full").id;
  NewCheckpoint full = wanted("b");
  full.replaces = before;
  EXPECT_THAT(must(checkpoints().create(full)).files_touched, ElementsAre("src/a.ts"));
  EXPECT_FALSE(fs::exists(file(before)));
  full.replaces = other;
  must(checkpoints().create(full));
  EXPECT_TRUE(fs::exists(file(other))) << "only automatic ones are replaced";
  put_file(workspace() / "outside.json", get_file(file(make("c", CheckpointType::kAuto).id)));
  full.replaces = "../../outside";
  EXPECT_TRUE(ok(checkpoints().create(full)));
  EXPECT_TRUE(fs::exists(workspace() / "outside.json"));
}

TEST_F(CheckpointsTest, RefuseWhatExceedsALimitOrIsNoText) {
  NewCheckpoint checkpoint = wanted("x");
  checkpoint.summary = std::string((64 << 10) + 1, 'x');
  EXPECT_TRUE(fails(checkpoints().create(checkpoint), ErrorCode::kInvalid, {"summary", "65536"}));
  checkpoint = wanted("x");
  checkpoint.next_steps.resize(1001);
  EXPECT_TRUE(fails(checkpoints().create(checkpoint), ErrorCode::kInvalid, {"next steps", "1000"}));
  checkpoint = wanted("bad \xff");
  EXPECT_TRUE(fails(checkpoints().create(checkpoint), ErrorCode::kInvalid, {"slug", "UTF-8"}));
  checkpoint = wanted("x");
  checkpoint.worker.emplace();
  EXPECT_TRUE(fails(checkpoints().create(checkpoint), ErrorCode::kInvalid, {"worker", "id"}));
  EXPECT_FALSE(fs::exists(workspace() / "workspace/threads"));
}

TEST_F(CheckpointsTest, AreMadeEvenWhereGitRefusesTheRepository) {
  init_repository(workspace());
  put_file(workspace() / ".git/config", "[broken");
  const Checkpoint made = make("x");
  EXPECT_FALSE(made.git);
  EXPECT_THAT(notices_, ElementsAre(HasSubstr("git")));
}

TEST_F(CheckpointsTest, TellHowFarTheRepositoryHasMoved) {
  init_repository(workspace());
  commit_file(workspace(), "kept", "1", "first");
  const std::string then = commit_file(workspace(), "touched", "1", "second");
  NewCheckpoint checkpoint = wanted("x");
  checkpoint.files_touched = {"kept", "touched"};
  const Checkpoint made = must(checkpoints().create(checkpoint));
  EXPECT_TRUE(checkpoints().drift(made).none());

  git(workspace(), {"checkout", "--quiet", "-b", "side"});
  const std::string now = commit_file(workspace(), "touched", "2", "third");
  CheckpointDrift drift = checkpoints().drift(made);
  EXPECT_FALSE(drift.none());
  EXPECT_EQ(drift.branch_then, "main");
  EXPECT_EQ(drift.branch_now, "side");
  EXPECT_EQ(drift.commits_since, 1u);
  EXPECT_THAT(drift.new_commits, ElementsAre(now.substr(0, 7) + ": third"));
  EXPECT_THAT(drift.changed_files, ElementsAre("touched"));
  EXPECT_EQ(drift.commits_left, 0u);

  git(workspace(), {"reset", "--quiet", "--hard", "HEAD~2"});
  drift = checkpoints().drift(made);
  EXPECT_EQ(drift.commits_left, 1u);
  EXPECT_EQ(drift.commits_since, 0u);

  Checkpoint elsewhere = made;
  elsewhere.git->current_commit = "def5678";
  EXPECT_TRUE(checkpoints().drift(elsewhere).commit_missing);
  elsewhere.cwd = "no/such/folder";
  EXPECT_THAT(checkpoints().drift(elsewhere).unknown, HasSubstr("no/such/folder"));
  elsewhere.git.reset();
  EXPECT_THAT(checkpoints().drift(elsewhere).unknown, HasSubstr("no commit"));
}

}  // namespace
}  // namespace skein::test
