// A folder of HQ's, as it is in practice.
#include <gmock/gmock.h>

#include "checkpoints_fixture.h"

namespace skein::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class HqFolder : public CheckpointsTest {
 protected:
  void put(const std::string& path, const std::string& text) {
    put_file(workspace() / "workspace" / path, text);
  }
  static std::string checkpoint(const std::string& id, const std::string& type = "checkpoint") {
    return R"({"thread_id":")" + id + R"(","type":")" + type +
           R"(","created_at":"2026-01-01T00:00:00Z","metadata":{"title":"a title"}})";
  }
};

TEST_F(HqFolder, HasOtherFilesAmongItsCheckpoints) {
  put("threads/T-20260101-000000-a.json", checkpoint("T-20260101-000000-a"));
  put("threads/T-20260101-000000-a.changeset.json", R"({"paths":[]})");
  put("threads/handoff.json", R"({"thread_path":"workspace/threads/T-20260101-000000-a.json"})");
  EXPECT_THAT(ids(), ElementsAre("T-20260101-000000-a"));
  EXPECT_THAT(notices_, IsEmpty());
}

TEST_F(HqFolder, HasAnArchiveThatIsOnlyRead) {
  const std::string id = "T-20260101-000000-old";
  const std::string automatic = "T-20260101-000000-auto-old";
  put("threads/archive/2026-01/" + id + ".json", checkpoint(id));
  put("threads/archive/2026-01/" + id + ".changeset.json", "{}");
  put("threads/archive/2026-01/" + automatic + ".json", checkpoint(automatic, "auto-checkpoint"));
  put("threads/archive/other/T-20260101-000000-no.json", checkpoint("T-20260101-000000-no"));
  const TempDir outside;
  put_file(outside.path() / "T-20260101-000000-out.json", checkpoint("T-20260101-000000-out"));
  fs::create_directory_symlink(outside.path(), workspace() / "workspace/threads/archive/2026-02");
  EXPECT_THAT(ids(), ElementsAre(id, automatic));
  EXPECT_THAT(ids(), ElementsAre(id, automatic)) << "from the cache";
  const Checkpoint read = must(checkpoints().get("old"));
  EXPECT_EQ(read.id, id);
  EXPECT_EQ(read.archive, "2026-01");
  EXPECT_TRUE(fails(checkpoints().update("old", {}), ErrorCode::kInvalid, {"archive"}));
  EXPECT_THAT(must(checkpoints().purge({})), IsEmpty());
  make("new");
  EXPECT_THAT(index(), Not(HasSubstr(id)));
  EXPECT_THAT(notices_, IsEmpty());
  // One that came back is the one that is meant.
  put("threads/" + id + ".json", checkpoint(id));
  EXPECT_EQ(must(checkpoints().get(id)).archive, "");
}

TEST_F(HqFolder, HasLocksThatAreNoCheckpoints) {
  const std::string id = "T-20260101-000000-resumed";
  put("threads/resume-locks/" + id + ".lock/current.json",
      R"({"version":1,"thread_id":")" + id + R"(","session_id":"s-1"})");
  put("threads/archive/2026-01/" + id + ".json", checkpoint(id));
  EXPECT_THAT(ids(), ElementsAre(id));
  EXPECT_EQ(must(checkpoints().get("resumed")).archive, "2026-01");
  EXPECT_THAT(notices_, IsEmpty());
}

TEST_F(HqFolder, HasTypesOfItsOwn) {
  put("threads/T-20260101-000000-a.json", checkpoint("T-20260101-000000-a", "task"));
  const auto entries = must(checkpoints().list({}));
  ASSERT_EQ(entries.size(), 1u);
  EXPECT_EQ(type_name(entries[0]), "task");
  EXPECT_EQ(type_name(must(checkpoints().list({}))[0]), "task") << "from the cache";
  EXPECT_EQ(type_name(must(checkpoints().get("a"))), "task");
  must(checkpoints().update("000000-a", {.summary = "done"}));
  EXPECT_THAT(get_file(file("T-20260101-000000-a")), HasSubstr("\"type\": \"task\""));
  EXPECT_THAT(notices_, IsEmpty());
}

TEST_F(HqFolder, HasRecordsThatDoNotSayWhenTheyWereMade) {
  put("threads/T-01.json", R"({"thread_id":"T-01","type":"task",)"
                           R"("updated_at":"2026-01-02T12:00:00Z","metadata":{"title":"First"}})");
  put("threads/T-01.changeset.json", R"({"thread_id":"T-01","staged_paths":[]})");
  const std::string second = "T-20260103-101112-second";
  put("threads/" + second + ".json", R"({"thread_id":")" + second + R"(","type":"handoff"})");
  EXPECT_THAT(ids(), ElementsAre(second, "T-01"));
  EXPECT_EQ(must(checkpoints().get("T-01")).created_at.str(), "2026-01-02T12:00:00.000Z");
  EXPECT_EQ(must(checkpoints().get(second)).created_at.str(), "2026-01-03T10:11:12.000Z");
  make("new");
  EXPECT_THAT(index(), HasSubstr("3 in all"));
  EXPECT_THAT(notices_, IsEmpty());
}

