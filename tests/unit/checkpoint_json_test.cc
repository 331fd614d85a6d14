#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/json.h"
#include "skein/checkpoints.h"
#include "support/expect.h"
#include "support/git_sandbox.h"

namespace skein::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::string fixture(const std::string& name) {
  return get_file(std::filesystem::path(SKEIN_SOURCE_DIR) / "tests/fixtures/checkpoints" / name);
}

Timestamp at(std::string_view text) { return must(Timestamp::parse(text)); }

std::string round_trip(const std::string& json) { return to_json(must(parse_checkpoint(json))); }

TEST(CheckpointJson, OfAFullOneComesBackByteForByte) {
  EXPECT_EQ(round_trip(fixture("full.json")), fixture("full.json"));
}

TEST(CheckpointJson, OfAnAutomaticOneComesBackByteForByte) {
  EXPECT_EQ(round_trip(fixture("auto.json")), fixture("auto.json"));
}

TEST(CheckpointJson, OfAFullOneHasEveryField) {
  const Checkpoint full = must(parse_checkpoint(fixture("full.json")));
  EXPECT_EQ(full.id, "T-20260123-143052-mrr-report");
  EXPECT_EQ(full.version, 1);
  EXPECT_EQ(full.type, CheckpointType::kCheckpoint);
  EXPECT_EQ(full.created_at, at("2026-01-23T14:30:52.000Z"));
  EXPECT_EQ(full.updated_at, at("2026-01-23T14:35:00.000Z"));
  EXPECT_EQ(full.workspace_root, "~/Documents/HQ");
  EXPECT_EQ(full.cwd, "repos/private/{company-1}");
  EXPECT_EQ(full.git->branch, "main");
  EXPECT_EQ(full.git->remote_url, "git@github.com:user/repo.git");
  EXPECT_EQ(full.git->initial_commit, "abc1234");
  EXPECT_EQ(full.git->current_commit, "def5678");
  EXPECT_THAT(*full.git->commits_made, ElementsAre("def5678: feat: add MRR calculation"));
  EXPECT_EQ(full.git->dirty, false);
  ASSERT_EQ(full.git->knowledge_repos->size(), 1u);
  EXPECT_EQ(full.git->knowledge_repos->at(0).name, "knowledge-ralph");
  EXPECT_EQ(full.git->knowledge_repos->at(0).repository.text(),
            "{ \"commit\": \"abc1234\", \"dirty\": false }");
  EXPECT_EQ(full.worker->id, "cfo-{company}");
  EXPECT_EQ(full.worker->skill, "mrr");
  EXPECT_EQ(full.worker->state, WorkerState::kCompleted);
  EXPECT_EQ(full.worker->started_at, at("2026-01-23T14:30:52.000Z"));
  EXPECT_EQ(full.worker->completed_at, at("2026-01-23T14:35:00.000Z"));
  EXPECT_EQ(full.summary, "Generated MRR report showing $45,230 current MRR with 3.2% growth");
  EXPECT_THAT(full.files_touched, ElementsAre("workspace/reports/finance/2026-01-23-mrr.md"));
  EXPECT_THAT(*full.next_steps, IsEmpty());
  EXPECT_EQ(full.title, "MRR Report Jan 2026");
  EXPECT_THAT(full.tags, ElementsAre("finance", "{company-1}", "mrr"));
  EXPECT_FALSE(full.trigger);
}

TEST(CheckpointJson, OfAnAutomaticOneIsLighter) {
  const Checkpoint automatic = must(parse_checkpoint(fixture("auto.json")));
  EXPECT_EQ(automatic.type, CheckpointType::kAuto);
  EXPECT_THAT(automatic.id, HasSubstr("-auto-"));
  EXPECT_FALSE(automatic.git->initial_commit);
  EXPECT_FALSE(automatic.git->commits_made);
  EXPECT_FALSE(automatic.git->remote_url);
  EXPECT_FALSE(automatic.git->knowledge_repos);
  EXPECT_FALSE(automatic.worker);
  EXPECT_FALSE(automatic.next_steps);
  EXPECT_EQ(automatic.trigger, "git-commit");
}

TEST(CheckpointJson, HasThreeTypes) {
  for (const char* word : {"checkpoint", "auto-checkpoint", "handoff"}) {
    EXPECT_STREQ(to_string(must(parse_checkpoint_type(word))), word);
  }
  EXPECT_TRUE(fails(parse_checkpoint_type("manual"), ErrorCode::kInvalid, {"handoff", "manual"}));
}

TEST(CheckpointJson, KeepsUnknownFieldsEverywhere) {
  const std::string json = round_trip(R"({
    "thread_id": "T-1", "created_at": "2026-01-23T14:30:52Z", "big": 12345678901234567890123,
    "git": {"branch": "main", "stash": [1, {"a": null}]},
    "worker": {"id": "w", "pid": 7, "state": "dreaming"},
    "metadata": {"title": "t", "tags": [], "colour": "red"},
    "files_touched": "not a list"
  })");
  EXPECT_THAT(json, HasSubstr("\"big\": 12345678901234567890123"));
  EXPECT_THAT(json, HasSubstr("\"stash\": [1, {\"a\": null}]"));
  EXPECT_THAT(json, HasSubstr("\"pid\": 7"));
  EXPECT_THAT(json, HasSubstr("\"state\": \"dreaming\""));
  EXPECT_THAT(json, HasSubstr("\"colour\": \"red\""));
  EXPECT_THAT(json, HasSubstr("\"files_touched\": \"not a list\""));
  EXPECT_EQ(round_trip(json), json);
}

