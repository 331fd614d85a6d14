// File systems of a test's own: made, filled, cut from power, and gone when the test ends.
//
// Everything is mounted in a mount namespace of the test process alone, so that nothing is left
// behind even if the process is killed: the kernel takes the mounts away with the last process in
// it, and the loop device with the mount.
#pragma once

#include <string>

#include "skein/error.h"
#include "support/temp_dir.h"

namespace skein::crash {

// Enters the namespace, once. An error says why mounts are not permitted here.
Result<void> allow_mounts();

// A folder of a test's own, whose paths are text, as commands take them.
class TempFolder {
 public:
  const std::string& path() const { return path_; }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }

 private:
  const test::TempDir folder_;
  const std::string path_ = folder_.path().string();
};

// ext4 in a file, mounted through a loop device.
class Disk {
 public:
  static Result<void> format(const std::string& image, std::size_t megabytes,
                             std::size_t block_bytes);

  Disk(std::string image, std::string folder)
      : image_(std::move(image)), folder_(std::move(folder)) {}
  ~Disk();
  Disk(const Disk&) = delete;
  Disk& operator=(const Disk&) = delete;

  Result<void> mount();
  // From here on nothing reaches the disk: what was not flushed is lost, and every write fails.
  Result<void> cut_power();
  Result<void> unmount();
  const std::string& folder() const { return folder_; }

 private:
  std::string image_;
  std::string folder_;
  bool mounted_ = false;
};

// A file system in memory with little room, unmounted at the end.
class SmallMemoryDisk {
 public:
  static Result<void> mount(const std::string& folder, std::size_t kilobytes);
  static void unmount(const std::string& folder);
};

}  // namespace skein::crash
