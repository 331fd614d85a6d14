// Power cuts: a writer works on an ext4 of its own, which is shut down under it without writing
// anything more. Whatever was acknowledged must be there after the disk is mounted again.

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <random>
#include <string>

#include "crash/harness/disk.h"
#include "crash/harness/figures.h"
#include "crash/harness/journal.h"
#include "crash/harness/rounds.h"

namespace skein::crash {
namespace {

constexpr std::size_t kDiskMegabytes = 512;  // more than a round can write
constexpr std::chrono::milliseconds kLongestRun{1500};

class PowerCut : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (const auto allowed = allow_mounts(); !allowed) {
      GTEST_SKIP() << "NOT TESTED: power cuts need loop mounts, which are not permitted here ("
                   << allowed.error().message
                   << "). Run as root. Unflushed bytes are dropped in UnsyncedBytes.";
    }
  }

  // One cut on a new disk. Which writer, and when, comes from the seed.
  Interruption cut(std::uint64_t seed, const std::vector<std::string>& extra_options) {
    std::mt19937_64 random(seed);
    const TempFolder folder;
    const std::string journal = folder / "journal";
    Disk disk(folder / "image", folder / "disk");
    RoundPlan plan = plan_round(random, kLongestRun);
    Interruption result;
    EXPECT_TRUE(Disk::format(folder / "image", kDiskMegabytes, 4096));
    if (const auto mounted = disk.mount(); !mounted) {
      ADD_FAILURE() << mounted.error().message;
      return result;
    }
    const std::string url = store_url(GetParam(), disk.folder());
    prepare(url, disk.folder(), plan.writer_options);

    plan.writer_options.insert(plan.writer_options.end(), extra_options.begin(),
                               extra_options.end());
    Child writer(writer_command(url, journal, plan.writer_options));
    EXPECT_TRUE(wait_for_begin(writer, journal)) << read_file(journal + ".stderr");
    pause_for(plan.run_for);
    EXPECT_TRUE(writer.running()) << "it stopped by itself: " << read_file(journal + ".stderr");
    // What is acknowledged while the power goes is not held against the store: ext4 may answer a
    // flush that meets its own shutdown with success.
    const std::size_t before = read_file(journal).size();
    EXPECT_TRUE(disk.cut_power());
    writer.kill();
    const std::string said = read_file(journal);
    std::ofstream(journal, std::ios::binary | std::ios::trunc) << doubt_after(said, before);
    EXPECT_TRUE(disk.unmount());

    EXPECT_TRUE(disk.mount());
    result.verdict = verify_apart(url, {journal});
    if (const auto loaded = Journal::load(journal); loaded)
      result.acknowledged = loaded->acknowledged();
    return result;
  }

 private:
  // The store and its shared threads are on disk before the round, so that a lost round is a round
  // with lost writes, not one with no store.
  void prepare(const std::string& url, const std::string& folder,
               std::vector<std::string> options) {
    options.emplace_back("--setup-only");
    EXPECT_TRUE(run(writer_command(url, "/dev/null", options)).clean());
    const int fd = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    EXPECT_EQ(::syncfs(fd), 0);
    ::close(fd);
  }
};

TEST_P(PowerCut, LosesNothingThatWasAcknowledged) {
  const Series cuts =
      repeat(rounds(4, 200), 1'000, [&](std::uint64_t seed) { return cut(seed, {}); });
  EXPECT_EQ(cuts.unsound, 0) << cuts.said;
  EXPECT_GT(cuts.acknowledged, 0U);
  figure(fmt::format("{}: {} cuts, {} with loss or damage; {} acknowledgements", GetParam(),
                     cuts.rounds, cuts.unsound, cuts.acknowledged));
}

// The control: if this test could not see loss, the one above would prove nothing.
TEST_P(PowerCut, WithoutFlushingIsSeenToLoseData) {
  const Series cuts =
      repeat(rounds(4, 100), 5'000, [&](std::uint64_t seed) { return cut(seed, {"--no-flush"}); });
  EXPECT_GE(cuts.with_acknowledgements * 10, cuts.rounds * 8);
  EXPECT_GE(cuts.noticed * 100, cuts.with_acknowledgements * 95);
  figure(fmt::format("{}: loss noticed in {} of {} cuts", GetParam(), cuts.noticed,
                     cuts.with_acknowledgements));
}

INSTANTIATE_TEST_SUITE_P(Backends, PowerCut, testing::Values("jsonl", "sqlite"),
                         [](const auto& backend) { return backend.param; });

}  // namespace
}  // namespace skein::crash
