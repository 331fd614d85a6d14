#include "crash/harness/disk.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/types.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "core/try.h"
#include "crash/harness/process.h"

namespace skein::crash {
namespace {

// FS_IOC_GOINGDOWN of ext4 and XFS, with its flag for "do not even write the journal".
constexpr unsigned long kGoingDown = _IOR('X', 125, __u32);
constexpr __u32 kWithoutLogFlush = 2;

Error system_error(const std::string& what) {
  return {ErrorCode::kIo, fmt::format("{}: {}", what, std::strerror(errno))};
}

Result<void> run_tool(std::vector<std::string> command) {
  const TempFolder folder;
  const std::string said = folder / "said";
  const std::string name = command.front();
  const Exit exit = run({.command = std::move(command),
                         .environment = {{"PATH", "/usr/sbin:/usr/bin:/sbin:/bin"}},
                         .stdout_path = said,
                         .stderr_path = said});
  if (exit.clean()) return {};
  return fail(ErrorCode::kIo, fmt::format("{}: {}: {}", name, exit.str(), read_file(said)));
}

}  // namespace

Result<void> allow_mounts() {
  static const Result<void> entered = []() -> Result<void> {
    if (::unshare(CLONE_NEWNS) != 0) return tl::unexpected(system_error("unshare"));
    if (::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0)
      return tl::unexpected(system_error("mount"));
    return {};
  }();
  return entered;
}

Result<void> Disk::format(const std::string& image, std::size_t megabytes,
                          std::size_t block_bytes) {
  {
    const std::ofstream create(image);
  }
  if (::truncate(image.c_str(), static_cast<off_t>(megabytes << 20)) != 0)
    return tl::unexpected(system_error(image));
  return run_tool({"mkfs.ext4", "-q", "-F", "-b", std::to_string(block_bytes), "-m", "0", "-J",
                   "size=4", image});
}

Disk::~Disk() {
  if (mounted_) (void)unmount();
}

Result<void> Disk::mount() {
  std::filesystem::create_directories(folder_);
  SKEIN_TRY(run_tool({"mount", "-o", "loop", image_, folder_}));
  mounted_ = true;
  return {};
}

Result<void> Disk::cut_power() {
  const int fd = ::open(folder_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return tl::unexpected(system_error(folder_));
  __u32 how = kWithoutLogFlush;
  const int result = ::ioctl(fd, kGoingDown, &how);
  const Error error = system_error("FS_IOC_GOINGDOWN");
  ::close(fd);
  if (result != 0) return tl::unexpected(error);
  return {};
}

Result<void> Disk::unmount() {
  // Somebody who just died may not have let go of it yet.
  const bool done = wait_until([&] { return ::umount2(folder_.c_str(), 0) == 0 || errno != EBUSY; },
                               std::chrono::seconds(5));
  if (!done) ::umount2(folder_.c_str(), MNT_DETACH);
  mounted_ = false;
  if (!done) return fail(ErrorCode::kIo, "the disk is still in use: " + folder_);
  return {};
}

Result<void> SmallMemoryDisk::mount(const std::string& folder, std::size_t kilobytes) {
  std::filesystem::create_directories(folder);
  const std::string options = fmt::format("size={}k", kilobytes);
  if (::mount("skein-test", folder.c_str(), "tmpfs", 0, options.c_str()) != 0)
    return tl::unexpected(system_error("mount tmpfs"));
  return {};
}

void SmallMemoryDisk::unmount(const std::string& folder) { ::umount2(folder.c_str(), MNT_DETACH); }

}  // namespace skein::crash
