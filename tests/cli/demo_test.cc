#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "program.h"

namespace skein::test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::IsSupersetOf;

// A demo in the folder "ferry" of a workspace, without waiting for a model.
class Demo : public testing::Test {
 protected:
  Ran sh(const std::string& script) const {
    return workspace_.shell("export SKEIN_EMBEDDER=none; " + script);
  }
  boost::json::value json(const std::string& command) const {
    const Ran ran = sh("cd ferry && " + command);
    EXPECT_EQ(ran.code, 0) << ran;
    return ran.json();
  }
  boost::json::value make() const {
    const Ran made = sh("skein demo ferry --json");
    EXPECT_EQ(made.code, 0) << made;
    return made.json();
  }
  static std::set<std::string> values(const boost::json::value& list, std::string_view name) {
    std::set<std::string> all;
    for (const auto& each : list.as_array()) {
      const auto* value = each.as_object().if_contains(name);
      if (value != nullptr) all.emplace(value->as_string());
    }
    return all;
  }

  Workspace workspace_;
};

TEST_F(Demo, HasConversationsOfEveryKind) {
  const auto made = make();
  const auto threads = json("skein thread list --json --limit 1000");
  EXPECT_EQ(threads.as_array().size(), static_cast<std::size_t>(made.at("threads").as_int64()));
  EXPECT_GT(threads.as_array().size(), 25U);
  EXPECT_THAT(values(threads, "status"), IsSupersetOf({"paused", "closed", "archived"}));
  EXPECT_GE(values(threads, "agentId").size(), 5U);
  const auto runs = json("skein runs list --json --limit 1000");
  EXPECT_THAT(values(runs, "status"), IsSupersetOf({"success", "error", "interrupted"}));
  EXPECT_GE(values(runs, "model").size(), 3U);
  const std::string id(made.at("longThread").as_string());
  const Ran events = sh("cd ferry && skein thread events " + id);
  EXPECT_THAT(events.out, HasSubstr("delays.py"));
  EXPECT_THAT(sh("cd ferry && skein thread show " + id + " --json").out, HasSubstr("\"pins\":["));
  EXPECT_THAT(json("skein thread context " + id + " --json --max-tokens 900 --strategy hybrid")
                  .at("ledger")
                  .as_array()
                  .size(),
              testing::Gt(2U));
}

TEST_F(Demo, HasWorkItemsCheckpointsAndARepositoryAndIsSound) {
  const auto made = make();
  const auto items = json("skein item list --json --include-resolved").at("threads");
  EXPECT_THAT(values(items, "status"), IsSupersetOf({"open", "resolved"}));
  const Ran listed = sh("cd ferry && skein item list");
  for (const char* vitality : {"emerging", "active", "cooling", "dormant"}) {
    EXPECT_THAT(listed.out, HasSubstr(vitality));
  }
  const auto checkpoints = json("skein checkpoints list --json");
  EXPECT_EQ(checkpoints.as_array().size(),
            static_cast<std::size_t>(made.at("checkpoints").as_int64()));
  EXPECT_THAT(values(checkpoints, "type"),
              testing::ElementsAre("auto-checkpoint", "checkpoint", "handoff"));
  EXPECT_EQ(sh("cd ferry && git log --oneline | wc -l").out_line(),
            std::to_string(made.at("commits").as_int64()));
  EXPECT_EQ(sh("cd ferry && git status --short").out, "?? test_age.py\n");
  const Ran resumed = sh("cd ferry && skein resume csv-reader");
  EXPECT_THAT(resumed.out, HasSubstr("Say the time zone")) << "what was committed since";
  const Ran doctor = sh("cd ferry && skein doctor");
  EXPECT_EQ(doctor.code, 0) << doctor;
  EXPECT_THAT(doctor.out, testing::EndsWith("healthy\n"));
  const Ran found = sh("cd ferry && skein search 'what did we decide about retries?'");
  EXPECT_EQ(found.code, 0) << found;
  EXPECT_THAT(found.out, HasSubstr("three attempts"));
  const Ran checked = sh("cd ferry && skein agent check");
  EXPECT_EQ(checked.code, 0) << checked;

  const std::string run(made.at("waitingRun").as_string());
  const Ran answered = sh("cd ferry && skein runs resume " + run + " --yes");
  EXPECT_EQ(answered.code, 0) << answered;
  EXPECT_THAT(sh("cd ferry && skein item list").out, HasSubstr("due Friday"));
}

TEST_F(Demo, IsTheSameForTheSameSeedAndTime) {
  const std::string rest = " --now 2026-01-20T12:00:00Z --json >/dev/null && ";
  const auto picture = [&](const std::string& folder, const std::string& seed) {
    const Ran ran = sh("skein demo " + folder + " --seed " + seed + rest + "cd " + folder +
                       " && skein thread list --json --limit 1000 && skein runs list --json "
                       "--limit 1000 && skein usage --by thread --json && git rev-parse HEAD");
    EXPECT_EQ(ran.code, 0) << ran;
    return ran.out;
  };
  const std::string first = picture("one", "3");
  EXPECT_EQ(first, picture("two", "3"));
}

TEST_F(Demo, IsRefusedWhereSomethingIsAlready) {
  workspace_.write("full/note.txt", "mine");
  const Ran full = sh("skein demo full");
  EXPECT_EQ(full.code, 4) << full;
  EXPECT_THAT(full.err, HasSubstr("note.txt"));
  EXPECT_EQ(sh("ls -A full").out, "note.txt\n");

  workspace_.create({"--message", "mine"});
  const Ran used = sh("skein demo empty --store sqlite:.skein/skein.db");
  EXPECT_EQ(used.code, 4) << used;
  EXPECT_THAT(used.err, HasSubstr("has threads"));
  EXPECT_EQ(sh("ls -A empty").out, "");
}

}  // namespace
}  // namespace skein::test
