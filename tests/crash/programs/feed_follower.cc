// Follows the change feed of a store, and can be killed at any time.
//
//   feed_follower URL FILE    appends a line "CURSOR THREAD SEQ" to FILE for each event that was
//                             appended, "CURSOR - 0" for other changes; continues after the last
//                             whole line of FILE

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <string>

#include "core/file.h"
#include "crash/harness/process.h"
#include "skein/store.h"

namespace {

using namespace skein;
using namespace skein::crash;

// Drops half a line at the end, and returns the cursor of the last whole one.
std::string continue_after(int file, const std::string& path) {
  const std::string text = read_file(path);
  const std::size_t end = text.rfind('\n');
  const std::size_t size = end == std::string::npos ? 0 : end + 1;
  if (::ftruncate(file, static_cast<off_t>(size)) != 0) std::perror("feed_follower");
  if (size == 0) return "";
  const std::size_t begin = end == 0 ? std::string::npos : text.rfind('\n', end - 1);
  const std::string line = text.substr(begin == std::string::npos ? 0 : begin + 1);
  return line.substr(0, line.find(' '));
}

bool put(int file, const std::string& lines) {
  std::size_t done = 0;
  while (done < lines.size()) {
    const ssize_t size = ::write(file, lines.data() + done, lines.size() - done);
    if (size <= 0) return false;
    done += static_cast<std::size_t>(size);
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const Fd file(::open(argv[2], O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
  std::string cursor = continue_after(file.get(), argv[2]);
  // The server may be down at the start as well.
  Result<std::unique_ptr<Store>> store = open_store(argv[1]);
  while (!store && store.error().code == ErrorCode::kIo) {
    pause_for(std::chrono::milliseconds(20));
    store = open_store(argv[1]);
  }
  if (!store) {
    std::fprintf(stderr, "%s\n", store.error().message.c_str());
    return 1;
  }
  for (;;) {
    const auto batch = (*store)->changes(cursor, 100, std::chrono::milliseconds(100));
    if (!batch && batch.error().code != ErrorCode::kIo) {
      std::fprintf(stderr, "%s\n", batch.error().message.c_str());
      return 1;
    }
    if (!batch) continue;
    std::string lines;
    for (const Change& change : batch->changes) {
      if (change.kind == ChangeKind::kAppended)
        lines += fmt::format("{} {} {}\n", change.cursor, change.thread.str(), change.seq);
      else
        lines += fmt::format("{} - 0\n", change.cursor);
    }
    if (!put(file.get(), lines)) return 1;
    cursor = batch->cursor;
  }
}