TEST(CheckpointJson, SaysWhatIsWrongWithWhatIsNone) {
  const auto refused = [](std::string_view json, std::string_view why) {
    EXPECT_TRUE(fails(parse_checkpoint(json), ErrorCode::kInvalid, {why})) << json;
  };
  refused("", "JSON");
  refused("[]", "object");
  refused("{\"thread_id\": \"T-1\"", "JSON");
  refused(R"({"created_at": "2026-01-23T14:30:52Z"})", "thread_id");
  refused(R"({"thread_id": 7, "created_at": "2026-01-23T14:30:52Z"})", "thread_id");
  refused(R"({"thread_id": "T-1"})", "created_at");
  refused(R"({"thread_id": "T-1", "created_at": "yesterday"})", "created_at");
}

TEST(CheckpointJson, KeepsTheTypesOfOtherPrograms) {
  const std::string json =
      R"({"thread_id": "T-1", "created_at": "2026-01-23T14:30:52Z", "type": "task"})";
  const Checkpoint task = must(parse_checkpoint(json));
  EXPECT_EQ(task.type, CheckpointType::kOther);
  EXPECT_EQ(type_name(task), "task");
  EXPECT_THAT(round_trip(json), HasSubstr("\"type\": \"task\""));
}

TEST(CheckpointJson, KeepsWhatUncommittedFilesAreKnownBy) {
  const auto with = [](const std::string& value) {
    return R"({"thread_id": "T-1", "created_at": "2026-01-23T14:30:52Z", "git": {"uncommitted": )" +
           value + "}}";
  };
  const Checkpoint read = must(parse_checkpoint(with(R"({"a \"b\".txt": "absent"})")));
  ASSERT_EQ(read.git->uncommitted->size(), 1u);
  EXPECT_EQ(read.git->uncommitted->front().path, "a \"b\".txt");
  EXPECT_THAT(to_json(read), HasSubstr(R"("a \"b\".txt": "absent")"));
  for (const std::string other : {"true", "[1]", R"({"a": 7})"}) {
    EXPECT_FALSE(must(parse_checkpoint(with(other))).git->uncommitted) << other;
    EXPECT_THAT(round_trip(with(other)), HasSubstr("\"uncommitted\": " + other));
  }
}

TEST(WorkerStates, FollowTheirMachine) {
  const std::vector<std::string> states = {"idle",      "loading",   "executing",
                                           "verifying", "completed", "error"};
  const std::vector<std::pair<std::string, std::string>> legal = {{"idle", "loading"},
                                                                  {"loading", "executing"},
                                                                  {"executing", "verifying"},
                                                                  {"verifying", "completed"},
                                                                  {"executing", "error"}};
  for (const std::string& from : states) {
    for (const std::string& to : states) {
      const bool allowed =
          from == to || std::find(legal.begin(), legal.end(), std::pair(from, to)) != legal.end();
      const auto moved =
          check_worker_move(must(parse_worker_state(from)), must(parse_worker_state(to)));
      if (allowed) {
        EXPECT_TRUE(ok(moved)) << from << " " << to;
      } else {
        EXPECT_TRUE(fails(moved, ErrorCode::kConflict, {"from " + from, "to " + to}));
      }
    }
  }
  EXPECT_TRUE(fails(parse_worker_state("done"), ErrorCode::kInvalid, {"verifying", "done"}));
}

TEST(Slugs, AreLowerCaseWordsInAsciiWhereThatCanBe) {
  for (const auto& [title, slug] : std::vector<std::pair<std::string, std::string>>{
           {"mrr-report", "mrr-report"},
           {"MRR Report Jan 2026", "mrr-report-jan-2026"},
           {"  feat(api): add / remove  ", "feat-api-add-remove"},
           {"Äpfel für Großeltern", "apfel-fur-grosseltern"},
           {"Crème brûlée & Smørrebrød", "creme-brulee-smorrebrod"},
           {"Łódź, İstanbul, Þór", "lodz-istanbul-thor"},
           {"Исправить вход", "ispravit-vkhod"},
           {"Ελληνικά", "ellinika"},
           {"it's don’t", "its-dont"},
           {"修复 login 错误", "修复-login-错误"},
           {"修复登录", "修复登录"},
           {"ログインを直した", "ログインを直した"},
           {"로그인 수정", "로그인-수정"},
           {"लॉगिन ठीक", "लॉगिन-ठीक"},
           {"إصلاح الدخول", "إصلاح-الدخول"},
           {"תיקון \u202Eכניסה", "תיקון-כניסה"},
           {"🎉🎉", "checkpoint"},
           {"", "checkpoint"},
           {"../../etc/passwd", "etc-passwd"},
           {"a\n\t\"b\"", "a-b"},
           {"ﬁle ２０２６", "file-2026"},
           {"bad \xff byte", "bad-byte"}}) {
    EXPECT_EQ(checkpoint_slug(title), slug) << title;
  }
}

TEST(Slugs, AreCutAtTheEndOfAWord) {
  const std::string slug =
      checkpoint_slug("one two three four five six seven eight nine ten eleven twelve");
  EXPECT_EQ(slug, "one-two-three-four-five-six-seven-eight-nine-ten");
  EXPECT_EQ(checkpoint_slug(std::string(500, 'x')), std::string(48, 'x'));
  std::string long_title;
  for (int i = 0; i < 20; ++i) long_title += "a修";
  const std::string cut = checkpoint_slug(long_title);
  EXPECT_EQ(cut.size(), 48u);
  EXPECT_TRUE(valid_utf8(cut));
}

}  // namespace
}  // namespace skein::test