TEST_F(HqFolder, HasRecordsThatNameThousandsOfFiles) {
  const std::string id = "T-20260101-000000-large";
  std::string files;
  for (int i = 0; i < 5000; ++i) {
    files += (files.empty() ? "\"gen/file_" : ",\"gen/file_") + std::to_string(i) + ".ts\"";
  }
  put("threads/" + id + ".json", R"({"thread_id":")" + id +
                                     R"(","type":"handoff","created_at":"2026-01-01T00:00:00Z",)"
                                     R"("files_touched":[)" +
                                     files + R"(],"metadata":{"title":"Large"}})");
  EXPECT_EQ(must(checkpoints().get("large")).files_touched.size(), 5000u);
  EXPECT_THAT(ids({.words = "file_4999"}), ElementsAre(id));
  must(checkpoints().update("large", {.summary = "as large as before"}));
  EXPECT_EQ(must(checkpoints().get("large")).files_touched.size(), 5000u);
}

TEST_F(HqFolder, HasOlderCheckpointsWithMoreFields) {
  put("checkpoints/email-fix.json",
      R"({"task_id":"EMAIL-7","completed_at":"2025-12-01T10:00:00Z","summary":"Fixed",)"
      R"("notes":"mind the gap","commit":"abc1234","build_passed":true,)"
      R"("learnings":["retries hide errors"],"decisions":[{"what":"keep IMAP"}]})");
  for (const char* words : {"gap", "retries", "imap", "abc1234", "build passed"}) {
    EXPECT_THAT(ids({.words = words}), ElementsAre("email-fix")) << words;
  }
  const Checkpoint read = must(checkpoints().get("email-fix"));
  EXPECT_EQ(read.git->current_commit, "abc1234");
  EXPECT_EQ(must(checkpoints().get("EMAIL-7")).id, "email-fix");
  EXPECT_EQ(must(checkpoints().get("email")).id, "email-fix");
}

TEST_F(HqFolder, HasKnowledgeRepositoriesOfItsOwn) {
  const fs::path& root = workspace();
  init_repository(root);
  commit_file(root, ".gitignore", "repos/\ncompanies/\nknowledge/\n", "first");
  const auto repository = [&](const std::string& path) {
    init_repository(root / path);
    return commit_file(root / path, "k", "1", "k").substr(0, 7);
  };
  const std::string ralph = repository("repos/public/knowledge-ralph");
  const std::string acme = repository("companies/acme/knowledge");
  const std::string beta = repository("repos/private/knowledge-beta");
  put_file(root / "repos/private/knowledge-beta/k", "2");
  put_file(root / "companies/gamma/knowledge/plain.md", "no repository");
  fs::create_directories(root / "knowledge/public");
  fs::create_directories(root / "companies/beta");
  fs::create_directory_symlink("../../repos/public/knowledge-ralph",
                               root / "knowledge/public/ralph");
  fs::create_directory_symlink("../../repos/private/knowledge-beta",
                               root / "companies/beta/knowledge");
  const GitSandbox elsewhere;
  elsewhere.commit("a", "1", "a");
  fs::create_directories(root / "companies/delta");
  fs::create_directory_symlink(elsewhere.path(), root / "companies/delta/knowledge");

  const Checkpoint made = make("x");
  std::vector<std::string> found;
  for (const auto& [name, state] : *made.git->knowledge_repos) {
    found.push_back(name + " " + state.text());
  }
  EXPECT_THAT(found,
              ElementsAre("knowledge-ralph { \"commit\": \"" + ralph + "\", \"dirty\": false }",
                          "knowledge-acme { \"commit\": \"" + acme + "\", \"dirty\": false }",
                          "knowledge-beta { \"commit\": \"" + beta + "\", \"dirty\": true }"));
  EXPECT_THAT(notices_, IsEmpty());
}

TEST_F(HqFolder, SkipsAKnowledgeFolderWithoutARepositoryOfItsOwn) {
  init_repository(workspace());
  commit_file(workspace(), "knowledge/plain/a.md", "1", "first");
  const Checkpoint made = must(checkpoints({{"plain", "knowledge/plain"}}).create(wanted("x")));
  EXPECT_THAT(*made.git->knowledge_repos, IsEmpty());
  EXPECT_THAT(notices_, ElementsAre(testing::AllOf(HasSubstr("plain"), HasSubstr(".git"))));
}

}  // namespace
}  // namespace skein::test
