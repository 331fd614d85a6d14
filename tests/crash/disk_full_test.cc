// A disk without room: reads go on, writes fail cleanly, and both work when room returns.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <tuple>

#include "crash/harness/disk.h"
#include "crash/harness/figures.h"
#include "crash/harness/process.h"

namespace skein::crash {
namespace {

constexpr std::size_t kMemoryKilobytes = 4096;
constexpr std::size_t kDiskMegabytes = 12;

// The backend, and the kind of disk: "tmpfs", or "ext4" with blocks of 1 KB, smaller than the pages
// that are mapped from it.
class DiskFull : public testing::TestWithParam<std::tuple<std::string, std::string>> {
 protected:
  void SetUp() override {
    if (const auto allowed = allow_mounts(); !allowed) {
      GTEST_SKIP() << "NOT TESTED: a full disk needs mounts, which are not permitted here ("
                   << allowed.error().message << "). Run as root.";
    }
  }

  std::string fill(int leave_kilobytes, bool full_at_open) {
    const TempFolder folder;
    const std::string where = folder / "disk";
    Disk disk(folder / "image", where);
    const bool memory = std::get<1>(GetParam()) == "tmpfs";
    if (memory) {
      EXPECT_TRUE(SmallMemoryDisk::mount(where, kMemoryKilobytes));
    } else {
      EXPECT_TRUE(Disk::format(folder / "image", kDiskMegabytes, 1024));
      EXPECT_TRUE(disk.mount());
    }
    Spawn spawn{.command = {program("full_disk"), store_url(std::get<0>(GetParam()), where),
                            folder / "journal", where + "/ballast",
                            std::to_string(leave_kilobytes)}};
    if (full_at_open) spawn.command.emplace_back("--full-at-open");
    spawn.stdout_path = spawn.stderr_path = folder / "said";
    const Exit exit = run(spawn);
    if (memory) SmallMemoryDisk::unmount(where);
    const std::string said = read_file(folder / "said");
    EXPECT_TRUE(exit.clean()) << leave_kilobytes << " KB left: " << exit.str() << "\n" << said;
    return said;
  }

  static std::string name() {
    return fmt::format("{} on {}", std::get<0>(GetParam()), std::get<1>(GetParam()));
  }
};

TEST_P(DiskFull, ReadsWorkWritesFailCleanlyAndRoomHeals) {
  const int step = rounds(37, 2);
  int fills = 0;
  for (int leave = 0; leave <= 120; leave += step, ++fills) fill(leave, false);
  figure(fmt::format("{}: {} fills", name(), fills));
}

TEST_P(DiskFull, OpeningAStoreThereEndsCleanly) {
  const int step = rounds(24, 1);
  int fills = 0;
  int refused = 0;
  for (int leave = 0; leave <= 48; leave += step, ++fills) {
    if (fill(leave, true).find("cannot be opened while full") != std::string::npos) ++refused;
  }
  figure(fmt::format("{}: opened on a full disk {} times, {} refused cleanly", name(), fills,
                     refused));
}

INSTANTIATE_TEST_SUITE_P(Backends, DiskFull,
                         testing::Combine(testing::Values("jsonl", "sqlite"),
                                          testing::Values("tmpfs", "ext4")),
                         [](const auto& param) {
                           return std::get<0>(param.param) + "_on_" + std::get<1>(param.param);
                         });

}  // namespace
}  // namespace skein::crash
