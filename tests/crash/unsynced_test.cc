// Power cuts on a machine where nothing can be mounted, and stricter than ext4 is: of the store's
// folder nothing survives but what was flushed. A preloaded library keeps that state
// (preload/unsynced.cc).

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <random>
#include <string>

#include "crash/harness/disk.h"
#include "crash/harness/figures.h"
#include "crash/harness/journal.h"
#include "crash/harness/rounds.h"

namespace skein::crash {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::milliseconds kLongestRun{1500};

class UnsyncedBytes : public testing::TestWithParam<std::string> {
 protected:
  // A folder with what was flushed, and nothing else.
  static void rebuild(const fs::path& kept, const fs::path& folder) {
    fs::create_directories(folder);
    for (const auto& entry : fs::recursive_directory_iterator(kept / "folders")) {
      const fs::path path = folder / fs::relative(entry.path(), kept / "folders");
      if (entry.is_directory()) {
        fs::create_directories(path);
        continue;
      }
      fs::create_directories(path.parent_path());
      const fs::path bytes = kept / "files" / read_file(entry.path().string());
      if (fs::exists(bytes))
        fs::copy_file(bytes, path);
      else
        std::ofstream(path).flush();  // a name was flushed, its file never
    }
  }

  Interruption drop_unsynced(std::uint64_t seed, const std::vector<std::string>& extra_options) {
    std::mt19937_64 random(seed);
    const TempFolder folder;
    fs::create_directories(folder / "live");
    fs::create_directories(folder / "kept");
    const std::string journal = folder / "journal";
    const std::string url = store_url(GetParam(), folder / "live");
    RoundPlan plan = plan_round(random, kLongestRun);
    const auto under_watch = [&](Spawn spawn) {
      spawn.environment = {{"LD_PRELOAD", program("libunsynced.so")},
                           {"SKEIN_UNSYNCED_UNDER", folder / "live"},
                           {"SKEIN_UNSYNCED_KEPT", folder / "kept"}};
      return spawn;
    };
    std::vector<std::string> setup = plan.writer_options;
    setup.emplace_back("--setup-only");
    EXPECT_TRUE(run(under_watch(writer_command(url, "/dev/null", setup))).clean());

    plan.writer_options.insert(plan.writer_options.end(), extra_options.begin(),
                               extra_options.end());
    Child writer(under_watch(writer_command(url, journal, plan.writer_options)));
    EXPECT_TRUE(wait_for_begin(writer, journal)) << read_file(journal + ".stderr");
    pause_for(plan.run_for);
    EXPECT_TRUE(writer.running()) << read_file(journal + ".stderr");
    writer.kill();

    rebuild(folder / "kept", folder / "after");
    Interruption outcome;
    outcome.verdict = verify_apart(store_url(GetParam(), folder / "after"), {journal});
    if (const auto loaded = Journal::load(journal); loaded)
      outcome.acknowledged = loaded->acknowledged();
    return outcome;
  }
};

TEST_P(UnsyncedBytes, MayBeDroppedWithoutLossOfWhatWasAcknowledged) {
  const Series drops =
      repeat(rounds(4, 200), 20'000, [&](std::uint64_t seed) { return drop_unsynced(seed, {}); });
  EXPECT_EQ(drops.unsound, 0) << drops.said;
  EXPECT_GT(drops.acknowledged, 0U);
  figure(fmt::format(
      "{}: unflushed bytes dropped {} times, {} with loss or damage; {} acknowledgements",
      GetParam(), drops.rounds, drops.unsound, drops.acknowledged));
}

TEST_P(UnsyncedBytes, AreSeenToBeMissedWithoutFlushing) {
  const Series drops = repeat(rounds(2, 50), 25'000, [&](std::uint64_t seed) {
    return drop_unsynced(seed, {"--no-flush"});
  });
  EXPECT_GT(drops.with_acknowledgements, 0);
  EXPECT_GE(drops.noticed * 100, drops.with_acknowledgements * 95);
  figure(fmt::format("{}: loss noticed in {} of {} drops", GetParam(), drops.noticed,
                     drops.with_acknowledgements));
}

INSTANTIATE_TEST_SUITE_P(Backends, UnsyncedBytes, testing::Values("jsonl", "sqlite"),
                         [](const auto& backend) { return backend.param; });

}  // namespace
}  // namespace skein::crash
