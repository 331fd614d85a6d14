// A workspace with checkpoints, and a clock that stands still.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "skein/checkpoints.h"
#include "support/expect.h"
#include "support/git_sandbox.h"
#include "support/manual_clock.h"

namespace skein::test {

namespace fs = std::filesystem;

class CheckpointsTest : public testing::Test {
 protected:
  Checkpoints checkpoints(std::vector<CheckpointsOptions::KnowledgeRepo> knowledge = {}) {
    return Checkpoints({.workspace = workspace().string(),
                        .knowledge_repos = std::move(knowledge),
                        .clock = &clock_,
                        .notice = [this](const std::string& what) { notices_.push_back(what); }});
  }
  NewCheckpoint wanted(std::string slug, CheckpointType type = CheckpointType::kCheckpoint) {
    NewCheckpoint checkpoint;
    checkpoint.slug = std::move(slug);
    checkpoint.type = type;
    return checkpoint;
  }
  Checkpoint make(const std::string& slug, CheckpointType type = CheckpointType::kCheckpoint) {
    return must(checkpoints().create(wanted(slug, type)));
  }
  std::vector<std::string> ids(const CheckpointQuery& query = {}) {
    std::vector<std::string> found;
    for (const CheckpointEntry& entry : must(checkpoints().list(query))) found.push_back(entry.id);
    return found;
  }
  const fs::path& workspace() const { return folder_.path(); }
  fs::path file(const std::string& id) const {
    return workspace() / "workspace/threads" / (id + ".json");
  }
  std::string index() const { return get_file(workspace() / "workspace/threads/INDEX.md"); }
  std::string recent() const { return get_file(workspace() / "workspace/threads/recent.md"); }

  TempDir folder_;
  ManualClock clock_;
  std::vector<std::string> notices_;
};

}  // namespace skein::test
